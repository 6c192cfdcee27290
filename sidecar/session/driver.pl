# Keeps a Perl: evaluates the calls of a session in package main, one after another. See package session. This is where their code
# is evaluated: no lexical variable is in sight, and no argument.
sub Sidecar::evaluate { @_ = (); eval $Sidecar::code; $Sidecar::error = $@ }

package Sidecar;
use strict;
use POSIX ();

our ($code, $error);
my ($pid, $busy, $word) = ($$, 0, '');
my $place     = '/run/sidecar/calls/';
my $interrupt = bless [], 'Sidecar::Interrupt';

sub opened {
    open(my $file, $_[0], $_[1]) or die "$_[1]: $!\n";
    return $file;
}
my $requests = opened('<', $place . 'requests');
my $answers  = opened('>', $place . 'answers');
my %late     = (1 => opened('>&', \*STDOUT), 2 => opened('>&', \*STDERR)); # what is printed while no call goes on

sub answer { syswrite($answers, "\n$word $_[0]\n") } # on a line of its own, whatever stands there

# The first block of its kind is executed last.
END { answer('exit ' . ($? & 255)) if $busy && $$ == $pid }

# The handles stay, with their layers and what they are set to.
sub redirect { POSIX::dup2(fileno($_[1]), $_[0]) }

# What was read of it before, and not used, is forgotten: only closing does that.
sub reads {
    close(STDIN);
    open(STDIN, '<', $_[0]) or die "$_[0]: $!\n";
    redirect(0, \*STDIN) if fileno(STDIN) != 0;
}

sub flush {
    my $selected = select;
    for my $handle (\*STDOUT, \*STDERR) {
        select($handle);
        my $was = $|;
        $| = 1;
        $| = $was;
    }
    select($selected);
}

sub contents {
    local ($/, $.);
    return scalar readline(opened('<', $_[0]));
}

sub next_line {
    local ($/, $.) = ("\n");
    return scalar readline($requests);
}

sub serve {
    my ($n, $pipes, $input, $count, @fields) = @_;
    my ($dir, @rest) = map { pack('H*', substr($_, 1)) } @fields;
    my $path = $place . $n . '.pl';
    redirect(1, opened('>', $place . $pipes . '.out'));
    redirect(2, opened('>', $place . $pipes . '.err'));
    reads($input eq 'in' ? $place . $n . '.in' : '/dev/null');
    answer('begun');
    @ARGV = splice(@rest, 0, $count);
    while (my ($name, $value) = splice(@rest, 0, 2)) { $ENV{$name} = $value }
    if ($dir ne '') { chdir($dir) or warn "$dir: $!\n" }
    $0    = $path;
    $code = "#line 1 \"$path\"\n" . contents($path);
    ($!, $?, $error) = (0, 0, '');
    my $status = 0;
    my ($begun, $ended) = (0, 0);
    eval {
        # next, last and redo of the code would be about our loop: this one is theirs.
        {
            last if $begun++;
            $busy = 1;
            evaluate();
            $status = $! + 0 || $? >> 8 || 255; # as of a program that dies: perldoc -f die
            $ended  = 1;
        }
        $busy = 0;
        1;
    } or ($error, $ended) = ($@, 1); # a signal that came when it had just ended
    $busy = 0;
    ($error, $status) = ("Can't \"next\", \"last\" or \"redo\" outside a loop block\n", 255) unless $ended;
    my $stopped = ref $error eq 'Sidecar::Interrupt';
    $status = 0 if $error eq '';
    {
        local ($,, $\);
        print STDERR $error unless $stopped;
    }
    flush();
    exit($status) if $$ != $pid; # a fork that came back here
    redirect($_, $late{$_}) for 1, 2;
    reads('/dev/null') if $input eq 'in';
    answer($stopped ? 'interrupted 130' : 'done ' . ($status & 255));
}

$SIG{INT} = sub { die $interrupt if $busy };
reads('/dev/null');
syswrite($answers, "ready\n");
while (defined(my $line = next_line())) {
    $line =~ s/\n\z//;
    (my $n, $word, my @fields) = split(/ /, $line);
    serve($n, @fields);
}

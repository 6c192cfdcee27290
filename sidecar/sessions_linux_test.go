package sidecar_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
)

// kept is an engine and a workspace whose sessions a test uses.
type kept struct {
	t    testing.TB
	e    *sidecar.Engine
	root string
}

func newKept(t testing.TB, change func(*config.Settings)) *kept {
	t.Helper()
	sidecar.RequireBubblewrap(t)
	program, err := sidecar.ShimForTests()
	if err != nil {
		t.Fatal(err)
	}
	settings := config.Defaults()
	if change != nil {
		change(&settings)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	e := sidecar.New(sidecar.Options{Settings: &settings, StateDir: t.TempDir(), Shim: program})
	t.Cleanup(e.Close)
	return &kept{t, e, root}
}

func (k *kept) call(language, name, code string) protocol.RunResult {
	k.t.Helper()
	return k.do(k.t.Context(), protocol.RunParams{Language: language, SessionName: name, Code: code})
}

func (k *kept) do(ctx context.Context, p protocol.RunParams) protocol.RunResult {
	k.t.Helper()
	r, err := k.e.Run(ctx, k.root, "test", p, nil)
	if err != nil {
		k.t.Fatalf("%s: %v", p.Code, err)
	}
	return r
}

// step is a call and what is to come of it.
type step struct {
	code   string
	stdout string
	// stderr is all of it; a text that begins with … is somewhere in it.
	stderr string
	status int
}

func TestSessions(t *testing.T) {
	k := newKept(t, nil)
	for _, c := range []struct {
		name, language string
		steps          []step
	}{
		{"state stays", "python", []step{{code: "import math\nx = 20"}, {code: "def f(): return math.floor(x * 2.1)"}, {"print(f())", "42\n", "", 0}}},
		{"state stays", "node", []step{{code: "const path = require('path'); let x = 20"}, {code: "function f() { return x + 22 }\nclass C {}"}, {"console.log(f(), typeof path.join)", "42 function\n", "", 0}, {"let x = 1; class C { a = x }\nconsole.log(new C().a)", "1\n", "", 0}}},
		{"state stays", "bash", []step{{code: "x=20; declare -A m=([a]=1); cd /tmp"}, {code: "f() { echo $((x + 22)); }"}, {"f; echo ${m[a]} $PWD", "42\n1 /tmp\n", "", 0}}},
		{"state stays", "perl", []step{{code: "use List::Util 'sum'; our $x = 20; $y = 22; my $gone = 1; chdir '/tmp'; $/ = undef"}, {code: "sub f { return sum($x, $y) }"}, {"use Cwd; print f(), defined $gone ? ' here' : ' gone', ' ', getcwd(), \"\\n\"", "42 gone /tmp\n", "", 0}}},
		{"state stays", "ruby", []step{{code: "require 'set'; x = 20; $y = 22; nil"}, {code: "def f(a) = a + $y\nclass C; attr_accessor :a; end\nnil"}, {"puts f(x); C.new.a", "42\n", "", 0}, {"x += 1; class C; def b = 7; end; puts C.new.b + x", "28\n", "", 0}}},
		{"last value", "ruby", []step{{"40 + 2", "42\n", "", 0}, {"'a'; [1, :b]", "[1, :b]\n", "", 0}, {"nil", "", "", 0}, {"puts 1", "1\n", "", 0}}},
		{"last value", "python", []step{{"40 + 2", "42\n", "", 0}, {"x = _\nx\n", "42\n", "", 0}, {"None", "", "", 0}, {"'a'; 'b'", "'b'\n", "", 0}, {"async def f(): return 7\nawait f()", "7\n", "", 0}, {"if True: 5", "", "", 0}}},
		{"last value", "node", []step{{"40 + 2", "42\n", "", 0}, {"({a: [1]})", "{ a: [ 1 ] }\n", "", 0}, {"let q = 3", "", "", 0}, {"await Promise.resolve('x')", "'x'\n", "", 0}, {"10n", "10n\n", "", 0}, {"-0", "-0\n", "", 0}, {"null", "null\n", "", 0}}},
		{"errors", "python", []step{{"x = 1\ndef f():\n    return 1 / 0\nf()", "", "Traceback (most recent call last):\n  File \"/run/sidecar/calls/1.py\", line 4, in <module>\n    f()\n  File \"/run/sidecar/calls/1.py\", line 3, in f\n    return 1 / 0\n           ~~^~~\nZeroDivisionError: division by zero\n", 1},
			{"x = = 1", "", "  File \"/run/sidecar/calls/2.py\", line 1\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n", 1}, {"print(x)", "1\n", "", 0}}},
		{"errors", "node", []step{{"let x = 1;\nfunction f() { throw new Error('no') }\nf()", "", "/run/sidecar/calls/1.js:2\nfunction f() { throw new Error('no') }\n                     ^\n\nError: no\n    at f (/run/sidecar/calls/1.js:2:22)\n    at /run/sidecar/calls/1.js:3:1\n", 1},
			{"x = ;", "", "…SyntaxError: Unexpected token ';'", 1}, {"Promise.reject(new TypeError('later')); await new Promise(() => {})", "", "…TypeError: later", 1}, {"setTimeout(() => { throw new Error('timer') }); await new Promise(() => {})", "", "…Error: timer", 1}, {"throw 5", "", "…Uncaught 5", 1}, {"x", "1\n", "", 0}}},
		{"errors", "bash", []step{{"x=1\nnothing-there", "", "/run/sidecar/calls/1.sh: line 2: nothing-there: command not found\n", 127}, {"echo $x; false", "1\n", "", 1}, {"set -e; f() { false; echo not; }; f; echo not", "", "", 1},
			{"echo $x; set +e; false; echo went on", "1\nwent on\n", "", 0}, {"break; echo not", "", "", 0}, {"return 3", "", "", 3}, {"set -e; (false; echo not); echo not", "", "", 1}, {"if true; then", "", "…syntax error", 2}, {"set +e; echo $x", "1\n", "", 0}}},
		{"errors", "perl", []step{{"$x = 1;\nsub f { die 'no' }\nf()", "", "no at /run/sidecar/calls/1.pl line 2.\n", 255}, {"my $x = ;", "", "…syntax error at /run/sidecar/calls/2.pl line 1", 255}, {"use strict; $z = 1", "", "…Global symbol \"$z\"", 255}, {"$! = 3; die \"a\\n\"", "", "a\n", 3}, {"die { a => 1 }", "", "…HASH", 255}, {"next; print 'not'", "", "…outside a loop block", 255}, {"last", "", "…outside a loop block", 255}, {"redo", "", "…outside a loop block", 255}, {"warn 'w'; return; print 'not'", "", "w at /run/sidecar/calls/9.pl line 1.\n", 0}, {"print $x", "1", "", 0}}},
		{"errors", "ruby", []step{{"x = 1\ndef f = raise('no')\nf", "", "…no (RuntimeError)\n\tfrom /run/sidecar/calls/1.rb:3:in", 1}, {"1 +", "", "…/run/sidecar/calls/2.rb:1: syntax error", 1}, {"nothing", "", "…undefined local variable or method", 1}, {"throw :x", "", "…uncaught throw :x", 1}, {"warn 'w'; x", "1\n", "w\n", 0}}},
		{"streams", "perl", []step{{"print 'a'; print STDERR 'b'; system 'echo c; echo d >&2'; binmode STDOUT, ':utf8'; print chr(0x263a)", "ac\n\u263a", "bd\n", 0}, {"$, = '-'; $\\ = '!'; die \"a\\n\"", "", "a\n", 255}, {"$, = $\\ = undef; print <STDIN>, chr(0x263a), eof(STDIN) ? 'end' : ''; $| = 1", "\u263aend", "", 0}}},
		{"streams", "ruby", []step{{"print 'a'; $stderr.print 'b'; system 'echo c; echo d >&2'; STDOUT.write 'e'; $stdout << 'f'; p 1; nil", "ac\nef1\n", "bd\n", 0}, {"STDIN.read", "\"\"\n", "", 0}, {"$stdout.sync = true; printf('%d', 5); putc 'x'; pp [1]; nil", "5x[1]\n", "", 0}}},
		{"streams", "python", []step{{"import sys, os, subprocess\nprint('a'); print('b', file=sys.stderr); sys.stdout.flush(); subprocess.run(['echo', 'c']); os.write(2, b'd')\nNone", "a\nc\n", "b\nd", 0}, {"sys.stdin.read()", "''\n", "", 0}}},
		{"streams", "node", []step{{"console.log('a'); console.error('b'); require('child_process').spawnSync('sh', ['-c', 'echo c; echo d >&2'], {stdio: 'inherit'}); undefined", "a\nc\n", "b\nd\n", 0}, {"require('fs').readFileSync(0, 'utf8')", "''\n", "", 0}}},
		{"streams", "bash", []step{{"echo a; echo b >/dev/stderr; echo c >&2; cat; (exec 3>&1; echo d >&3)", "a\nd\n", "b\nc\n", 0}}},
		{"what a fresh process has", "perl", []step{{"print __PACKAGE__, \" $0 \", __FILE__, ' ', __LINE__, ' ', scalar(@ARGV), scalar(@_), ' ', -t STDIN ? 't' : 'f', \"\\n\"", "main /run/sidecar/calls/1.pl /run/sidecar/calls/1.pl 1 00 f\n", "", 0},
			{"if (fork) { wait; print \"parent $?\\n\" } else { print \"child\\n\" }", "child\nparent 0\n", "", 0}, {"print \"a\\n\";\n__END__\nprint 'not'", "a\n", "", 0}}},
		{"what a fresh process has", "ruby", []step{{"p self, __FILE__ == $0, $PROGRAM_NAME, ARGV, __LINE__, __method__, local_variables, $stdout.equal?(STDOUT), STDOUT.fileno, STDIN.tty?", "main\ntrue\n\"/run/sidecar/calls/1.rb\"\n[]\n1\nnil\n[]\ntrue\n1\nfalse\n[main, true, \"/run/sidecar/calls/1.rb\", [], 1, nil, [], true, 1, false]\n", "", 0},
			{"if fork then Process.wait; puts 'parent' else puts 'child' end", "child\nparent\n", "", 0}, {"puts 'a'\n__END__\nnot", "a\n", "", 0}}},
		{"what a fresh process has", "python", []step{{"import __main__, sys\nclass C: pass\nprint(__name__, C.__module__, __main__.C is C, sorted(k for k in globals() if not k.startswith('__')), sys.argv, __file__)", "__main__ __main__ True ['C', 'sys'] ['/run/sidecar/calls/1.py'] /run/sidecar/calls/1.py\n", "", 0},
			{"import os\nif os.fork() == 0:\n    print('child')\nelse:\n    os.wait()\n    print('parent')", "child\nparent\n", "", 0}, {"import pickle\npickle.loads(pickle.dumps(C())).__class__ is C", "True\n", "", 0}}},
	} {
		t.Run(c.language+"/"+c.name, func(t *testing.T) {
			at := &kept{t, k.e, k.root}
			for i, s := range c.steps {
				r := at.call(c.language, t.Name(), s.code)
				got := step{s.code, r.Stdout.Text, r.Stderr.Text, r.ExitCode}
				if part, ok := strings.CutPrefix(s.stderr, "…"); ok && strings.Contains(got.stderr, part) {
					got.stderr = s.stderr
				}
				if d := cmp.Diff(s, got, cmp.AllowUnexported(step{})); d != "" {
					t.Errorf("call %d: %s\n%v", i+1, d, r.Notes)
				}
				if r.Session == nil || r.Session.Call != i+1 || r.Session.Ended != "" || r.Session.Lost != "" {
					t.Fatalf("call %d: %+v %v", i+1, r.Session, r.Notes)
				}
			}
			if _, err := k.e.CloseSession(t.Name(), ""); err != nil {
				t.Error(err)
			}
		})
	}
}

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Each ending of a session gives the terminal back as it was, says what a program of the shell itself would, and leaves
// no process.
func TestEndingsOfASession(t *testing.T) {
	t.Parallel()
	for name, ending := range map[string]struct {
		// trap is what the program does first, script what it does with the terminal raw; do happens when that is on the screen.
		trap   string
		script string
		do     func(*seat)
		status string
		says   string
	}{
		"its own end":           {script: "exit 7", status: "7"},
		"a signal of its own":   {script: "kill -KILL $$", status: "137"},
		"a crash":               {script: "kill -SEGV $$", status: "139"},
		"terminated, obeys":     {script: "exec sleep $odd", do: (*seat).terminate, status: "143"},
		"terminated, has a say": {trap: `trap "echo bye; exit 3" TERM`, script: "while :; do sleep 0.05; done", do: (*seat).terminate, status: "3", says: "bye"},
		"terminated, refuses":   {trap: `trap "" TERM`, script: "while :; do sleep $odd; done", do: (*seat).terminate, status: "130", says: "cancelled"},
		"hung up":               {script: "exec sleep $odd", do: func(s *seat) { s.signal(unix.SIGHUP) }, status: "129"},
		"interrupted":           {script: "exec sleep $odd", do: func(s *seat) { s.signal(unix.SIGINT) }, status: "130"},
		"the sidecar is killed": {script: "exec sleep $odd", do: (*seat).killSidecar, status: "75", says: "ended while the run went on"},
		"the sidecar is stopped": {script: "exec sleep $odd", status: "130", do: func(s *seat) {
			s.host(s.t, "sidecar", "stop")
		}, says: "cancelled"},
		"cancelled elsewhere": {script: "exec sleep $odd", status: "130", do: func(s *seat) {
			id := regexp.MustCompile(`session +([0-9a-f-]+)`).FindStringSubmatch(s.host(s.t, "sidecar", "status"))
			s.host(s.t, "sidecar", "cancel", id[1])
		}, says: "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSeat(t)
			before := s.modes()
			s.types("sidecar exec --env odd=" + s.odd + " -- bash -c '" + cmp.Or(ending.trap, ":") + `; stty raw -echo; printf "rea""dy\r\n"; ` + ending.script + "'")
			s.await("ready")
			if ending.do != nil {
				ending.do(s)
			}
			if ending.says != "" {
				s.await(ending.says)
			}
			if got := s.status(); got != ending.status {
				t.Errorf("exit status %s, want %s", got, ending.status)
			}
			if after := s.modes(); after != before {
				t.Errorf("the terminal's modes were %s, and are %s", before, after)
			}
			eventually(t, "no process is left", func() bool { return len(alive(s.odd)) == 0 })
		})
	}
}

// seat is a person at a terminal, and an odd number by which the processes of a test are known.
type seat struct {
	*desk
	*person
	odd string
}

// seats counts them.
var seats atomic.Int64

func newSeat(t *testing.T) *seat {
	t.Helper()
	d := newDesk(t)
	return &seat{d, d.sits(t, 24, 80), strconv.FormatInt(987600000+seats.Add(1), 10)}
}

// client is the process of sidecar exec.
func (s *seat) client() int {
	var found []int
	eventually(s.t, "one sidecar exec", func() bool { found = alive("exec\x00--env\x00odd=" + s.odd); return len(found) == 1 })
	return found[0]
}

func (s *seat) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := unix.Kill(s.client(), sig); err != nil {
		s.t.Fatal(err)
	}
}

func (s *seat) terminate() { s.signal(unix.SIGTERM) }

// sidecar is the process of the project's sidecar.
func (s *seat) sidecar() int {
	s.t.Helper()
	found := alive("serve\x00--workspace\x00" + s.project + "\x00")
	if len(found) != 1 {
		s.t.Fatalf("sidecars of this project: %v", found)
	}
	return found[0]
}

func (s *seat) killSidecar() {
	if err := unix.Kill(s.sidecar(), unix.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
}

// When sidecar exec itself is killed, the terminal stays as it is, and the program ends.
func TestKilledClient(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	s.types("sidecar exec --env odd=" + s.odd + ` -- bash -c 'trap "" HUP TERM; echo rea""dy; sleep $odd; sleep $odd'`)
	s.await("ready")
	s.signal(unix.SIGKILL)
	if got := s.status(); got != "137" {
		t.Errorf("exit status %s", got)
	}
	eventually(t, "no process is left", func() bool { return len(alive(s.odd)) == 0 })
}

// A sidecar that hangs keeps nobody from ending the session.
func TestHungSidecar(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	s.types("sidecar exec --env odd=" + s.odd + ` --no-terminal -- bash -c 'echo rea""dy; exec sleep $odd'`)
	s.await("ready")
	hung := s.sidecar()
	_ = unix.Kill(hung, unix.SIGSTOP)
	defer func() { _ = unix.Kill(hung, unix.SIGCONT) }()
	s.press("\x03") // nobody takes it
	s.terminate()
	if got := s.status(); got != "130" {
		t.Errorf("exit status %s", got)
	}
}

// keys says which it gets, and stops at a z.
const keys = `#!/bin/bash
stty raw -echo
modes=$(stty -g)
printf 'ready\r\n'
while read -r -n 1 x; do
  case $x in z) kill -STOP 0 ;; q) exit 5 ;; esac
  [ "$(stty -g)" = "$modes" ] && printf 'key <%s> in the same modes\r\n' "$x"
done
`

// Ctrl-Z gives the shell its turn, fg the program; each finds its own modes.
func TestStoppedAndContinued(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*seat){
		"by itself": func(s *seat) { s.press("z") },
		"from outside": func(s *seat) {
			s.signal(unix.SIGSTOP)
		},
		"from outside, politely": func(s *seat) {
			s.signal(unix.SIGTSTP)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSeat(t)
			before := s.modes()
			s.write(t, "keys", keys)
			s.types("sidecar exec --env odd=" + s.odd + " -- ./keys")
			s.await("ready")
			s.press("a")
			s.await("key <a>")
			for range 3 {
				stop(s)
				s.await("Stopped")
				s.await(prompt)
				if now := s.modes(); now != before {
					t.Errorf("while it is stopped the terminal's modes are %s, were %s", now, before)
				}
				s.types("jobs")
				s.await("Stopped")
				s.await(prompt)
				s.types("fg")
				eventually(t, "raw again", func() bool { return s.isRaw() })
				s.press("b")
				s.await("key <b> in the same modes\r\n")
			}
			s.press("q")
			if got := s.status(); got != "5" {
				t.Errorf("exit status %s", got)
			}
			if after := s.modes(); after != before {
				t.Errorf("the terminal's modes were %s, and are %s", before, after)
			}
		})
	}
}

// isRaw says whether the person's terminal hands keys on as they are.
func (p *person) isRaw() bool {
	raw := false
	if conn, err := p.side.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) {
			if modes, err := unix.IoctlGetTermios(int(fd), unix.TCGETS); err == nil {
				raw = modes.Lflag&(unix.ICANON|unix.ISIG) == 0
			}
		})
	}
	return raw
}

// In the background a session has no terminal, stops nobody, and its output comes.
func TestInTheBackground(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	before := s.modes()
	s.types(`sidecar exec --env odd=` + s.odd + ` -- bash -c 'tty; read x; echo "read <$x>"; echo be""hind' &`)
	s.await("not a tty\r\nread <>\r\nbehind")
	s.types("wait %1; echo status=$?")
	s.await("status=0")
	s.await(prompt)
	if after := s.modes(); after != before {
		t.Errorf("the terminal's modes were %s, and are %s", before, after)
	}
}

// Where one side is no terminal the program has pipes, both ways.
func TestPipes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.sits(t, 24, 80)
	p.types(`echo in | sidecar exec -- bash -c '[ -t 0 ] || [ -t 1 ] || echo pipes; cat; echo err >&2; exit 4' | tr a-z A-Z; echo ${PIPESTATUS[1]}`)
	p.match(`(?s)(PIPES\r\nIN\r\nerr|err\r\nPIPES\r\nIN|PIPES\r\nerr\r\nIN)\r\n4\r\n`)
	p.await(prompt)
	p.types(`sidecar exec -- bash -c 'echo rea""dy >&2; read x; echo "got $x"; cat' >out`)
	p.await("ready")
	p.press("typed\r")
	eventually(t, "what is typed comes", func() bool {
		b, _ := os.ReadFile(filepath.Join(d.project, "out"))
		return string(b) == "got typed\n"
	})
	p.press("\x03")
	if got := p.status(); got != "130" {
		t.Errorf("exit status %s", got)
	}
	p.types(`sidecar exec -- yes | head -n 1; echo over""now`)
	p.await("y\r\n")
	p.await("overnow")
	p.await(prompt)
	p.types(`sidecar exec --no-terminal -- bash -c 'tty; cat'`)
	p.await("not a tty\r\n")
	p.press("line\r")
	p.await("line\r\nline\r\n")
	p.press("\x04")
	if got := p.status(); got != "0" {
		t.Errorf("exit status %s", got)
	}
}

// Without TERM the program has a plain one.
func TestNoTerm(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.sits(t, 24, 80)
	p.types(`env -u TERM sidecar exec -- bash -c 'echo "<$TERM>"; tput colors'`)
	p.await("<xterm>\r\n8\r\n")
	p.await(prompt)
}

// Two sessions at once: each has its own terminal, and ends by itself.
func TestTwoSessions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var people [2]*person
	for i := range people {
		people[i] = d.sits(t, 24, 80+i)
		people[i].types(fmt.Sprintf(`sidecar exec -- bash -c 'stty size; tty; cat; exit %d'`, i+1))
		people[i].await(fmt.Sprintf("24 8%d\r\n/dev/pts/0\r\n", i))
	}
	for i, p := range people {
		p.press(fmt.Sprintf("only %d\r", i))
		p.await(fmt.Sprintf("only %d\r\nonly %d\r\n", i, i))
	}
	for i, p := range people {
		p.press("\x04")
		if got := p.status(); got != strconv.Itoa(i+1) {
			t.Errorf("exit status %s", got)
		}
	}
}

// pushes types a command into a terminal (TIOCSTI, ioctl_tty(2)), its own and, by each way there is, the person's.
const pushes = `import fcntl, glob, os, sys
paths = ["/dev/tty", sys.argv[2]]
if os.environ.get("SIDECAR"): # outside only its own terminal is tried
    paths += ["/dev/console", "/proc/self/fd/0", "/dev/ptmx"] + glob.glob("/dev/pts/*")
    for pid in glob.glob("/proc/[0-9]*"):
        paths += glob.glob(pid + "/fd/*") + glob.glob(pid + "/root/dev/pts/*")
for path in paths:
    try:
        fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
        if not os.isatty(fd): continue
        is_it = "%d:%d" % (os.fstat(fd).st_dev, os.fstat(fd).st_ino) == sys.argv[1]
        if is_it: os.write(fd, b"REACHED")
        for c in "touch pushed\n": fcntl.ioctl(fd, 0x5412, c.encode())
    except OSError as e: pass
for fd in range(256):
    try:
        for c in "touch pushed\n": fcntl.ioctl(fd, 0x5412, c.encode())
    except OSError: pass
`

// The person's terminal is out of reach for what runs inside: nothing is typed into it, and nothing written but by the
// session itself.
func TestTheTerminalOfThePersonIsOutOfReach(t *testing.T) {
	t.Parallel()
	need(t, "/usr/bin/python3")
	d := newDesk(t)
	p := d.sits(t, 24, 80)
	d.write(t, "pushes.py", pushes)
	pushed := filepath.Join(d.project, "pushed")
	var it unix.Stat_t
	if err := unix.Stat(p.line, &it); err != nil {
		t.Fatal(err)
	}
	program := fmt.Sprintf("/usr/bin/python3 pushes.py %d:%d %s; echo tri\"\"ed", it.Dev, it.Ino, p.line)
	p.types(program) // the control
	p.await("REACHED")
	p.await("tried")
	p.await(prompt)
	p.types("echo both \"are\" done")
	p.await("both are done")
	p.await(prompt)
	if legacy, err := os.ReadFile("/proc/sys/dev/tty/legacy_tiocsti"); err != nil || string(legacy) == "1\n" {
		if _, err := os.Stat(pushed); err != nil {
			t.Error("the control: nothing was typed into the terminal outside of a sandbox either")
		}
	}
	reached := p.count("REACHED")
	p.types("rm -f pushed; sidecar exec -- " + program)
	p.await("tried")
	p.await(prompt)
	p.types("echo after\"\"wards")
	p.await("afterwards")
	if _, err := os.Stat(pushed); err == nil {
		t.Error("a command was typed into the person's shell")
	}
	if n := p.count("REACHED") - reached; n != 0 {
		t.Errorf("the person's terminal was written to %d times from inside", n)
	}
}

// count is how often a text was on the screen.
func (p *person) count(text string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Count(p.text, []byte(text))
}

// While the environment is made the terminal is the person's: Ctrl-C ends it, and what is typed waits for the program.
func TestInterruptedBuild(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	before := s.modes()
	nix := s.write(t, "../nix", "#!/bin/sh\ncase \"$*\" in *--version*) echo 'nix (Nix) 2.30.0' ;; *) exec sleep "+s.odd+" ;; esac\n")
	s.write(t, "../config.yaml", "nix:\n  program: "+nix+"\n  nixpkgs: github:NixOS/nixpkgs/0000000000000000000000000000000000000000\n")
	s.types("sidecar --config ../config.yaml exec --env odd=" + s.odd + " -p ripgrep -- true")
	eventually(t, "nix is at work", func() bool { return len(alive("sleep\x00"+s.odd)) > 0 })
	if now := s.isRaw(); now {
		t.Error("the terminal is the program's before there is one")
	}
	s.press("\x03")
	if got := s.status(); got != "130" {
		t.Errorf("exit status %s", got)
	}
	if after := s.modes(); after != before {
		t.Errorf("the terminal's modes were %s, and are %s", before, after)
	}
	eventually(t, "nix is gone", func() bool { return len(alive("sleep\x00"+s.odd)) == 0 })
}

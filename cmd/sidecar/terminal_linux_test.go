package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"
)

// starts has the shell run a command in a session and waits until that is there.
func (p *person) starts(script string) {
	p.t.Helper()
	p.types("sidecar exec -- bash -c 'echo be\"\"gins; " + script + "'")
	p.await("begins\r\n")
}

// Every key is the program's own, and every byte it prints the terminal's.
func TestKeysAndOutputAreTheProgramsOwn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.sits(t, 24, 80)
	before := p.modes()
	var keys []byte
	for b := range 256 {
		keys = append(keys, byte(b))
	}
	p.starts(`stty raw -echo; printf rea""dy; head -c 256 | od -An -v -tx1 -w256`)
	p.await("ready")
	p.press(string(keys))
	p.await(strings.TrimSpace(strings.Join(strings.Split(fmt.Sprintf("% x", keys), " "), " ")))
	if got := p.status(); got != "0" {
		t.Errorf("exit status %s", got)
	}
	p.starts(`stty -opost; printf "\303"; sleep 0.2; printf "\251\x01\xff\x80|"`)
	p.await("\u00e9\x01\xff\x80|")
	p.await(prompt)
	if after := p.modes(); after != before {
		t.Errorf("the terminal's modes were %s, and are %s", before, after)
	}
}

func TestPaste(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.sits(t, 24, 80)
	paste := bytes.Repeat([]byte("pasted \u00fc \x03\x1a\n"), 8<<10)[:100<<10]
	p.starts(`stty raw -echo; printf rea""dy; head -c 102400 | sha256sum`)
	p.await("ready")
	p.press(string(paste))
	p.await(fmt.Sprintf("%x", sha256.Sum256(paste)))
	p.await(prompt)
}

func TestMuchOutput(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.sits(t, 24, 80)
	const size = 50 << 20
	p.starts(`head -c 52428800 /dev/zero | tr "\0" x; echo; echo the""end`)
	p.await("theend")
	p.mu.Lock()
	got := bytes.Count(p.text, []byte("x"))
	p.mu.Unlock()
	if want := size; got < want || got > want+100 { // the command line has some
		t.Errorf("%d bytes came, want %d", got, want)
	}
	p.await(prompt)
}

// Who reads fast or slowly: Ctrl-C is heard, also in the middle of a flood.
func TestControlCInAFlood(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.sits(t, 24, 80)
	before := p.modes()
	p.starts("yes flood")
	for range 1000 {
		p.match("flood\r\n(.)")
	}
	at := time.Now()
	p.press("\x03")
	p.await(prompt)
	if took := time.Since(at); took > 15*time.Second {
		t.Errorf("the prompt came after %v", took)
	}
	p.types(`echo "status=$?"`)
	p.await("status=130")
	p.await(prompt)
	if after := p.modes(); after != before {
		t.Errorf("the terminal's modes were %s, and are %s", before, after)
	}
}

// A resize is the program's, also one that comes while it starts.
func TestSize(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.sits(t, 31, 97)
	p.starts(`trap "told=told" WINCH; while [ "$x" != q ]; do now=$(stty size); [ "$now" = "$was" ] || echo "$now $told"; was=$now; read -t 0.05 -n 1 x; done`)
	p.await("31 97")
	p.resize(44, 132)
	p.await("44 132 told")
	p.resize(0, 0) // a terminal that has forgotten its size
	p.resize(45, 133)
	p.await("45 133")
	p.press("q")
	p.await(prompt)
	for i := range 15 { // somewhere between the question for the size and the program's start
		p.resize(20, 60)
		p.press(`sidecar exec -- bash -c 'while [ "$(stty size)" != "50 120" ]; do sleep 0.02; done; echo right size'` + "\r")
		time.Sleep(time.Duration(i) * 5 * time.Millisecond)
		p.resize(50, 120)
		p.await("\rright size")
		p.await(prompt)
	}
	none := d.sits(t, 0, 0)
	none.starts(`stty size`)
	none.await("24 80")
	none.await(prompt)
}

// An interactive shell: readline's keys, history, completion, job control, the end of the input.
func TestAShellInside(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(t, "a-long-file-name", "found it\n")
	p := d.sits(t, 24, 80)
	before := p.modes()
	p.types("sidecar exec --env PS1='inside> ' -- bash --norc --noprofile -i")
	p.await("inside> ")
	for _, line := range [][2]string{
		{"ecko one\x01\x1b[C\x1b[C\x04h\x1b[C\x1b[D\x05 two\r", "one two"}, // to the begin, right, delete, to the end
		{"\x1b[A\x17three\r", "one three"},                                 // the command before, without its last word
		{"\x12two\r", "one two"},                                           // search in the history
		{"cat a-lo\t\r", "found it"},
		{"tty; tput colors; echo $TERM; stty -a | grep -o '[-]*icanon'\r", "/dev/pts/0\r\n256\r\nxterm-256color\r\nicanon"},
	} {
		p.press(line[0])
		p.await("\r" + line[1] + "\r\n")
		p.await("inside> ")
	}
	p.press(`sh -c 'echo rea""dy; exec cat'` + "\r")
	p.await("ready\r\n")
	p.press("first\r")
	p.await("first\r\nfirst\r\n")
	p.press("\x1a")
	p.await("Stopped")
	p.await("inside> ")
	p.press("jobs\r")
	p.await("Stopped")
	p.await("inside> ")
	p.press("fg\r")
	p.match(`fg\r\n[^\n]*(exec cat)'\r\n`)
	p.press("second\r")
	p.await("second\r\nsecond\r\n")
	p.press("\x04") // cat's end, not the shell's
	p.await("inside> ")
	for key, status := range map[string]string{"\x03": "130", "\x1c": "131"} {
		p.press(`sh -c 'echo slee""ping; exec sleep 1000'` + "\r")
		p.await("sleeping\r\n")
		p.press(key)
		p.await("inside> ")
		p.press("echo status $?\r")
		p.await("\rstatus " + status)
		p.await("inside> ")
	}
	p.press("(exit 9)\r")
	p.await("inside> ")
	p.press("\x04")
	if got := p.status(); got != "9" {
		t.Errorf("exit status %s, want that of the shell's last command, 9", got)
	}
	if after := p.modes(); after != before {
		t.Errorf("the terminal's modes were %s, and are %s", before, after)
	}
}

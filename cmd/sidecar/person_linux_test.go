package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// soon is how long a test waits for what has to happen.
const soon = 30 * time.Second

// prompt is that of the person's own shell.
const prompt = "person$ "

// desk is a project, and a home with nothing of this machine in it.
type desk struct {
	bin, home, project string
	env                []string
}

// newDesk builds the command and makes a project. The sidecar that a test starts is ended with it.
func newDesk(t *testing.T) *desk {
	t.Helper()
	requireSandbox(t)
	dir := t.TempDir()
	d := &desk{bin: buildBinary(t), home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	for _, folder := range []string{d.home, d.project, filepath.Join(dir, "run")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.env = []string{"HOME=" + d.home, "PATH=" + filepath.Dir(d.bin) + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "TERM=xterm-256color", "LANG=C.UTF-8",
		"XDG_STATE_HOME=" + filepath.Join(d.home, "state"), "XDG_CONFIG_HOME=" + filepath.Join(d.home, "config"), "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"),
		"GIT_CONFIG_NOSYSTEM=1", "PS1=" + prompt, "INPUTRC=/dev/null", "HISTFILE=", "BASH_SILENCE_DEPRECATION_WARNING=1"}
	d.host(t, "git", "init", "-q", ".")
	t.Cleanup(func() { _ = d.command("sidecar", "stop").Run() })
	return d
}

// command is a program of the person's, in the project.
func (d *desk) command(name string, args ...string) *exec.Cmd {
	if name == "sidecar" {
		name = d.bin
	}
	c := exec.Command(name, args...)
	c.Dir, c.Env = d.project, d.env
	return c
}

// host runs a program outside and gives what it prints.
func (d *desk) host(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := d.command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// write makes a file of the project.
func (d *desk) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(d.project, name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // some are programs
		t.Fatal(err)
	}
	return path
}

// person sits before a terminal, in which a shell runs.
type person struct {
	t     *testing.T
	side  *os.File
	line  string
	shell *exec.Cmd

	mu   sync.Mutex
	text []byte
	seen int
	grew chan struct{}
	over chan struct{}
}

// sits opens a terminal of a size and starts the person's shell in it.
func (d *desk) sits(t *testing.T, rows, columns int) *person {
	t.Helper()
	side, line := openTerminal(t)
	p := &person{t: t, side: side, line: line.Name(), grew: make(chan struct{}, 1), over: make(chan struct{})}
	p.resize(rows, columns)
	p.shell = d.command("bash", "--norc", "--noprofile", "-i")
	p.shell.Stdin, p.shell.Stdout, p.shell.Stderr = line, line, line
	p.shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.shell.Start(); err != nil {
		t.Fatal(err)
	}
	_ = line.Close()
	go p.look()
	t.Cleanup(p.leaves)
	p.await(prompt)
	return p
}

// openTerminal is both sides of a terminal (ptmx(4)).
func openTerminal(t *testing.T) (side, line *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("/dev/pts/%d", number)
	line, err = os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "/dev/ptmx"), line
}

// look takes in what the terminal shows.
func (p *person) look() {
	defer close(p.over)
	b := make([]byte, 64<<10)
	for {
		n, err := p.side.Read(b)
		p.mu.Lock()
		p.text = append(p.text, b[:n]...)
		p.mu.Unlock()
		select {
		case p.grew <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// leaves hangs up.
func (p *person) leaves() {
	_ = p.shell.Process.Kill()
	_ = p.side.Close()
	<-p.over
	_ = p.shell.Wait()
}

func (p *person) resize(rows, columns int) {
	p.t.Helper()
	conn, err := p.side.SyscallConn()
	if err == nil {
		_ = conn.Control(func(fd uintptr) {
			err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)})
		})
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// press types keys.
func (p *person) press(keys string) {
	p.t.Helper()
	if _, err := p.side.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// await waits until a text has appeared behind all that was awaited before.
func (p *person) await(text string) {
	p.t.Helper()
	looked := 0 // of a flood each part is looked at once
	p.until(fmt.Sprintf("%q", text), func(unseen []byte) int {
		if at := bytes.Index(unseen[looked:], []byte(text)); at >= 0 {
			return looked + at + len(text)
		}
		looked = max(0, len(unseen)-len(text))
		return -1
	})
}

// match waits for what an expression describes, and gives the text of its group.
func (p *person) match(expression string) (group string) {
	p.t.Helper()
	re := regexp.MustCompile(expression)
	p.until(expression, func(unseen []byte) int {
		at := re.FindSubmatchIndex(unseen)
		if at == nil {
			return -1
		}
		group = string(unseen[at[2]:at[3]])
		return at[1]
	})
	return group
}

// until waits until something is found in what was not seen yet; find gives its end, or -1.
func (p *person) until(what string, find func(unseen []byte) int) {
	p.t.Helper()
	deadline := time.After(soon)
	for !p.finds(find) {
		select {
		case <-p.grew:
		case <-deadline:
			p.t.Fatalf("%s never appeared; the terminal shows:\n%q", what, p.shown())
		}
	}
}

func (p *person) finds(find func(unseen []byte) int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	end := find(p.text[p.seen:])
	p.seen += max(0, end)
	return end >= 0
}

// shown is the end of what has appeared.
func (p *person) shown() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.text[max(0, len(p.text)-4000):])
}

// types gives the shell a command; it does not wait.
func (p *person) types(command string) {
	p.t.Helper()
	p.press(command + "\r")
	p.await("\n")
}

// status waits for the shell's prompt and gives the last command's exit status.
func (p *person) status() string {
	p.t.Helper()
	p.await(prompt)
	p.types(`echo "status=$?"`)
	status := p.match(`status=(\d+)\r\n`)
	p.await(prompt)
	return status
}

// modes are those of the terminal as programs of the shell have it.
func (p *person) modes() string {
	p.t.Helper()
	p.types("stty -g")
	modes := p.match(`([0-9a-f:]{20,})\r\n`)
	p.await(prompt)
	return modes
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(soon)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// alive are processes whose command line holds a word.
func alive(word string) []int {
	var found []int
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		text, err := os.ReadFile(file)
		var pid int
		if _, scanned := fmt.Sscanf(file, "/proc/%d/", &pid); err == nil && scanned == nil && pid != os.Getpid() && strings.Contains(string(text), word) {
			found = append(found, pid)
		}
	}
	return found
}

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/linked"
)

// far is another machine: a sshd of its own on loopback, for the test's own user, and a home.
type far struct {
	name, home string
	address    *net.TCPAddr
	// stop ends its sidecars, and takes no further connection.
	stop func()

	mu   sync.Mutex
	sshd []*exec.Cmd
}

// network are machines, and a person's ssh that knows them: as the file ssh, for a PATH.
type network struct {
	dir, bin string
}

// newNetwork has keys and an ssh with a configuration of its own. The machine's sshd and ~/.ssh stay out of it.
func newNetwork(t testing.TB, dir, sidecar string) *network {
	t.Helper()
	sshdProgram(t)
	n := &network{dir: dir, bin: filepath.Join(dir, "bin")}
	if err := os.MkdirAll(n.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"key", "hostkey", "otherkey"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		t.Fatal(err)
	}
	n.write(t, "bin/ssh", "#!/bin/sh\nexec "+ssh+" -F "+linked.ShellQuote(filepath.Join(dir, "config"))+` "$@"`+"\n")
	if err := os.Symlink(sidecar, filepath.Join(n.bin, "sidecar")); err != nil {
		t.Fatal(err)
	}
	n.write(t, "config", "Host closed\n Port 1\nHost stranger-*\n IdentityFile "+dir+"/otherkey\nHost * !stranger-*\n IdentityFile "+dir+"/key\nHost *\n HostName 127.0.0.1\n IdentitiesOnly yes\n IdentityAgent none\n"+
		" UserKnownHostsFile "+dir+"/known\n GlobalKnownHostsFile /dev/null\n StrictHostKeyChecking yes\n PasswordAuthentication no\n KbdInteractiveAuthentication no\n")
	return n
}

func (n *network) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(n.dir, name), []byte(text), 0o700); err != nil { //nolint:gosec // some are programs
		t.Fatal(err)
	}
}

// machine starts one, with PATH as given.
func (n *network) machine(t testing.TB, name, path string) *far {
	t.Helper()
	m := &far{name: name, home: filepath.Join(n.dir, name)}
	run := filepath.Join(m.home, "run")
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	m.address = listener.Addr().(*net.TCPAddr)
	n.write(t, name+".sshd", strings.Join([]string{"HostKey " + n.dir + "/hostkey", "AuthorizedKeysFile " + n.dir + "/key.pub", "StrictModes no", "UsePAM no", "PermitRootLogin yes", "PasswordAuthentication no",
		"KbdInteractiveAuthentication no", "PidFile none", "PrintMotd no", fmt.Sprintf("SetEnv HOME=%s PATH=%s XDG_STATE_HOME=%s/state XDG_CONFIG_HOME=%s/config XDG_RUNTIME_DIR=%s GIT_CONFIG_NOSYSTEM=1", m.home, path, m.home, m.home, run)}, "\n")+"\n")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(n.dir, "config"))
	if err != nil {
		t.Fatal(err)
	}
	n.write(t, "config", fmt.Sprintf("Host %s stranger-to-%[1]s\n Port %d\n User %s\n", name, m.address.Port, me.Username)+string(config))
	key, err := os.ReadFile(filepath.Join(n.dir, "hostkey.pub"))
	if err != nil {
		t.Fatal(err)
	}
	known, _ := os.ReadFile(filepath.Join(n.dir, "known"))
	n.write(t, "known", fmt.Sprintf("%s[127.0.0.1]:%d %s", known, m.address.Port, key))
	go m.listen(listener, sshdProgram(t), filepath.Join(n.dir, name+".sshd"))
	m.stop = func() {
		_ = listener.Close()
		stop := exec.Command(filepath.Join(n.bin, "sidecar"), "stop", "--all")
		stop.Env = []string{"HOME=" + m.home, "PATH=/usr/bin:/bin", "XDG_STATE_HOME=" + m.home + "/state", "XDG_CONFIG_HOME=" + m.home + "/config", "XDG_RUNTIME_DIR=" + run}
		_ = stop.Run()
	}
	return m
}

// listen has a sshd serve each connection, as inetd(8) would.
func (m *far) listen(on *net.TCPListener, program, config string) {
	for {
		conn, err := on.AcceptTCP()
		if err != nil {
			return
		}
		f, err := conn.File()
		_ = conn.Close()
		if err != nil {
			return
		}
		sshd := exec.Command(program, "-i", "-f", config)
		sshd.Stdin, sshd.Stdout = f, f
		if sshd.Start() == nil {
			m.mu.Lock()
			m.sshd = append(m.sshd, sshd)
			m.mu.Unlock()
			go func() { _ = sshd.Wait() }()
		}
		_ = f.Close()
	}
}

// drop kills every sshd that serves a connection.
func (m *far) drop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, sshd := range m.sshd {
		_ = sshd.Process.Kill()
	}
}

// sshdProgram is where sshd is; without it a test is skipped, in CI it fails.
func sshdProgram(t testing.TB) string {
	t.Helper()
	for _, path := range []string{"/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd"} {
		if _, err := os.Stat(path); err == nil {
			if os.Geteuid() == 0 {
				_ = os.MkdirAll("/run/sshd", 0o755) // root's is confined to it, where its package has made none yet (sshd(8))
			}
			return path
		}
	}
	need(t, "sshd")
	return ""
}

// TestHosts runs testdata/hosts: commands on other machines. In each script one and two are machines, closed is one that does
// not answer, stranger-to-one is one for a key that it does not know, bare one without sidecar, old one whose sidecar knows
// no --host, and loud one whose shell prints something first.
func TestHosts(t *testing.T) {
	requireSandbox(t)
	bin := buildBinary(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/hosts",
		Setup: func(e *testscript.Env) error {
			t := e.T().(testing.TB)
			n := newNetwork(t, filepath.Join(e.WorkDir, "net"), bin)
			path := n.bin + ":/usr/local/bin:/usr/bin:/bin"
			for _, name := range []string{"one", "two", "loud"} {
				e.Defer(n.machine(t, name, path).stop)
			}
			n.machine(t, "bare", "/usr/bin:/bin")
			n.machine(t, "old", n.dir+"/oldbin:/usr/bin:/bin")
			if err := os.Mkdir(filepath.Join(n.dir, "oldbin"), 0o700); err != nil {
				return err
			}
			n.write(t, "oldbin/sidecar", "#!/bin/sh\necho \"sidecar: unknown command \\\"$1\\\" for \\\"sidecar\\\"\" >&2\nexit 64\n")
			n.write(t, "loud/.bashrc", "echo Welcome to this machine\nprintf 'no end of line'\n")
			e.Setenv("NET", n.dir)
			e.Setenv("BIN", filepath.Dir(bin))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("PATH", path)
			return os.MkdirAll(filepath.Join(e.WorkDir, "home"), 0o755)
		},
	})
}

// abroad is a desk whose person works on another machine, in a project of the same path from the home folder.
type abroad struct {
	*desk
	*far
	there, odd string
}

func newAbroad(t *testing.T) *abroad {
	t.Helper()
	d := newDesk(t)
	n := newNetwork(t, filepath.Join(filepath.Dir(d.home), "net"), d.bin)
	m := n.machine(t, "one", n.bin+":/usr/local/bin:/usr/bin:/bin")
	t.Cleanup(m.stop)
	a := &abroad{desk: d, far: m, there: filepath.Join(m.home, "proj"), odd: strconv.FormatInt(987700000+seats.Add(1), 10)}
	d.project = filepath.Join(d.home, "proj")
	for _, dir := range []string{d.project, a.there} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for i, kv := range d.env {
		if strings.HasPrefix(kv, "PATH=") {
			d.env[i] = "PATH=" + n.bin + ":/usr/local/bin:/usr/bin:/bin"
		}
	}
	return a
}

// gone waits until nothing of a test's run is there: programs, ssh, sshd and what it started.
func (a *abroad) gone(t *testing.T) {
	t.Helper()
	eventually(t, "nothing of the run is left", func() bool { return len(alive(a.odd)) == 0 })
	eventually(t, "nothing of the connection is left", func() bool {
		return len(alive(filepath.Dir(a.far.home)+"/config\x00")) == 0 && len(alive(a.name+".sshd")) == 0
	})
}

// ssh is the process of ssh, as it is now.
func (a *abroad) ssh(t *testing.T) int {
	t.Helper()
	var found []int
	eventually(t, "one ssh", func() bool { found = alive(filepath.Dir(a.far.home) + "/config\x00"); return len(found) == 1 })
	return found[0]
}

// However a run's connection ends, the run does, too, and this side says what happened.
func TestEndingsOfARunOnAHost(t *testing.T) {
	t.Parallel()
	for name, ending := range map[string]struct {
		do     func(*testing.T, *abroad, *person)
		status string
		says   string
		// runs is what the host's list of runs says; "" is that it was cancelled.
		runs string
	}{
		"Ctrl-C":            {func(_ *testing.T, _ *abroad, p *person) { p.press("\x03") }, "130", "", "exit 130"},
		"terminated":        {func(t *testing.T, a *abroad, _ *person) { kill(t, a.client(t), unix.SIGTERM) }, "143", "", "exit 143"},
		"ssh is killed":     {func(t *testing.T, a *abroad, _ *person) { kill(t, a.ssh(t), unix.SIGKILL) }, "75", "the connection to one was lost", "exit 129"},
		"sshd is killed":    {func(_ *testing.T, a *abroad, _ *person) { a.drop() }, "75", "the connection to one was lost", "exit 129"},
		"sidecar is killed": {func(t *testing.T, a *abroad, _ *person) { kill(t, a.client(t), unix.SIGKILL) }, "137", "", "exit 129"},
		"cancelled there": {func(t *testing.T, a *abroad, _ *person) {
			a.host(t, "sidecar", "--host", "one", "cancel", strings.Fields(a.host(t, "sidecar", "--host", "one", "runs", "--live"))[0])
		}, "130", "sidecar: cancelled", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAbroad(t)
			p := a.sits(t, 24, 200)
			p.types("sidecar --host one run --env odd=" + a.odd + " -- sh -c 'echo be\"\"gins; sleep " + a.odd + "'")
			p.await("begins\r\n")
			ending.do(t, a, p)
			if ending.says != "" {
				p.await(ending.says)
			}
			if got := p.status(); got != ending.status {
				t.Errorf("exit status %s, want %s", got, ending.status)
			}
			a.gone(t)
			if runs := a.host(t, "sidecar", "--host", "one", "runs"); !strings.Contains(runs, cmp.Or(ending.runs, "cancelled")+" after") {
				t.Errorf("the host's runs: %s", runs)
			}
		})
	}
}

// client is the sidecar of this side that has the run.
func (a *abroad) client(t *testing.T) int {
	t.Helper()
	var found []int
	eventually(t, "one client", func() bool { found = alive("--host\x00one\x00run\x00--env\x00odd=" + a.odd); return len(found) == 1 })
	return found[0]
}

func kill(t *testing.T, pid int, sig unix.Signal) {
	t.Helper()
	if err := unix.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

// A session on another machine has a terminal with this one's keys, size and end.
func TestATerminalOnAHost(t *testing.T) {
	t.Parallel()
	a := newAbroad(t)
	p := a.sits(t, 31, 97)
	before := p.modes()
	p.types("sidecar --host one exec --env PS1='inside> ' -- bash --norc --noprofile -i")
	p.await("inside> ")
	p.press("tty; stty size; echo $TERM\r")
	p.await("/dev/pts/")
	p.await("31 97\r\nxterm-256color")
	p.await("inside> ")
	p.resize(44, 132)
	p.press("until [ \"$(stty size)\" = '44 132' ]; do :; done; echo re\"\"sized\r")
	p.await("resized")
	p.await("inside> ")
	p.press("echo sl\"\"eeps; sleep 600\r")
	p.await("sleeps")
	p.press("\x03")
	p.await("inside> ")
	p.press("exit 255\r")
	if got := p.status(); got != "255" { // which is also ssh's own
		t.Errorf("exit status %s, want 255", got)
	}
	if after := p.modes(); after != before {
		t.Errorf("the terminal's modes were %s, and are %s", before, after)
	}
	p.types("sidecar --host one exec -- bash -c 'stty raw; echo re\"\"ady; sleep " + a.odd + "'")
	p.await("ready")
	a.drop()
	p.await("the connection to one was lost")
	if got := p.status(); got != "75" {
		t.Errorf("exit status %s, want 75", got)
	}
	if after := p.modes(); after != before {
		t.Errorf("after a lost connection the terminal's modes were %s, and are %s", before, after)
	}
	a.gone(t)
}

// farEdge is an edge on another machine, and what a client here says to it.
type farEdge struct {
	*exec.Cmd
	t     *testing.T
	in    io.Writer
	out   *bufio.Reader
	words bytes.Buffer
	// framed says that messages have headers, as editors send them, and not a line each.
	framed bool
}

func (a *abroad) edge(t *testing.T, name string) *farEdge {
	t.Helper()
	e := &farEdge{Cmd: a.command("sidecar", "--host", "one", name), t: t, framed: name == "lsp"}
	e.Stderr = &e.words
	in, err := e.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.StdoutPipe()
	if err == nil {
		err = e.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	e.in, e.out = in, bufio.NewReader(out)
	return e
}

func (e *farEdge) send(message string) {
	if e.framed {
		message = fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(message), message)
	} else {
		message += "\n"
	}
	_, _ = io.WriteString(e.in, message)
}

// read is the next message.
func (e *farEdge) read() (string, error) {
	length := 0
	for {
		line, err := e.out.ReadString('\n')
		if err != nil || !e.framed {
			return line, err
		}
		if _, err := fmt.Sscanf(line, "Content-Length: %d", &length); err != nil {
			break
		}
	}
	b := make([]byte, length)
	_, err := io.ReadFull(e.out, b)
	return string(b), err
}

// answer is the one to a request.
func (e *farEdge) answer(id int) string {
	e.t.Helper()
	for {
		message, err := e.read()
		if err != nil {
			e.t.Fatalf("no answer %d: %v\n%s", id, err, e.words.String())
		}
		var m struct {
			ID     int
			Method string
		}
		if json.Unmarshal([]byte(message), &m) == nil && m.ID == id && m.Method == "" {
			return message
		}
	}
}

// A client has its code run on another machine, ends a run there, and is told when the connection is lost.
func TestEdgesOnAHost(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]struct{ hello, greeted, run, cancel, shows string }{
		"mcp": {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"bash","code":%q}}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`, `"workspaceSource":"--workspace"`},
		"lsp": {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":"file:///nowhere/here","capabilities":{},"initializationOptions":{"protocol":1}}}`,
			`{"jsonrpc":"2.0","method":"initialized","params":{}}`,
			`{"jsonrpc":"2.0","id":%d,"method":"sidecar/run","params":{"language":"bash","code":%q}}`,
			`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":3}}`, `"exitCode":0`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAbroad(t)
			a.write(t, "../../net/one/proj/only-there", "found")
			e := a.edge(t, name)
			e.send(say.hello)
			e.answer(1)
			e.send(say.greeted)
			e.send(fmt.Sprintf(say.run, 2, "cat only-there; pwd"))
			if got := e.answer(2); !strings.Contains(got, "found") || !strings.Contains(got, a.there) || !strings.Contains(got, say.shows) {
				t.Errorf("it ran elsewhere: %s", got)
			}
			sleeps := func() bool { return len(alive("sleep\x00"+a.odd)) > 0 }
			e.send(fmt.Sprintf(say.run, 3, "sleep "+a.odd))
			eventually(t, "the run sleeps", sleeps)
			e.send(say.cancel)
			eventually(t, "the run is ended", func() bool { return !sleeps() })
			e.send(fmt.Sprintf(say.run, 4, "sleep "+a.odd))
			eventually(t, "the run sleeps", sleeps)
			kill(t, a.ssh(t), unix.SIGKILL)
			for err := error(nil); err == nil; {
				if _, err = e.read(); err != nil && err != io.EOF {
					t.Errorf("after a lost connection: %v", err)
				}
			}
			_ = e.Wait()
			if got := e.ProcessState.ExitCode(); got != 75 || !strings.Contains(e.words.String(), "the connection to one was lost") {
				t.Errorf("exit status %d, and it said %q", got, e.words.String())
			}
			a.gone(t)
		})
	}
}

// What a program reads stays on the way until it does: input that nobody takes holds back neither a signal nor the end.
func TestMuchInputOnAHost(t *testing.T) {
	t.Parallel()
	a := newAbroad(t)
	file := a.write(t, "big", strings.Repeat("0123456789abcde\n", 1<<19)) // 8 MiB
	if got := a.host(t, "sh", "-c", "sidecar --host one run -- sha256sum <"+file); !strings.HasPrefix(got, strings.Fields(a.host(t, "sha256sum", file))[0]) {
		t.Errorf("it came as %s", got)
	}
	if out, err := a.command("sh", "-c", "yes | sidecar --host one run -- true").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v %s", err, out)
	}
	p := a.sits(t, 24, 80)
	p.types("sidecar --host one run -- sh -c 'echo be\"\"gins; sleep " + a.odd + "' <" + file)
	p.await("begins")
	p.press("\x03")
	if got := p.status(); got != "130" {
		t.Errorf("exit status %s, want 130", got)
	}
	a.gone(t)
}

// Every command says whether --host is for it.
func TestEveryCommandKnowsHosts(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	root := command(new(flags), terminal{})
	for _, c := range root.Commands() {
		all := c.Commands()
		if c.Runnable() {
			all = append(all, c)
		}
		for _, c := range all {
			name := strings.TrimPrefix(c.CommandPath(), "sidecar ")
			if known[name] = true; onHosts[name] == (onHost{}) && !map[string]bool{"status": true, "show": true, "output": true, "cancel": true, "trust list": true, "gc": true, "doctor": true}[name] {
				t.Errorf("%s is not in onHosts", name)
			}
		}
	}
	for name := range onHosts {
		if !known[name] {
			t.Errorf("onHosts has %s, which is no command", name)
		}
	}
}

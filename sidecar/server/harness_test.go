package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
)

// program is the real binary: what these tests talk to is what people run.
var program string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sidecar-server")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "sidecar")
	build := exec.Command("go", "build", "-o", program, "code.sidecar.dev/cmd/sidecar")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building: %v\n%s", err, out)
		return 1
	}
	for name, value := range map[string]string{"HOME": dir, "XDG_STATE_HOME": filepath.Join(dir, "state"), "XDG_CONFIG_HOME": filepath.Join(dir, "config"), "SIDECAR_CONFIG": ""} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	xdg.Reload()
	return m.Run()
}

// requireSandbox skips where bubblewrap cannot run; in CI that is a failure.
func requireSandbox(t *testing.T) {
	t.Helper()
	out, err := exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true").CombinedOutput()
	switch {
	case err == nil:
	case os.Getenv("CI") != "":
		t.Fatalf("bubblewrap does not work here: %v: %s", err, out)
	default:
		t.Skipf("bubblewrap does not work here: %v: %s", err, out)
	}
}

// project is a repository of its own, with a name that has a space.
func project(t *testing.T) string {
	t.Helper()
	requireSandbox(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "a project")
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return dir
}

// serve starts the sidecar of a workspace as a child of the test.
func serve(t *testing.T, root string, flags ...string) *exec.Cmd {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(program, append([]string{"serve", "--workspace", root, "--ready-fd=3"}, flags...)...)
	cmd.ExtraFiles = []*os.File{w}
	cmd.Stderr = os.Stderr
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_, _ = cmd.Process.Wait()
	})
	var ready client.Ready
	if err := json.NewDecoder(r).Decode(&ready); err != nil || ready.Error != nil {
		t.Fatalf("the sidecar does not serve: %v, %v", err, ready.Error)
	}
	return cmd
}

// raw is a client of a few lines, which shares no code with ours: it writes what a test says, and keeps all it reads.
type raw struct {
	t    *testing.T
	conn net.Conn

	mu      sync.Mutex
	changed chan struct{}
	all     []message
	ended   bool
	next    int
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Kind protocol.ErrorKind `json:"kind"`
			Hint string             `json:"hint"`
		} `json:"data"`
	} `json:"error"`
}

// dial connects and reads, without a handshake.
func dial(t *testing.T, root string) *raw {
	t.Helper()
	c := deaf(t, root)
	go c.read()
	return c
}

// deaf connects and reads nothing.
func deaf(t *testing.T, root string) *raw {
	t.Helper()
	p, err := place.Of(root)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := p.Dial(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &raw{t: t, conn: conn, changed: make(chan struct{})}
}

// greeted is dial with the handshake.
func greeted(t *testing.T, root, options string) *raw {
	t.Helper()
	c := dial(t, root)
	c.greet(options)
	return c
}

func (c *raw) greet(options string) message {
	c.t.Helper()
	m := c.ask("initialize", `{"processId":null,"rootUri":null,"capabilities":{},"clientInfo":{"name":"raw"},"initializationOptions":`+options+`}`)
	if m.Error != nil {
		c.t.Fatalf("initialize: %+v", *m.Error)
	}
	c.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	return m
}

func (c *raw) read() {
	in := bufio.NewReader(c.conn)
	for {
		m, err := readMessage(in)
		c.mu.Lock()
		if err != nil {
			c.ended = true
		} else {
			c.all = append(c.all, m)
		}
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func readMessage(in *bufio.Reader) (m message, err error) {
	length := 0
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return m, err
		}
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			length, _ = strconv.Atoi(value)
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(in, body); err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

// write sends bytes as they are.
func (c *raw) write(text string) { _, _ = io.WriteString(c.conn, text) }

// send sends one message.
func (c *raw) send(body string) {
	c.write(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
}

// request sends a request and gives its id.
func (c *raw) request(method, params string) string {
	c.mu.Lock()
	c.next++
	id := strconv.Itoa(c.next)
	c.mu.Unlock()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return id
}

// ask sends a request and waits for its answer.
func (c *raw) ask(method, params string) message {
	c.t.Helper()
	return c.answer(c.request(method, params))
}

func (c *raw) answer(id string) message {
	c.t.Helper()
	return c.await("the answer to "+id, func(m message) bool { return m.Method == "" && string(m.ID) == id })
}

// event waits for a notification.
func (c *raw) event(method string, which func(json.RawMessage) bool) message {
	c.t.Helper()
	return c.await(method, func(m message) bool { return m.Method == method && which(m.Params) })
}

func (c *raw) await(what string, which func(message) bool) message {
	c.t.Helper()
	late := time.After(30 * time.Second)
	for seen := 0; ; {
		c.mu.Lock()
		for ; seen < len(c.all); seen++ {
			if m := c.all[seen]; which(m) {
				c.mu.Unlock()
				return m
			}
		}
		changed, ended := c.changed, c.ended
		c.mu.Unlock()
		if ended {
			c.t.Fatalf("the connection ended before %s", what)
		}
		select {
		case <-changed:
		case <-late:
			c.t.Fatalf("no %s", what)
		}
	}
}

// closed waits until the sidecar has closed the connection.
func (c *raw) closed() {
	c.t.Helper()
	until(c.t, "the end of the connection", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.ended
	})
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 3000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

func is(text string) func(json.RawMessage) bool {
	return func(params json.RawMessage) bool { return strings.Contains(string(params), text) }
}

func any_(json.RawMessage) bool { return true }

// bash is the parameters of a run of a script.
func bash(script, more string) string {
	b, _ := json.Marshal(script)
	return fmt.Sprintf(`{"language":"bash","code":%s%s}`, b, more)
}

func result[T any](t *testing.T, m message) T {
	t.Helper()
	var v T
	if m.Error != nil {
		t.Fatalf("error %d: %s", m.Error.Code, m.Error.Message)
	}
	if err := json.Unmarshal(m.Result, &v); err != nil {
		t.Fatalf("%s: %v", m.Result, err)
	}
	return v
}

// works makes sure that the sidecar serves a well-behaved client.
func works(t *testing.T, root string) {
	t.Helper()
	c := greeted(t, root, `{}`)
	defer c.conn.Close()
	r := result[protocol.RunResult](t, c.ask("sidecar/run", bash("echo works", "")))
	if r.ExitCode != 0 || r.Stdout.Text != "works\n" {
		t.Errorf("got %+v", r)
	}
}

func connect(t *testing.T, root string, o client.Options) *client.Client {
	t.Helper()
	o.Program = program
	c, err := client.Connect(t.Context(), root, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// lives says whether a process does; a zombie does not.
func lives(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z")
}

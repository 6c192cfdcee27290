package lsp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/lsp"
	"code.sidecar.dev/sidecar/protocol"
)

// program is the real binary.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if slices.Contains(os.Args, "-test.fuzzworker") { // which would build with no cache, and starts no program
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "sidecar-lsp")
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
	for name, value := range map[string]string{"HOME": dir, "XDG_STATE_HOME": filepath.Join(dir, "state"), "XDG_CONFIG_HOME": filepath.Join(dir, "config"), "SIDECAR_CONFIG": "", "SIDECAR_WORKSPACE": ""} {
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

// project is a repository of its own, whose name has a space and an umlaut; its sidecar ends with the test.
func project(t *testing.T) string {
	t.Helper()
	requireSandbox(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "ein Prüfling")
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command(program, "--workspace", dir, "stop").Run() })
	return dir
}

// modes are how the edge can be started.
var modes = map[string]func(t *testing.T, dir string) (io.Reader, io.WriteCloser){"a process": process, "in process": inProcess}

func process(t *testing.T, dir string) (io.Reader, io.WriteCloser) {
	t.Helper()
	cmd := exec.Command(program, "lsp")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		t.Fatal("sidecar lsp does not start")
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	return out, in
}

func inProcess(t *testing.T, dir string) (io.Reader, io.WriteCloser) {
	t.Helper()
	theirs, in := io.Pipe()
	out, ours := io.Pipe()
	over := make(chan error, 1)
	go func() {
		over <- lsp.Serve(t.Context(), theirs, ours, lsp.Options{Root: sidecar.Root, Open: sidecar.Open, Dir: dir, Home: os.Getenv("HOME"),
			Client:  client.Options{Program: program, Build: protocol.Build{Version: "v0.0.1"}, ConfigFile: config.ConfigFile()},
			Outputs: func() (string, error) { return filepath.Join(t.TempDir(), "output"), nil }})
	}()
	t.Cleanup(func() {
		in.Close()
		<-over
	})
	return out, in
}

// fake is an editor of a few lines, which shares no code with ours: it writes what a test says, and keeps all it reads.
type fake struct {
	t    *testing.T
	out  io.WriteCloser
	turn sync.Mutex

	mu      sync.Mutex
	changed chan struct{}
	all     []said
	ended   bool
	next    int
	// answer answers requests of the server; nil is null to all.
	answer func(said) any
}

type said struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    protocol.Error `json:"data"`
	} `json:"error"`
}

// start starts the edge and reads what it says.
func start(t *testing.T, mode, dir string) *fake {
	t.Helper()
	in, out := modes[mode](t, dir)
	f := &fake{t: t, out: out, changed: make(chan struct{})}
	go f.read(bufio.NewReader(in))
	return f
}

// greeted is start with the handshake, from an editor with these folders; more is spliced into initialize's parameters.
func greeted(t *testing.T, mode, more string, folders ...string) *fake {
	t.Helper()
	f := start(t, mode, folders[0])
	f.greet(more, folders...)
	return f
}

// plugin are the parameters of an editor with a plugin, and the default.
const plugin = `,"initializationOptions":{"protocol":1}`

func (f *fake) greet(more string, folders ...string) said {
	f.t.Helper()
	if more == "" {
		more = plugin
	}
	var list []map[string]string
	for _, dir := range folders {
		list = append(list, map[string]string{"uri": uri(dir), "name": filepath.Base(dir)})
	}
	m := f.ask("initialize", `{"processId":`+strconv.Itoa(os.Getpid())+`,"rootUri":null,"workspaceFolders":`+asJSON(list)+`,"clientInfo":{"name":"fake","version":"7"}`+more+`}`)
	if m.Error != nil {
		f.t.Fatalf("initialize: %+v", *m.Error)
	}
	f.tell("initialized", "{}")
	return m
}

// uri is a file's, with the characters escaped as VS Code does.
func uri(path string) string {
	return "file://" + strings.NewReplacer(" ", "%20", "ü", "%C3%BC").Replace(path)
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (f *fake) read(in *bufio.Reader) {
	for {
		m, err := readOne(in)
		f.mu.Lock()
		if err != nil {
			f.ended = true
		} else {
			f.all = append(f.all, m)
		}
		close(f.changed)
		f.changed = make(chan struct{})
		answer := f.answer
		f.mu.Unlock()
		if err != nil {
			return
		}
		if m.Method != "" && m.ID != nil {
			go f.reply(m, answer)
		}
	}
}

func (f *fake) reply(m said, answer func(said) any) {
	var result any
	if answer != nil {
		result = answer(m)
	}
	f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, asJSON(result)))
}

func readOne(in *bufio.Reader) (m said, err error) {
	length := 0
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return m, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			length, _ = strconv.Atoi(n)
		}
	}
	b := make([]byte, length)
	if _, err := io.ReadFull(in, b); err != nil {
		return m, err
	}
	return m, json.Unmarshal(b, &m)
}

func (f *fake) send(text string) {
	f.turn.Lock()
	defer f.turn.Unlock()
	_, _ = fmt.Fprintf(f.out, "Content-Length: %d\r\n\r\n%s", len(text), text)
}

func (f *fake) tell(method, params string) {
	f.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

// begin asks, and does not wait.
func (f *fake) begin(method, params string) (id string) {
	f.mu.Lock()
	f.next++
	id = strconv.Itoa(f.next)
	f.mu.Unlock()
	f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return id
}

func (f *fake) ask(method, params string) said {
	f.t.Helper()
	return f.answerTo(f.begin(method, params))
}

func (f *fake) answerTo(id string) said {
	f.t.Helper()
	return f.await("the answer to "+id, func(m said) bool { return string(m.ID) == id && m.Method == "" })
}

// await waits for a message.
func (f *fake) await(what string, is func(said) bool) said {
	f.t.Helper()
	for {
		f.mu.Lock()
		all, changed, ended := f.all, f.changed, f.ended
		f.mu.Unlock()
		for _, m := range all {
			if is(m) {
				return m
			}
		}
		if ended {
			f.t.Fatalf("the edge ended before %s", what)
		}
		select {
		case <-changed:
		case <-time.After(20 * time.Second):
			f.t.Fatalf("waited in vain for %s; the last are %s", what, asJSON(all[max(0, len(all)-20):]))
		}
	}
}

// said waits for a notification or request with this in its parameters.
func (f *fake) hears(method, part string) said {
	f.t.Helper()
	return f.await(method+" with "+part, func(m said) bool { return m.Method == method && strings.Contains(string(m.Params), part) })
}

// over waits for the end of what the edge says.
func (f *fake) over() {
	f.t.Helper()
	ctx, stop := context.WithTimeout(f.t.Context(), 20*time.Second)
	defer stop()
	for {
		f.mu.Lock()
		changed, ended := f.changed, f.ended
		f.mu.Unlock()
		if ended {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			f.t.Fatal("the edge does not end")
		}
	}
}

// read decodes.
func decoded[T any](t *testing.T, raw json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

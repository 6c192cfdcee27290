package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
)

// Whatever a client sends, it gets a clear error, and the sidecar serves the next one.
func TestBadInput(t *testing.T) {
	root := project(t)
	serve(t, root)
	tests := []struct {
		name string
		// send is written as it is; frame is put into a message.
		send, frame string
		// fresh leaves the handshake out.
		fresh bool
		want  string
		code  int
		// closes says that the sidecar gives the connection up.
		closes bool
	}{
		{name: "no JSON", frame: `{"jsonrpc":"2.0",`, want: "no JSON-RPC 2.0 message", code: -32700},
		{name: "no JSON-RPC", frame: `{"hello":"world"}`, want: "no JSON-RPC 2.0 message", code: -32600},
		{name: "a batch", frame: `[{"jsonrpc":"2.0","id":1,"method":"sidecar/status"}]`, want: "no JSON-RPC 2.0 message", code: -32600},
		{name: "an id that is none", frame: `{"jsonrpc":"2.0","id":1.5,"method":"sidecar/status"}`, want: "no JSON-RPC 2.0 message", code: -32600},
		{name: "another version", frame: `{"jsonrpc":"1.0","id":7,"method":"sidecar/status"}`, want: "no JSON-RPC 2.0 message", code: -32600},
		{name: "an empty message", frame: ``, want: "no JSON-RPC 2.0 message", code: -32700},
		{name: "binary", frame: "\x00\xff\xfe", want: "no JSON-RPC 2.0 message", code: -32700},
		{name: "a header of 2 GiB", send: "Content-Length: 2147483648\r\n\r\n", want: "the limit is", code: -32600, closes: true},
		{name: "a negative length", send: "Content-Length: -1\r\n\r\n", want: "is no length", code: -32600, closes: true},
		{name: "a length that is none", send: "Content-Length: many\r\n\r\n", want: "is no length", code: -32600, closes: true},
		{name: "no length", send: "Content-Type: text\r\n\r\n", want: "without Content-Length", code: -32600, closes: true},
		{name: "no header", send: "{\"jsonrpc\":\"2.0\"}\n", want: "is no header", code: -32600, closes: true},
		{name: "an endless header", send: strings.Repeat("X", 20_000), want: "a header of more than", code: -32600, closes: true},
		{name: "HTTP", send: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", want: "is no header", code: -32600, closes: true},
		{name: "a batch that is deep", frame: strings.Repeat("[", 200_000), want: "no JSON-RPC 2.0 message", code: -32700},
		{name: "deep parameters", frame: `{"jsonrpc":"2.0","id":7,"method":"sidecar/run","params":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_001), want: "the parameters of sidecar/run", code: -32602},
		{name: "no UTF-8", frame: "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sidecar/\xff\xfe\"}", want: "", code: -32601},
		{name: "an unknown method", frame: `{"jsonrpc":"2.0","id":7,"method":"sidecar/fly"}`, want: `unknown method "sidecar/fly"`, code: -32601},
		{name: "an unknown LSP method", frame: `{"jsonrpc":"2.0","id":7,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///x"},"position":{"line":0,"character":0}}}`, want: `unknown method "textDocument/hover"`, code: -32601},
		{name: "before initialize", frame: `{"jsonrpc":"2.0","id":7,"method":"sidecar/status"}`, fresh: true, want: "before initialize", code: -32002},
		{name: "shutdown before initialize", frame: `{"jsonrpc":"2.0","id":7,"method":"shutdown"}`, fresh: true, want: "before initialize", code: -32002},
		{name: "initialize twice", frame: `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"capabilities":{}}}`, want: "sent before", code: -32602},
		{name: "a newer protocol", frame: `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"capabilities":{},"initializationOptions":{"protocol":99}}}`, fresh: true, want: "the client wants 99", code: -32017},
		{name: "an older protocol", frame: `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"capabilities":{},"initializationOptions":{"protocol":-1}}}`, fresh: true, want: "update the client", code: -32017},
		{name: "options of another type", frame: `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"capabilities":{},"initializationOptions":{"output":3}}}`, fresh: true, want: "initializationOptions", code: -32602},
		{name: "an unknown level", frame: `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"capabilities":{},"initializationOptions":{"log":"loud"}}}`, fresh: true, want: `"loud"`, code: -32602},
		{name: "an unknown interest", frame: `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"capabilities":{},"initializationOptions":{"output":"some"}}}`, fresh: true, want: `"some"`, code: -32602},
		{name: "parameters of another type", frame: `{"jsonrpc":"2.0","id":7,"method":"sidecar/run","params":{"language":5}}`, want: "the parameters of sidecar/run", code: -32602},
		{name: "parameters that are a list", frame: `{"jsonrpc":"2.0","id":7,"method":"sidecar/run","params":[1]}`, want: "the parameters of sidecar/run", code: -32602},
		{name: "no parameters", frame: `{"jsonrpc":"2.0","id":7,"method":"sidecar/run"}`, want: "nothing to run", code: -32602},
		{name: "a timeout that is none", frame: `{"jsonrpc":"2.0","id":7,"method":"sidecar/run","params":{"language":"bash","code":"","timeoutMs":"soon"}}`, want: "milliseconds", code: -32602},
		{name: "an unknown language", frame: `{"jsonrpc":"2.0","id":7,"method":"sidecar/run","params":{"language":"pyton","code":"1"}}`, want: "python", code: -32602},
		{name: "an unknown run", frame: `{"jsonrpc":"2.0","id":7,"method":"sidecar/cancel","params":{"id":"../../etc/passwd"}}`, want: "no run", code: -32602},
		{name: "an unknown token", frame: `{"jsonrpc":"2.0","id":7,"method":"sidecar/cancel","params":{}}`, want: "no run of yours", code: -32602},
		{name: "an unknown stream", frame: `{"jsonrpc":"2.0","id":7,"method":"sidecar/runOutput","params":{"id":"x","stream":"stdin"}}`, want: "stdin", code: -32602},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := dial(t, root)
			if !test.fresh {
				c.greet(`{}`)
			}
			if test.send != "" {
				c.write(test.send)
			} else {
				c.send(test.frame)
			}
			m := c.await("an error", func(m message) bool { return m.Error != nil })
			if text := m.Error.Message + " " + m.Error.Data.Hint; m.Error.Code != test.code || !strings.Contains(text, test.want) {
				t.Errorf("error %d %q, want %d %q", m.Error.Code, text, test.code, test.want)
			}
			if test.closes {
				c.closed()
				return
			}
			if !test.fresh { // what is wrong with a message is no harm to the connection
				c.mu.Lock()
				c.all = nil
				c.mu.Unlock()
				result[protocol.StatusResult](t, c.ask("sidecar/status", `{}`))
			}
		})
	}
	works(t, root)
}

// Notifications that nobody knows, or that are wrong, are passed over.
func TestNotificationsDoNoHarm(t *testing.T) {
	root := project(t)
	serve(t, root)
	c := greeted(t, root, `{}`)
	for _, n := range []string{`"textDocument/didOpen","params":{"no":1}`, `"$/unknown"`, `"sidecar/unknown"`, `"$/cancelRequest","params":{"id":[]}`, `"$/cancelRequest"`, `"sidecar/cancel","params":{"id":"x"}`, `"workspace/didChangeConfiguration","params":null`} {
		c.send(`{"jsonrpc":"2.0","method":` + n + `}`)
	}
	result[protocol.StatusResult](t, c.ask("sidecar/status", `{}`))
}

// Half a message, and then silence or the end, costs nobody anything.
func TestHalfAMessage(t *testing.T) {
	root := project(t)
	serve(t, root)
	for _, half := range []string{"Content-Le", "Content-Length: 100\r\n", "Content-Length: 100\r\n\r\n", "Content-Length: 100\r\n\r\n{\"jsonrpc\""} {
		c := dial(t, root)
		c.write(half)
		works(t, root)
		c.conn.Close()
	}
	works(t, root)
}

// A client that never reads holds up neither the run of another, whose output it is to be sent, nor its own for good.
func TestAClientThatNeverReads(t *testing.T) {
	root := project(t)
	serve(t, root)
	d := deaf(t, root)
	d.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`)
	d.send(`{"jsonrpc":"2.0","id":2,"method":"sidecar/run","params":{"language":"bash","code":"yes | head -c 30000000","token":"mine"}}`)
	c := greeted(t, root, `{}`)
	until(t, "its run", func() bool {
		return len(result[protocol.RunsResult](t, c.ask("sidecar/runs", `{"live":true}`)).Runs) == 1
	})
	r := result[protocol.RunResult](t, c.ask("sidecar/run", bash("yes | head -c 30000000", "")))
	if r.Stdout.Bytes != 30000000 {
		t.Errorf("%d bytes", r.Stdout.Bytes)
	}
	live := result[protocol.RunsResult](t, c.ask("sidecar/runs", `{"live":true}`)).Runs
	if len(live) != 1 {
		t.Fatalf("its run should wait for it: %+v", live)
	}
	if r := result[protocol.CancelResult](t, c.ask("sidecar/cancel", fmt.Sprintf(`{"id":%q}`, live[0].ID))); !r.Cancelled {
		t.Error("it had ended")
	}
	c.event("sidecar/runEnded", is(live[0].ID))
	works(t, root)
}

// The runs of a client that is gone are ended.
func TestAClientThatDies(t *testing.T) {
	root := project(t)
	serve(t, root)
	watcher := greeted(t, root, `{}`)
	c := greeted(t, root, `{}`)
	c.request("sidecar/run", bash("setsid sleep 987651 & sleep 987651", ""))
	watcher.event("sidecar/runStarted", any_)
	until(t, "the program", func() bool { return exec.Command("pgrep", "-f", "sleep 987651").Run() == nil })
	c.conn.Close()
	watcher.event("sidecar/runEnded", is(`"cancelled":true`))
	if out, err := exec.Command("pgrep", "-af", "sleep 987651").Output(); err == nil {
		t.Errorf("still there: %s", out)
	}
}

// Many requests that are never answered in time are not read without bound; the connection of another is free.
func TestAFloodOfRequests(t *testing.T) {
	root := project(t)
	serve(t, root)
	d := deaf(t, root)
	d.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`)
	_ = d.conn.SetWriteDeadline(time.Now().Add(2 * time.Second))
	for i := range 200_000 {
		d.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"sidecar/status","params":{}}`, i+2))
	}
	works(t, root)
}

// crowd is a process that connects to a socket many times, says who it is each time, and stays; half of it goes on byte by
// byte with a message that never ends.
const crowd = `
import socket, sys, time
hello = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}'
all = []
for i in range(1500):
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect(sys.argv[1])
        s.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(hello), hello) if i % 2 else b"Content-Length: 1000000\r\n\r\n{")
        all.append(s)
    except OSError:
        pass
print("there", flush=True)
while True:
    for s in all:
        try: s.sendall(b" ")
        except OSError: pass
    time.sleep(0.2)
`

// A process that connects as often as it can leaves room for others.
func TestACrowdOfConnections(t *testing.T) {
	root := project(t)
	serve(t, root)
	p, err := place.Of(root)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/usr/bin/python3", "-c", crowd, p.Socket)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	works(t, root)
}

// A process that asks for as many runs as it can, over several connections, leaves some that can go on at once to others.
func TestACrowdOfRuns(t *testing.T) {
	root := project(t)
	serve(t, root)
	for range 2 {
		c := greeted(t, root, `{"output":"none"}`)
		for range 40 {
			c.request("sidecar/run", bash("sleep 600", ""))
		}
	}
	watcher := greeted(t, root, `{"output":"none"}`)
	until(t, "its runs", func() bool {
		return len(result[protocol.RunsResult](t, watcher.ask("sidecar/runs", `{"live":true}`)).Runs) == 80
	})
	cmd := exec.Command(program, "run", "--language", "bash", "-e", "echo works")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "works\n" {
		t.Errorf("another process got %q, %v", out, err)
	}
}

// A socket of another user is not spoken to, and another user is not served.
func TestOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to be another user")
	}
	root := project(t)
	serve(t, root)
	p, err := place.Of(root)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Dir(p.Socket)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
	dir, err := os.MkdirTemp("/tmp", "place")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	theirs := place.Place{Socket: filepath.Join(dir, "s.sock"), Lock: filepath.Join(dir, "s.lock")}
	listen := asNobody("import socket,sys,time; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print('ready', flush=True); time.sleep(60)", theirs.Socket)
	out, err := listen.StdoutPipe()
	if err == nil {
		err = listen.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listen.Process.Kill(); _ = listen.Wait() }()
	_, _ = out.Read(make([]byte, 6))
	if _, err := theirs.Dial(t.Context()); err == nil || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("dialling another user's: %v", err)
	}
	// Ours, where another user can reach it: he is turned away at once.
	for dir := filepath.Dir(p.Socket); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, info.Mode().Perm())
	}
	if err := os.Chmod(p.Socket, 0o777); err != nil {
		t.Fatal(err)
	}
	asked, err := asNobody("import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.settimeout(10); print(repr(s.recv(100)))", p.Socket).CombinedOutput()
	if err == nil && strings.TrimSpace(string(asked)) != "b''" || err != nil && !strings.Contains(string(asked), "ConnectionReset") {
		t.Errorf("another user got %s, %v", asked, err)
	}
	works(t, root)
}

func asNobody(script string, args ...string) *exec.Cmd {
	return exec.Command("setpriv", append([]string{"--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", script}, args...)...)
}

// Shutdown and exit end a connection, not the sidecar.
func TestShutdown(t *testing.T) {
	root := project(t)
	cmd := serve(t, root)
	c := greeted(t, root, `{}`)
	id := c.request("sidecar/run", bash("sleep 600", `,"token":"x"`))
	c.event("sidecar/runStarted", any_)
	c.ask("shutdown", `null`)
	if r := result[protocol.RunResult](t, c.answer(id)); !r.Cancelled {
		t.Errorf("its run: %+v", r)
	}
	if m := c.ask("sidecar/status", `{}`); m.Error == nil {
		t.Error("it served after shutdown")
	}
	c.send(`{"jsonrpc":"2.0","method":"exit"}`)
	c.closed()
	works(t, root)
	if !lives(cmd.Process.Pid) {
		t.Error("the sidecar ended")
	}
}

// Findings, outputs and names that a run chose arrive as JSON, whatever bytes they have.
func TestHostileNames(t *testing.T) {
	root := project(t)
	serve(t, root)
	c := greeted(t, root, `{}`)
	r := result[protocol.RunResult](t, c.ask("sidecar/run", bash("d=$'a\\nb\\xff\\x1b[31m'; mkdir \"$d\"; echo x > \"$d/.envrc\"", "")))
	if len(r.Findings) != 1 {
		t.Errorf("findings: %+v", r.Findings)
	}
	var p protocol.FindingParams
	if err := json.Unmarshal(c.event("sidecar/finding", any_).Params, &p); err != nil {
		t.Error(err)
	}
}

// A client that asks for more than it may is told so, and its end is still noticed.
func TestTooManyRequests(t *testing.T) {
	root := project(t)
	serve(t, root)
	watcher := greeted(t, root, `{"output":"none"}`)
	c := greeted(t, root, `{}`)
	for range 1100 {
		c.request("sidecar/run", bash("sleep 600", ""))
	}
	c.await("a refusal", func(m message) bool {
		return m.Error != nil && strings.Contains(m.Error.Message, "1024 requests") && m.Error.Data.Hint != ""
	})
	c.conn.Close()
	until(t, "the end of its runs", func() bool {
		return len(result[protocol.RunsResult](t, watcher.ask("sidecar/runs", `{"live":true}`)).Runs) == 0
	})
	works(t, root)
}

// Input for a run that never began is answered as well.
func TestInputForARunThatWaits(t *testing.T) {
	root := project(t)
	serve(t, root)
	c := greeted(t, root, `{}`)
	for range 64 {
		c.request("sidecar/run", bash("sleep 600", ""))
	}
	id := c.request("sidecar/run", bash("cat", `,"token":"waits","streamStdin":true`))
	in := c.request("sidecar/input", `{"token":"waits","data":"dHdvCg=="}`)
	c.ask("sidecar/cancel", `{"token":"waits"}`)
	if m := c.answer(id); m.Error == nil || m.Error.Data.Kind != protocol.Cancelled {
		t.Errorf("the run: %+v", m)
	}
	c.answer(in)
}

// What a client makes as long as it likes is not kept, nor sent to others, as a whole.
func TestLongNames(t *testing.T) {
	root := project(t)
	cmd := serve(t, root)
	c, other := greeted(t, root, `{}`), greeted(t, root, `{}`)
	long := strings.Repeat("é", 2<<20)
	for range 5 {
		c.ask("sidecar/run", fmt.Sprintf(`{"command":["true",%q],"client":%q,"token":"x"}`, long, long))
		c.ask("sidecar/run", fmt.Sprintf(`{"language":%q,"code":""}`, long))
	}
	list := other.ask("sidecar/runs", `{}`)
	if len(list.Result) > 200_000 {
		t.Errorf("the list has %d bytes", len(list.Result))
	}
	for _, r := range result[protocol.RunsResult](t, list).Runs {
		if !utf8.ValidString(r.Client) || len(r.Client) > 300 {
			t.Errorf("client %d bytes", len(r.Client))
		}
	}
	if !lives(cmd.Process.Pid) {
		t.Error("the sidecar ended")
	}
	works(t, root)
}

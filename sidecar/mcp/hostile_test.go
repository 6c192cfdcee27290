package mcp

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestHostileInput(t *testing.T) {
	deep := strings.Repeat(`[`, 200_000)
	for _, test := range []struct {
		name, line, id string
		code           int
	}{
		{"no JSON", `{"jsonrpc":"2.0","id":1,`, "null", -32700},
		{"words", `hello there`, "null", -32700},
		{"NUL bytes", "\x00\x00\x00", "null", -32700},
		{"deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deep, "null", -32700},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", -32600},
		{"a number", `7`, "null", -32600},
		{"method is no string", `{"jsonrpc":"2.0","id":1,"method":7}`, "null", -32600},
		{"no version", `{"id":5,"method":"ping"}`, "5", -32600},
		{"old version", `{"jsonrpc":"1.0","id":5,"method":"ping"}`, "5", -32600},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", -32600},
		{"fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "null", -32600},
		{"object as id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600},
		{"unknown method", `{"jsonrpc":"2.0","id":5,"method":"no/such"}`, "5", -32601},
		{"unknown tool", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"nosuch"}}`, "5", -32602},
		{"params are a string", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":"x"}`, "5", -32600},
		{"large id", `{"jsonrpc":"2.0","id":9007199254740993,"method":"no/such"}`, "9007199254740993", -32601},
		{"odd spelling of an id", `{"jsonrpc":"2.0","id":"\u0061\/","method":"no/such"}`, `"\u0061\/"`, -32601},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := connect(t, options(t, quick))
			c.raw(test.line)
			g := c.await("an answer", func(g got) bool { return true })
			if g.Error == nil || g.Error.Code != test.code || string(g.ID) != test.id && g.ID != nil {
				t.Errorf("got %+v for %.100s", g, test.line)
			}
			// It goes on.
			if r := c.result(c.python("x", "")); r.IsError {
				t.Errorf("afterwards: %+v", r)
			}
		})
	}
}

func TestWhatIsIgnored(t *testing.T) {
	c := initialized(t, options(t, quick), nil)
	for _, line := range []string{"", "   ", "\r", `{"jsonrpc":"2.0","method":"notifications/unknown"}`, `{"jsonrpc":"2.0","id":"sidecar-9","result":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, `{"jsonrpc":"2.0"}`} {
		c.raw(line)
	}
	c.settle()
	if n := len(c.seen()); n != 2 {
		t.Errorf("server wrote %d messages, want 2: %+v", n, c.seen())
	}
}

func TestIDInUse(t *testing.T) {
	h := newHeld()
	c := initialized(t, options(t, h.run), nil)
	id := c.python("first", "")
	c.raw(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
	c.await("the refusal", func(g got) bool { return g.Error != nil && strings.Contains(g.Error.Message, "in use") })
	close(h.release)
	if r := c.result(id); r.Structured.Stdout.Text != "first" {
		t.Errorf("got %+v", r)
	}
}

// endless gives n bytes without memory of its own.
type endless struct{ n int }

func (e *endless) Read(b []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	n := min(len(b), e.n)
	for i := range b[:n] {
		b[i] = 'x'
	}
	e.n -= n
	return n, nil
}

func TestLongLine(t *testing.T) {
	for name, line := range map[string][2]string{
		"id first": {`{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"`, `"}}`},
		"id last":  {`{"method":"tools/call","params":{"name":"`, `"},"jsonrpc":"2.0","id":41}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, options(t, quick))
			io.Copy(c.in, io.MultiReader(strings.NewReader(line[0]), &endless{n: 300 << 20}, strings.NewReader(line[1]+"\n")))
			if g := c.answer("41"); g.Error == nil || !strings.Contains(g.Error.Message, "64 MiB") {
				t.Errorf("got %+v", g)
			}
			if r := c.result(c.python("x", "")); r.IsError {
				t.Errorf("afterwards: %+v", r)
			}
		})
	}
	var after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > 100<<20 {
		t.Errorf("%d MiB in use after long lines", after.HeapAlloc>>20)
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("y", 200_000)
	in := &lines{in: newLines(strings.NewReader("one\r\n\n" + long + "\n two \n" + strings.Repeat("z", 300_000) + "\nthree")).in, limit: 250_000}
	for _, want := range []string{"one", long, "two"} {
		if line, err := in.next(); err != nil || string(line) != want {
			t.Fatalf("got %.20q, %v", line, err)
		}
	}
	if line, err := in.next(); err != errTooLong || len(line) > 2*keptOfLong || !bytes.HasPrefix(line, []byte("zzz")) {
		t.Fatalf("got %d bytes, %v", len(line), err)
	}
	if line, err := in.next(); err != nil || string(line) != "three" {
		t.Fatalf("got %q, %v", line, err)
	}
	if _, err := in.next(); err != io.EOF {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":{"code":1}}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return
		}
		m, refusal := parse(line)
		if refusal != nil {
			return
		}
		c := &call{}
		c.read(m, line)
		keyOf(m.ID)
		_, _ = readArguments(c.arguments)
		idOfLong(line)
	})
}

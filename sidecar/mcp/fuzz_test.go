package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"code.sidecar.dev/sidecar/protocol"
)

// pinging is a request that is told from all others by its id.
const pinging = `{"jsonrpc":"2.0","id":"the last of all","method":"ping"}`

// Whatever comes on standard input, in however many lines: each line that is written is one JSON-RPC message, a ping behind
// it all is answered once, and the server ends with its input.
func FuzzServe(f *testing.F) {
	for _, s := range []string{
		"", "{}", "[]", "7", "\x00", "\xff\xfe\n{", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat("[", 20_000), `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"x","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"python","code":"x"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","_meta":{"progressToken":{}},"arguments":{"language":"python","code":"\ud800","packages":[[]],"timeout":-1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, `{"jsonrpc":"2.0","id":"sidecar-1","result":{"roots":[{"uri":"file:///etc"}]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"sidecar://runs/../../etc/passwd/stdout"}}`, strings.Repeat(`{"jsonrpc":"2.0","id":5,"method":"ping"}`+"\n", 50), "\r\n\r\n \t\n", `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.Contains(in, []byte("the last")) || bytes.Contains(in, []byte(`\u`)) {
			t.Skip("the id that tells the answer from all others")
		}
		out, toClient := io.Pipe()
		served := make(chan error, 1)
		// A server that never writes what it owes would leave this waiting: the input stays open until the ping is answered.
		fromClient, feed := io.Pipe()
		go func() {
			served <- Serve(t.Context(), fromClient, toClient, options(t, quick))
			toClient.Close()
		}()
		go func() {
			_, _ = feed.Write(append(append(bytes.Clone(in), '\n'), pinging...))
			_, _ = feed.Write([]byte("\n"))
		}()
		late := time.AfterFunc(30*time.Second, func() { _ = feed.CloseWithError(io.ErrUnexpectedEOF); _ = out.CloseWithError(io.ErrUnexpectedEOF) })
		defer late.Stop()
		answered := 0
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			var m got
			if !utf8.Valid(line) || json.Unmarshal(line, &m) != nil || m.Method == "" && m.Result == nil && m.Error == nil {
				t.Errorf("%.200q has the answer %.200q", in, line)
			}
			if string(m.ID) == `"the last of all"` {
				answered++
				go feed.Close()
			}
		}
		if answered != 1 {
			t.Errorf("after %.200q a ping has %d answers", in, answered)
		}
		if err := <-served; err != nil {
			t.Errorf("%.200q: %v", in, err)
		}
	})
}

// Lines are what a plain split gives, as long as they are short; of a long one there are the two ends, and the next one is whole.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"", "one\n\n two \nthree", strings.Repeat("x", 5000) + "\nafter", "a\r\nb\rc\n", "\n\n\n", strings.Repeat("y", 4096) + "\n" + strings.Repeat("z", 4097)} {
		f.Add([]byte(s))
	}
	const limit = 4096
	f.Fuzz(func(t *testing.T, in []byte) {
		l := &lines{in: bufio.NewReaderSize(bytes.NewReader(in), 64), limit: limit}
		for part := range bytes.SplitAfterSeq(in, []byte("\n")) {
			want := bytes.TrimSpace(part)
			if len(want) == 0 && len(part) <= limit {
				continue
			}
			line, err := l.next()
			if len(part) <= limit {
				if err != nil || !bytes.Equal(line, want) {
					t.Fatalf("%.100q, %v, want %.100q", line, err, want)
				}
				continue
			}
			if len(want) == 0 { // blanks without end are passed over, or told of
				if err == nil || len(line) > 0 {
					t.Fatalf("%.100q, %v after a line of blanks", line, err)
				}
				continue
			}
			if err != errTooLong || len(line) > 2*keptOfLong {
				t.Fatalf("%d bytes, %v of a line of %d", len(line), err, len(part))
			}
		}
		if line, err := l.next(); err != io.EOF || line != nil {
			t.Fatalf("%.100q, %v at the end", line, err)
		}
	})
}

// An output that is cut costs no more than there is room for, begins and ends as the whole does, and is not cut within a
// character.
func FuzzCut(f *testing.F) {
	for _, s := range []string{"", "short", strings.Repeat("é", 4000), strings.Repeat("😀\n", 4000), strings.Repeat("\x1b[31m\"\\", 3000), "a" + strings.Repeat("\u2028", 3000), strings.Repeat("\xff", 3000)} {
		f.Add([]byte(s), 2000, "/a/file")
		f.Add([]byte(s), 0, "")
	}
	f.Fuzz(func(t *testing.T, printed []byte, room int, whole string) {
		text := protocol.Text(printed)
		room %= 100_000
		o := cutOutput(protocol.Output{Text: text, Bytes: int64(len(printed))}, room, whole)
		if !utf8.ValidString(o.Text) {
			t.Errorf("%q is no text", o.Text)
		}
		if !o.Truncated {
			if o.Text != text {
				t.Errorf("%q is not cut, and changed", o.Text)
			}
			return
		}
		from, to := strings.Index(o.Text, "\n[… "), strings.LastIndex(o.Text, " …]\n")
		if from < 0 || to < from {
			t.Fatalf("%q does not say that it is cut", o.Text)
		}
		head, tail := o.Text[:from], o.Text[to+len(" …]\n"):]
		if !strings.HasPrefix(text, head) && !strings.Contains(text, "[…") || !strings.HasSuffix(text, tail) && !strings.Contains(text, "…]") {
			t.Errorf("%.50q … %.50q is not of %.50q", head, tail, text)
		}
		if cost := textCost(head) + textCost(tail); cost > max(room, 0) {
			t.Errorf("%d of %d", cost, room)
		}
	})
}

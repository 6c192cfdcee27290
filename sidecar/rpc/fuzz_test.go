package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// bodies are messages of which each frame carries one, well framed whatever it says.
var bodies = []string{
	`{}`, `[]`, `null`, ``, "\xff\xfe", `{"jsonrpc":"2.0","id":1,"method":"a","params":[1,2]}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":77}}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":[]}}`,
	`{"jsonrpc":"2.0","id":77,"method":"a"}`, `{"jsonrpc":"2.0","id":"77","result":{}}`, `{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}`, `{"jsonrpc":"2.0","id":null,"method":"a"}`, `{"jsonrpc":"2.0","id":1e99,"method":"a"}`,
	`[{"jsonrpc":"2.0","id":1,"method":"a"}]`, `{"jsonrpc":"2.0","id":1,"method":"a","params":` + strings.Repeat("[", 5000), `{"method":"\ud800","jsonrpc":"2.0","id":"\u0000"}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"panic"}`, `{"jsonrpc":"2.0","method":"panic"}`,
}

// Whatever a message says, as long as it is clear where the next one begins, that one is answered, once, and every answer
// before it is JSON-RPC with an id of its request's or with none.
func FuzzBody(f *testing.F) {
	for _, body := range bodies {
		f.Add([]byte(body))
	}
	const last = `{"jsonrpc":"2.0","id":"the last of all","method":"last"}`
	f.Fuzz(func(t *testing.T, body []byte) {
		if bytes.Contains(body, []byte("the last")) || len(body) > 64<<10 {
			t.Skip("the id that tells the answer from all others")
		}
		a, b := net.Pipe()
		server := New(t.Context(), b, Options{Handle: func(_ context.Context, method string, _ json.RawMessage) (any, error) {
			if method == "panic" {
				panic("at the disco")
			}
			return method, nil
		}})
		defer server.Drop()
		a.SetDeadline(time.Now().Add(20 * time.Second))
		go fmt.Fprintf(a, "Content-Length: %d\r\n\r\n%sContent-Length: %d\r\n\r\n%s", len(body), body, len(last), last)
		answers := newStream(a, func() {})
		defer answers.Close()
		for range 3 { // an answer to the body, and to the last; the body cannot ask for more
			frame, err := answers.frame()
			if err != nil {
				t.Fatalf("after %.200q: %v", body, err)
			}
			var m struct {
				JSONRPC string          `json:"jsonrpc"`
				ID      json.RawMessage `json:"id"`
				Result  string          `json:"result"`
			}
			if err := json.Unmarshal(frame, &m); err != nil || m.JSONRPC != "2.0" {
				t.Fatalf("%.200q is answered with %.200q, %v", body, frame, err)
			}
			if string(m.ID) == `"the last of all"` {
				if m.Result != "last" {
					t.Errorf("after %.200q: %s", body, frame)
				}
				return
			}
		}
		t.Errorf("%.200q has more than one answer", body)
	})
}

// What a header announces is what is read: a frame is exactly the bytes that its length says, or there is an error.
func FuzzFrame(f *testing.F) {
	for _, s := range []string{"Content-Length: 2\r\n\r\n{}", "content-length:2\n\n{}rest", "Content-Length: 99999999\r\n\r\n{", "X: y\r\nContent-Length: 0\r\n\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}", "\r\n\r\n", "Content-Length: 0x2\r\n\r\n{}", "Content-Length: 134217729\r\n\r\n", strings.Repeat("A: b\r\n", 2000)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		a, b := net.Pipe()
		defer a.Close()
		s := newStream(b, func() {})
		defer s.Close()
		go func() {
			_, _ = a.Write(in)
			a.Close()
		}()
		_ = b.SetReadDeadline(time.Now().Add(20 * time.Second))
		frame, err := s.frame()
		switch {
		case err == nil:
			head, _, found := bytes.Cut(in, frame)
			if !found || len(head) > 2*maxHeader || len(frame) > maxMessage {
				t.Errorf("%.100q is read as %.100q", in, frame)
			}
		case err == io.EOF && len(in) > 0, len(frame) > len(in):
			t.Errorf("%.100q: %d bytes, %v", in, len(frame), err)
		}
	})
}

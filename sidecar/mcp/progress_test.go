package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

func TestProgressOfBytes(t *testing.T) {
	c := initialized(t, options(t, func(ctx context.Context, root string, p protocol.RunParams, out func(protocol.Stream, []byte)) (protocol.RunResult, error) {
		for _, b := range []byte("grüße 語 \xff") {
			out(protocol.Stdout, []byte{b})
		}
		out(protocol.Stderr, []byte("x\xe8"))
		return quick(ctx, root, p, out)
	}), nil)
	c.result(c.python("", "1"))
	if text := messages(c); text != "grüße 語 \uFFFDx\uFFFD" {
		t.Errorf("got %q", text)
	}
}

func messages(c *client) string {
	var text strings.Builder
	for _, g := range c.seen() {
		text.WriteString(g.Params.Message)
	}
	return text.String()
}

// told is what a call's progress says, and when.
type told struct {
	at   []time.Time
	text []string
}

// Write takes the place of the client.
func (w *told) Write(line []byte) (int, error) {
	w.at = append(w.at, time.Now())
	w.text = append(w.text, string(line))
	return len(line), nil
}

func TestProgressIsCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w told
		out := newWriter(&w, func(error) {})
		defer out.close()
		p := startProgress(&call{conn: &conn{out: out}}, []byte("1"))
		for i := range 100 {
			p.write(protocol.Stdout, fmt.Appendf(nil, "%d ", i))
			time.Sleep(7 * time.Millisecond)
		}
		p.write(protocol.Stdout, []byte(strings.Repeat("x", progressEnough)))
		synctest.Wait()
		if n := len(w.at); n < 12 || n > 17 {
			t.Errorf("%d messages for 700 ms and one large write", n)
		}
		for i := 2; i < len(w.at)-1; i++ {
			if gap := w.at[i].Sub(w.at[i-1]); gap < progressPause {
				t.Errorf("%v between message %d and the one before: %.80q, %.80q", gap, i, w.text[i-1], w.text[i])
			}
		}
		p.finish()
	})
}

func TestSilentRunShowsThatItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w told
		out := newWriter(&w, func(error) {})
		defer out.close()
		p := startProgress(&call{conn: &conn{out: out}}, []byte("1"))
		time.Sleep(35 * time.Second)
		p.finish()
		if len(w.text) != 3 || !strings.Contains(w.text[2], "[running for 30 s]") {
			t.Errorf("got %q", w.text)
		}
	})
}

// A client that stops reading costs bounded memory, and hears how much it missed.
func TestProgressOfAFlood(t *testing.T) {
	block := make(chan struct{})
	var heard strings.Builder
	out := newWriter(writerFunc(func(b []byte) (int, error) {
		<-block
		var m struct{ Params struct{ Message string } }
		err := json.Unmarshal(b, &m)
		heard.WriteString(m.Params.Message)
		return len(b), err
	}), func(error) {})
	p := startProgress(&call{conn: &conn{out: out}}, []byte("1"))
	const writes, each = 10_000, 1000
	for range writes {
		p.write(protocol.Stdout, []byte(strings.Repeat("Q", each)))
		p.mu.Lock()
		if len(p.text) > progressHeld {
			t.Fatalf("holds %d bytes", len(p.text))
		}
		p.mu.Unlock()
	}
	close(block)
	p.finish()
	out.close()
	shown, missed := strings.Count(heard.String(), "Q"), 0
	for _, note := range regexp.MustCompile(`\[(\d+) bytes of output were too fast to show\]`).FindAllStringSubmatch(heard.String(), -1) {
		n, _ := strconv.Atoi(note[1])
		missed += n
	}
	if shown+missed != writes*each || missed == 0 {
		t.Errorf("%d bytes were shown and %d said to be missing, of %d", shown, missed, writes*each)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// await waits for a condition of the process that nothing tells of.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); runtime.Gosched() {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%s did not come about\n%s", what, buf[:runtime.Stack(buf, true)])
		}
	}
}

// TestCloseEndsAll leaves connections of each kind open, in the middle of what they do.
func TestCloseEndsAll(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("in use", func(t *testing.T) {
		p := newPerson()
		w := tunnelWorld(t, asking(p))
		hang := make(chan struct{})
		defer close(hang)
		w.serve("slow.good.test", func(r http.ResponseWriter, q *http.Request) {
			r.(http.Flusher).Flush()
			<-hang
		})
		var open []*peer
		for range 5 {
			slow := w.dial().send("GET http://slow.good.test/ HTTP/1.1\r\nHost: a\r\n\r\n")
			slow.r.Peek(1)
			tunnel := w.dial()
			tunnel.connect("ssh.test:22")
			silent, half := w.dial(), w.dial().send("GET http://a")
			asked := w.dial().send("GET http://bad.test/ HTTP/1.1\r\nHost: a\r\n\r\n")
			idle := w.dial().send("GET http://good.test/ HTTP/1.1\r\nHost: a\r\n\r\n")
			idle.answer("GET")
			hello := w.dial()
			hello.connect("good.test:443")
			open = append(open, slow, tunnel, silent, half, asked, idle, hello)
		}
		<-p.asked
		w.filter.Close()
		for _, c := range open {
			c.rest()
		}
		l := listen(t, "127.0.0.1:0")
		w.filter.ServeProxy(l)
		await(t, "the end of a listener that comes late", func() bool { _, err := l.Accept(); return err != nil })
		w.filter.Close()
	})
	await(t, "the end of all goroutines", func() bool { return runtime.NumGoroutine() <= before })
}

// TestFilterIsCheap: one that is made and not used has no goroutine, no key and little memory.
func TestFilterIsCheap(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var kept [100]*Filter
	for i := range kept {
		kept[i], _ = New(Options{})
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / uint64(len(kept)); each > 32<<10 {
		t.Errorf("%d bytes each", each)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines more", n-goroutines)
	}
	runtime.KeepAlive(kept)
}

func TestDenialsAreFoldedAndBounded(t *testing.T) {
	told := 0
	w := newWorld(t, Closed(), func(_ *world, o *Options) { o.Denied = func(Denial) { told++ } })
	for i := range mostDenials + 500 {
		w.filter.deny(Target{Host: Host{Name: fmt.Sprint("n", i)}, Port: 80}, "no", "")
		w.filter.deny(Target{Host: Host{Name: "n0"}, Port: 80}, "no", "")
	}
	list := w.filter.Denials()
	if len(list) != mostDenials+1 || told != len(list) {
		t.Error(len(list), told)
	}
	count := map[string]int{}
	for _, d := range list {
		count[d.Host] = d.Count
	}
	if count["n0"] != mostDenials+501 || count["n1"] != 1 || count[""] != 500 {
		t.Error(count["n0"], count["n1"], count[""])
	}
}

// TestDenialTextsAreHarmless: what a program sends does not reach a terminal as it is.
func TestDenialTextsAreHarmless(t *testing.T) {
	w := newWorld(t, Closed())
	w.dial().send("GET /\x1b[2J HTTP/1.1\r\nHost: a\r\n\r\n").answer("GET")
	w.dial().send("GET /%1b HTTP/1.1\r\nHost: " + strings.Repeat("a", 5000) + "\r\n\r\n").answer("GET")
	w.dial().socksTo(3, named("\x1b[2J\r\n"), 80)
	w.dial().send(strings.Repeat("A", 5000) + " http://long-method.test/ HTTP/1.1\r\nHost: a\r\n\r\n").answer("GET")
	if list := w.filter.Denials(); list[len(list)-1].Host != "long-method.test" {
		t.Errorf("%+v", list)
	}
	for _, d := range w.filter.Denials() {
		for _, s := range []string{d.Host, d.Why, d.Method, d.Setting} {
			if len(s) > 300 || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r > '~' && r != '…' }) {
				t.Errorf("%q", s)
			}
		}
	}
}

// TestStreams: bodies pass in both directions while they come; nothing is collected first.
func TestStreams(t *testing.T) {
	w := newWorld(t, mustMethods(t, map[string][]string{"good.test": {"*"}, "read.test": {"POST"}}))
	talk := func(r http.ResponseWriter, q *http.Request) {
		c := http.NewResponseController(r)
		c.EnableFullDuplex()
		r.Header().Set("Content-Type", "text/event-stream")
		c.Flush()
		for lines := bufio.NewScanner(q.Body); lines.Scan(); c.Flush() {
			fmt.Fprintf(r, "data: %s\n", lines.Text())
		}
	}
	w.serve("good.test", talk)
	w.serve("read.test", talk)
	for _, url := range []string{"http://good.test/", "https://good.test/", "https://read.test/"} {
		in, out := io.Pipe()
		r, err := w.client().Post(url, "text/plain", in)
		if err != nil {
			t.Fatal(url, err)
		}
		lines := bufio.NewScanner(r.Body)
		for _, word := range []string{"a", "b", "c"} {
			fmt.Fprintln(out, word)
			if lines.Scan(); lines.Text() != "data: "+word {
				t.Errorf("%s: %q", url, lines.Text())
			}
		}
		out.Close()
		r.Body.Close()
	}
}

func TestWebSocket(t *testing.T) {
	w := newWorld(t, mustAllow(t, "good.test"))
	w.serveRaw("good.test", 80, func(c net.Conn) {
		q, err := http.ReadRequest(newReader(c))
		if err != nil {
			return
		}
		w.hear("%s %s", q.Host, q.Header.Get("Upgrade"))
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		echo(c)
	})
	p := w.dial().send("GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	r, err := http.ReadResponse(p.r, nil)
	if err != nil || r.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(r, err)
	}
	defer r.Body.Close()
	p.send("frame")
	if got := string(p.bytes(5)); got != "frame" || w.said()[0] != "good.test websocket" {
		t.Errorf("%q", got)
	}
}

// TestManyAtOnce is the promise of 500 connections, of each kind.
func TestManyAtOnce(t *testing.T) {
	w := newWorld(t, mustMethods(t, map[string][]string{"good.test": {"*"}, "read.test": {"GET"}}), func(_ *world, o *Options) { o.Patience = time.Minute })
	w.serve("good.test", w.site)
	w.serve("read.test", w.site)
	for _, url := range []string{"http://good.test/", "https://good.test/", "https://read.test/"} {
		start := make(chan struct{})
		var all sync.WaitGroup
		c := w.client()
		c.Transport.(*http.Transport).MaxIdleConnsPerHost = 1
		for range 500 {
			all.Go(func() {
				<-start
				r, err := c.Get(url)
				if err != nil {
					t.Error(url, err)
					return
				}
				defer r.Body.Close()
				if body, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusOK || len(body) == 0 {
					t.Error(url, r.StatusCode)
				}
			})
		}
		close(start)
		all.Wait()
		c.CloseIdleConnections()
	}
}

// TestTooMany: what is beyond the bound is refused, and the filter goes on when there is room.
func TestTooMany(t *testing.T) {
	w := newWorld(t, mustAllow(t, "good.test"))
	w.serve("good.test", w.site)
	var all []*held
	for i := range w.filter.most {
		h := &held{i}
		all = append(all, h)
		w.filter.hold(h)
	}
	if got := w.dial().send("GET http://good.test/ HTTP/1.1\r\nHost: a\r\n\r\n").rest(); got != "" {
		t.Errorf("%q", got)
	}
	for _, h := range all {
		w.filter.release(h)
	}
	if status, _ := w.dial().send("GET http://good.test/ HTTP/1.1\r\nHost: a\r\n\r\n").answer("GET"); status != 200 {
		t.Error(status)
	}
}

type held struct{ int }

func (*held) Close() error { return nil }

// TestSystemSeams: the resolver and the addresses that are used when a test gives none.
func TestSystemSeams(t *testing.T) {
	if addrs := systemAddresses(); len(addrs) == 0 {
		t.Error("this machine has no address")
	}
	if addrs, err := systemResolve(context.Background(), "localhost"); err != nil || !addrs[0].IsLoopback() {
		t.Error(addrs, err)
	}
	l := listen(t, "127.0.0.1:0")
	defer l.Close()
	c, err := systemDial(t.Context(), netip.MustParseAddrPort(l.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

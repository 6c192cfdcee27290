package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
)

// whole is what a benchmark downloads; bytes.
const whole = 1 << 30

// pour sends as many bytes to whoever connects and says something.
func pour(c net.Conn) {
	defer c.Close()
	if _, err := c.Read(make([]byte, 1)); err != nil {
		return
	}
	chunk := make([]byte, 256<<10)
	for range whole / len(chunk) {
		if _, err := c.Write(chunk); err != nil {
			return
		}
	}
}

// drain reads to the end.
func drain(b testing.TB, c net.Conn) {
	buf := make([]byte, 256<<10)
	total := 0
	for {
		n, err := c.Read(buf)
		if total += n; err == io.EOF {
			break
		} else if err != nil {
			b.Fatal(err)
		}
	}
	if total != whole {
		b.Fatalf("%d bytes", total)
	}
}

// BenchmarkDownload has 1 GiB directly, and through a CONNECT tunnel: the promise is half the throughput.
func BenchmarkDownload(b *testing.B) {
	w := newWorld(b, mustAllow(b, "good.test:9"))
	w.serveRaw("good.test", 9, pour)
	b.Run("direct", func(b *testing.B) {
		b.SetBytes(whole)
		for range b.N {
			p := dialPeer(b, w.hosts["good.test:9"].String()).send("x")
			drain(b, p.Conn)
		}
	})
	b.Run("tunnel", func(b *testing.B) {
		b.SetBytes(whole)
		for range b.N {
			p := dialPeer(b, w.proxy)
			if status, body := p.connect("good.test:9"); status != http.StatusOK {
				b.Fatal(body)
			}
			drain(b, p.send("x").Conn)
		}
	})
}

// BenchmarkRead has 1 GiB where each request is judged: in clear, and in TLS that is opened.
func BenchmarkRead(b *testing.B) {
	w := newWorld(b, mustMethods(b, map[string][]string{"good.test": {"*"}, "read.test": {"GET"}}))
	chunk := make([]byte, 256<<10)
	body := func(r http.ResponseWriter, _ *http.Request) {
		r.Header().Set("Content-Length", fmt.Sprint(whole))
		for range whole / len(chunk) {
			r.Write(chunk)
		}
	}
	w.serve("good.test", body)
	w.serve("read.test", body)
	direct := &http.Client{}
	for _, test := range []struct {
		name, url string
		client    *http.Client
	}{
		{"clear direct", "http://" + w.hosts["good.test:80"].String(), direct}, {"clear", "http://good.test/", w.client()},
		{"tls unopened", "https://good.test/", w.client()}, {"tls opened", "https://read.test/", w.client()},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.SetBytes(whole)
			for range b.N {
				r, err := test.client.Get(test.url)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, r.Body); n != whole {
					b.Fatal(n, err)
				}
				r.Body.Close()
			}
		})
	}
}

// BenchmarkRequest is a small request on a connection that is kept: the promise is less than a millisecond on top.
func BenchmarkRequest(b *testing.B) {
	w := newWorld(b, mustMethods(b, map[string][]string{"good.test": {"*"}, "read.test": {"GET"}}))
	w.serve("good.test", func(http.ResponseWriter, *http.Request) {})
	w.serve("read.test", func(http.ResponseWriter, *http.Request) {})
	for _, test := range []struct {
		name, url string
		client    *http.Client
	}{
		{"direct", "http://" + w.hosts["good.test:80"].String(), &http.Client{}}, {"clear", "http://good.test/", w.client()},
		{"opened", "https://read.test/", w.client()},
	} {
		b.Run(test.name, func(b *testing.B) { requests(b, test.client, test.url) })
	}
	b.Run("direct, new connection", func(b *testing.B) {
		requests(b, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, "http://"+w.hosts["good.test:80"].String())
	})
	b.Run("clear, new connection", func(b *testing.B) {
		c := w.client()
		c.Transport.(*http.Transport).DisableKeepAlives = true
		requests(b, c, "http://good.test/")
	})
}

func requests(b *testing.B, c *http.Client, url string) {
	for range b.N {
		r, err := c.Get(url)
		if err != nil {
			b.Fatal(err)
		}
		r.Body.Close()
	}
}

// TestMemoryIsFlat during a big download, through each way.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("1 GiB")
	}
	w := newWorld(t, mustAllow(t, "good.test", "good.test:9"))
	w.serveRaw("good.test", 9, pour)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p := w.dial()
	p.connect("good.test:9")
	drain(t, p.send("x").Conn)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("%d bytes were allocated for a download of %d", grown, whole)
	}
}

package proxy

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"
)

// person answers questions when told to.
type person struct {
	asked   chan Question
	answers chan Answer
	gone    chan struct{}
}

func newPerson() *person {
	return &person{make(chan Question, 100), make(chan Answer), make(chan struct{}, 100)}
}

func (p *person) ask(ctx context.Context, q Question) Answer {
	p.asked <- q
	select {
	case a := <-p.answers:
		return a
	case <-ctx.Done():
		p.gone <- struct{}{}
		return Yes // too late: nobody waits, and it is not to be remembered
	}
}

func asking(p *person) func(*world, *Options) {
	return func(w *world, o *Options) { o.Ask = p.ask }
}

func TestAsk(t *testing.T) {
	p := newPerson()
	w := tunnelWorld(t, asking(p))
	request := "GET http://bad.test/ HTTP/1.1\r\nHost: bad.test\r\n\r\n"
	var waiting []*peer
	for range 20 {
		waiting = append(waiting, w.dial().send(request))
	}
	want := Question{Host: "bad.test", Port: 80, Kind: HTTP, Setting: "network.allowed_domains: [bad.test]"}
	if diff := cmp.Diff(want, <-p.asked); diff != "" {
		t.Error(diff)
	}
	p.answers <- Yes
	for _, c := range waiting {
		if status, body := c.answer("GET"); status != 200 {
			t.Error(status, body)
		}
	}
	// A yes is for the name, on its usual ports, for the whole run, and with every method.
	if status, body := w.dial().send("POST http://bad.test/ HTTP/1.1\r\nHost: bad.test\r\nContent-Length: 0\r\n\r\n").answer("POST"); status != 200 {
		t.Error(status, body)
	}
	c := w.dial()
	c.connect("bad.test:443")
	if _, err := c.tls("bad.test", w.roots); err != nil {
		t.Error(err)
	}
	if len(p.asked) > 0 {
		t.Error("asked again:", <-p.asked)
	}
	// A no is remembered as well, and said.
	go func() { p.answers <- No }()
	for range 2 {
		if code := w.dial().socksTo(3, named("a.bad.test"), 22); code != 2 {
			t.Error(code)
		}
	}
	if len(p.asked) != 1 || (<-p.asked).Setting != `network.allowed_domains: ["a.bad.test:22"]` {
		t.Error("not asked once")
	}
	if got := w.why(); !slices.Contains(got, "a.bad.test:22  no rule allows a.bad.test, and nobody allowed it") {
		t.Error(got)
	}
}

// TestNeverAsked has what no person can allow with a yes.
func TestNeverAsked(t *testing.T) {
	w := tunnelWorld(t, func(_ *world, o *Options) {
		o.Ask = func(_ context.Context, q Question) Answer { t.Error("asked about", q); return Yes }
	})
	for _, to := range []string{"127.0.0.1:80", "localhost:80", "10.0.0.1:443", "[::ffff:192.168.0.1]:443", "169.254.169.254:80", "metadata.google.internal:80"} {
		if status, body := w.dial().connect(to); status != 403 {
			t.Error(to, status, body)
		}
	}
	if status, _ := w.dial().send("POST http://read.test/ HTTP/1.1\r\nHost: read.test\r\nContent-Length: 0\r\n\r\n").answer("POST"); status != 403 {
		t.Error(status)
	}
	// DNS answers what could be allowed, without a question.
	if got := reply(w.filter.answer(query(t, "unknown.test.", dnsmessage.TypeA))); got != "Success unknown.test. 127.66.0.1" {
		t.Error(got)
	}
	if got := reply(w.filter.answer(query(t, "localhost.", dnsmessage.TypeA))); got != "NameError localhost." {
		t.Error(got)
	}
}

// TestAskEndsWithTheClient: when the last client goes the question is withdrawn, and may be put again.
func TestAskEndsWithTheClient(t *testing.T) {
	p := newPerson()
	w := tunnelWorld(t, asking(p))
	ask := map[string]func() *peer{
		"http":    func() *peer { return w.dial().send("GET http://bad.test/ HTTP/1.1\r\nHost: bad.test\r\n\r\n") },
		"connect": func() *peer { return w.dial().send("CONNECT bad.test:443 HTTP/1.1\r\nHost: bad.test\r\n\r\n") },
		"socks":   func() *peer { return w.dial().send("\x05\x01\x00\x05\x01\x00\x03\x08bad.test\x01\xbb") },
	}
	if addr, ok := w.filter.names.address("bad.test"); ok {
		if l, err := net.Listen("tcp", netip.AddrPortFrom(addr, 0).String()); err == nil {
			w.filter.ServeTransparent(l, 443)
			ask["direct"] = func() *peer { return dialPeer(t, l.Addr().String()) }
		}
	}
	for name, f := range ask {
		a, b := f(), f()
		<-p.asked
		a.Close()
		b.Close()
		<-p.gone
		c := f()
		if q := <-p.asked; q.Host != "bad.test" {
			t.Error(name, q)
		}
		c.Close()
		<-p.gone
	}
}

// TestApprovalsAtOnce is for the race detector: many ask and leave while answers come.
func TestApprovalsAtOnce(t *testing.T) {
	ctx := t.Context()
	a := newApprovals(ctx, func(ctx context.Context, q Question) Answer {
		if q.Port%2 == 0 {
			<-ctx.Done()
		}
		return Yes
	})
	var all sync.WaitGroup
	for i := range 400 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(ctx)
			if i%4 != 1 {
				cancel()
			}
			defer cancel()
			if got := a.get(ctx, Question{Host: "a", Port: uint16(i % 8)}); i%4 == 1 && got != Yes {
				t.Error(i, got)
			}
		})
	}
	all.Wait()
	if len(a.open) > 0 {
		t.Error(a.open)
	}
}

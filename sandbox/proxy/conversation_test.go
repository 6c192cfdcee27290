package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// piped is a listener in memory: what is put into it is accepted.
type piped struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPiped() *piped { return &piped{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *piped) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *piped) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *piped) Addr() net.Addr { return &net.TCPAddr{} }

// outside is an internet that watches what the filter asks of it.
type outside struct {
	t *testing.T
	// names are what an address was asked for.
	mu    sync.Mutex
	names map[netip.Addr]string
}

func inDomain(name, domain string) bool {
	return name == domain || strings.HasSuffix(name, "."+domain)
}

func (o *outside) resolve(_ context.Context, name string) ([]netip.Addr, error) {
	if !inDomain(name, "good.test") && !inDomain(name, "read.test") {
		o.t.Errorf("%q is resolved", name)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	addr := netip.AddrFrom4([4]byte{93, 184, 216, byte(len(o.names) + 1)})
	o.names[addr] = name
	return []netip.Addr{addr}, nil
}

func (o *outside) dial(_ context.Context, to netip.AddrPort) (net.Conn, error) {
	o.mu.Lock()
	name := o.names[to.Addr()]
	o.mu.Unlock()
	if name == "" && to != netip.MustParseAddrPort("8.8.8.8:443") || name != "" && to.Port() != 80 && to.Port() != 443 {
		o.t.Errorf("dials %v, which is %q", to, name)
	}
	near, far := net.Pipe()
	go o.serve(far, name, to.Port())
	return near, nil
}

// serve is a server: it says which requests came, and judges them.
func (o *outside) serve(c net.Conn, name string, port uint16) {
	defer c.Close()
	in := bufio.NewReader(c)
	if port == 443 {
		if _, sni, err := readHello(in); err == nil && sni != name {
			o.t.Errorf("%q is asked for %q inside TLS", name, sni)
		}
		return
	}
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if host := strings.TrimSuffix(r.Host, ":80"); host != name {
			o.t.Errorf("%q is asked for %q", name, r.Host)
		}
		if inDomain(name, "read.test") && r.Method != http.MethodGet {
			o.t.Errorf("%s of %s", r.Method, name)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); err != nil {
			return
		}
	}
}

// Whatever bytes a program sends to the proxy's port, be it HTTP, SOCKS or neither: no other name is resolved, no other
// address or port dialled, no server asked for another's name, and none for a method that its rule does not have; and the
// connection ends when the program closes it.
func FuzzConversation(f *testing.F) {
	const get = "GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\n"
	for _, s := range []string{
		get + "\r\n", get + "\r\nGET http://bad.test/ HTTP/1.1\r\nHost: bad.test\r\n\r\n", "GET http://good.test@bad.test/ HTTP/1.1\r\n\r\n",
		"POST http://read.test/ HTTP/1.1\r\nHost: read.test\r\nContent-Length: 3\r\n\r\nabc", "GET http://read.test/ HTTP/1.1\r\nHost: read.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nPOST http://read.test/ HTTP/1.1\r\n\r\n",
		"CONNECT good.test:80 HTTP/1.1\r\nHost: good.test:80\r\n\r\nGET / HTTP/1.1\r\nHost: bad.test\r\n\r\n", "CONNECT 8.8.8.8:443 HTTP/1.1\r\n\r\nSSH-2.0-x\r\n", "GET http://0x7f.1/ HTTP/1.0\r\n\r\n",
		get + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: bad.test\r\n\r\n", get + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\nx",
		"CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n" + string(helloFor(f, "good.test")), "CONNECT good.test:443 HTTP/1.1\r\n\r\n" + string(helloFor(f, "bad.test")),
		"\x05\x01\x00\x05\x01\x00\x03\x09good.test\x00\x50GET / HTTP/1.1\r\nHost: bad.test\r\n\r\n", "\x05\x01\x02\x01\x01u\x01p\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", "\x05\x01\x00\x05\x01\x00\x04" + strings.Repeat("\x00", 15) + "\x01\x00\x50", "\x04\x01\x00\x50\x01\x02\x03\x04\x00",
		"\x05\x01\x00\x05\x01\x00\x03\x0abad\x00.test\x01\xbb", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x00\x05",
	} {
		f.Add([]byte(s))
	}
	rules, err := AllowMethods(map[string][]string{"good.test": {"*"}, "read.test": {"GET"}, "8.8.8.8": {"*"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		o := &outside{t: t, names: map[netip.Addr]string{}}
		filter, err := New(Options{Rules: rules, Resolve: o.resolve, Dial: o.dial, Own: func() []netip.Prefix { return nil }, Patience: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		l := newPiped()
		filter.ServeProxy(l)
		near, far := net.Pipe()
		l.conns <- far
		go io.Copy(io.Discard, near)
		near.SetWriteDeadline(time.Now().Add(30 * time.Second))
		if _, err := near.Write(in); err != nil && err != io.ErrClosedPipe {
			t.Errorf("%d bytes: %v", len(in), err)
		}
		near.Close()
		ended := make(chan struct{})
		go func() {
			filter.Close()
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			t.Error("the filter does not end")
		}
	})
}

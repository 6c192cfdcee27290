package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// world is an internet on loopback: names lead to servers of the test through Hosts, whatever they say of themselves.
type world struct {
	t      testing.TB
	filter *Filter
	proxy  string
	hosts  Hosts
	roots  *x509.CertPool
	pki    *authority

	mu    sync.Mutex
	heard []string
}

// newWorld starts a filter whose options are filled by change.
func newWorld(t testing.TB, rules Rules, change ...func(*world, *Options)) *world {
	t.Helper()
	w := &world{t: t, hosts: Hosts{}, roots: x509.NewCertPool(), pki: newAuthority()}
	pem, err := w.pki.pem()
	if err != nil {
		t.Fatal(err)
	}
	w.roots.AppendCertsFromPEM(pem)
	opt := Options{Rules: rules, Hosts: w.hosts, Roots: w.roots, Patience: 5 * time.Second,
		Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}}
	for _, f := range change {
		f(w, &opt)
	}
	if w.filter, err = New(opt); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.filter.Close)
	l := listen(t, "127.0.0.1:0")
	w.proxy = l.Addr().String()
	w.filter.ServeProxy(l)
	return w
}

func listen(t testing.TB, addr string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustAllow(t testing.TB, names ...string) Rules {
	t.Helper()
	r, err := Allow(names...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustMethods(t testing.TB, m map[string][]string) Rules {
	t.Helper()
	r, err := AllowMethods(m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hear notes what a server got.
func (w *world) hear(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = append(w.heard, fmt.Sprintf(format, args...))
}

// said returns what the servers got since it was last asked.
func (w *world) said() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.heard
	w.heard = nil
	return out
}

// site answers every request with its own words about it.
func (w *world) site(r http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	w.hear("%s %s%s %s", q.Method, q.Host, q.RequestURI, body)
	fmt.Fprintf(r, "%s %s%s %s", q.Method, q.Host, q.RequestURI, body)
}

// serve puts a web server under name:80 and, with TLS, name:443.
func (w *world) serve(name string, handler http.HandlerFunc) {
	w.t.Helper()
	plain := httptest.NewServer(handler)
	secure := httptest.NewUnstartedServer(handler)
	leaf, err := w.pki.leaf(Host{Name: name})
	if err != nil {
		w.t.Fatal(err)
	}
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{*leaf}}
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	w.t.Cleanup(plain.Close)
	w.t.Cleanup(secure.Close)
	w.hosts[name+":80"] = netip.MustParseAddrPort(plain.Listener.Addr().String())
	w.hosts[name+":443"] = netip.MustParseAddrPort(secure.Listener.Addr().String())
}

// serveRaw gives each connection to name:port to serve.
func (w *world) serveRaw(name string, port int, serve func(net.Conn)) {
	w.t.Helper()
	l := listen(w.t, "127.0.0.1:0")
	w.t.Cleanup(func() { l.Close() })
	w.hosts[fmt.Sprintf("%s:%d", name, port)] = netip.MustParseAddrPort(l.Addr().String())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
}

func echo(c net.Conn) {
	io.Copy(c, c)
	c.Close()
}

// dial opens a raw connection to the proxy.
func (w *world) dial() *peer {
	w.t.Helper()
	return dialPeer(w.t, w.proxy)
}

// peer is a raw client.
type peer struct {
	t testing.TB
	net.Conn
	r *bufio.Reader
}

func dialPeer(t testing.TB, addr string) *peer {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return &peer{t, c, bufio.NewReader(c)}
}

func (p *peer) send(s string) *peer {
	p.t.Helper()
	if _, err := io.WriteString(p, s); err != nil {
		p.t.Fatal(err)
	}
	return p
}

// answer reads one response: its status and body.
func (p *peer) answer(method string) (int, string) {
	p.t.Helper()
	r, err := http.ReadResponse(p.r, &http.Request{Method: method})
	if err != nil {
		p.t.Fatalf("no response: %v", err)
	}
	defer r.Body.Close()
	if method == http.MethodConnect && r.StatusCode == http.StatusOK {
		return r.StatusCode, ""
	}
	body, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(body)
}

// rest reads until the end.
func (p *peer) rest() string {
	b, _ := io.ReadAll(p.r)
	return string(b)
}

func (p *peer) connect(to string) (int, string) {
	p.t.Helper()
	return p.send("CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n\r\n").answer(http.MethodConnect)
}

// tls speaks TLS on the connection, which was tunneled to name.
func (p *peer) tls(name string, roots *x509.CertPool) (*tls.Conn, error) {
	c := tls.Client(&buffered{p.Conn, p.r}, &tls.Config{ServerName: name, RootCAs: roots})
	return c, c.Handshake()
}

type buffered struct {
	net.Conn
	r io.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

// why are the denials so far, each as host:port method why.
func (w *world) why() []string {
	var out []string
	for _, d := range w.filter.Denials() {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s:%d %s %s", d.Host, d.Port, d.Method, d.Why)))
	}
	return out
}

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

// dialTo dials, in the place of an address of the internet, the server of the test that choose names; addresses of
// loopback are the test's own.
func dialTo(w *world, choose func(netip.AddrPort) string) func(context.Context, netip.AddrPort) (net.Conn, error) {
	return func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		if !to.Addr().IsLoopback() {
			to = w.hosts[choose(to)]
		}
		return systemDial(ctx, to)
	}
}

// netListen listens on an address; nil if it is listened on already.
func netListen(addr netip.Addr, port uint16) (net.Listener, error) {
	l, err := net.Listen("tcp", netip.AddrPortFrom(addr, port).String())
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, nil
	}
	return l, err
}

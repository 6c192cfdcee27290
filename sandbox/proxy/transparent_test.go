package proxy

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// transparent makes the filter listen on an address that stands for a name, as if on port, and returns where.
func (w *world) transparent(name string, port uint16) string {
	w.t.Helper()
	addr, ok := w.filter.names.address(name)
	if !ok {
		w.t.Fatal("no address")
	}
	return w.transparentAt(addr.String(), port)
}

func (w *world) transparentAt(addr string, port uint16) string {
	w.t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(addr, "0"))
	if err != nil {
		w.t.Skip("loopback answers to one address only: ", err) // darwin
	}
	w.filter.ServeTransparent(l, port)
	return l.Addr().String()
}

func TestTransparent(t *testing.T) {
	w := tunnelWorld(t)
	web := w.transparent("good.test", 80)
	for send, status := range map[string]int{
		"GET /a HTTP/1.1\r\nHost: good.test\r\n\r\n": 200, "GET /b HTTP/1.1\r\nHost: read.test\r\n\r\n": 400, "GET /c HTTP/1.0\r\n\r\n": 200,
		"GET http://good.test/d HTTP/1.1\r\nHost: x\r\n\r\n": 200, "GET http://bad.test/e HTTP/1.1\r\nHost: good.test\r\n\r\n": 400,
		"GET http:http://bad.test/f HTTP/1.1\r\nHost: good.test\r\n\r\n": 400, "GET http:bad.test:80 HTTP/1.1\r\nHost: good.test\r\n\r\n": 400,
	} {
		if got, body := dialPeer(t, web).send(send).answer("GET"); got != status {
			t.Errorf("%q: %d %s", send, got, body)
		}
	}
	w.said()
	secure := w.transparent("good.test", 443)
	for name, want := range map[string]bool{"good.test": true, "read.test": false} {
		p := dialPeer(t, secure)
		if _, err := p.tls(name, w.roots); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	opened := dialPeer(t, w.transparent("read.test", 443))
	c, err := opened.tls("read.test", tlsConfig(w).RootCAs)
	if err != nil {
		t.Fatal(err)
	}
	in := &peer{t, c, newReader(c)}
	for i, method := range []string{"GET", "POST"} {
		got, body := in.send(method + " / HTTP/1.1\r\nHost: read.test\r\nContent-Length: 0\r\n\r\n").answer(method)
		if want := []int{200, 403}[i]; got != want {
			t.Error(method, got, body)
		}
	}
	p := dialPeer(t, w.transparent("ssh.test", 22)).send("hi")
	p.Conn.(*net.TCPConn).CloseWrite()
	if got := p.rest(); got != "SSH-2.0-x\r\nhi" {
		t.Errorf("%q", got)
	}
}

func TestTransparentRefuses(t *testing.T) {
	w := tunnelWorld(t)
	if status, body := dialPeer(t, w.transparent("bad.test", 80)).send("GET / HTTP/1.1\r\nHost: bad.test\r\n\r\n").answer("GET"); status != 403 {
		t.Error(status, body)
	}
	if got := dialPeer(t, w.transparent("bad.test", 443)).send(string(helloFor(t, "bad.test"))).rest(); got != "\x15\x03\x03\x00\x02\x02\x31" {
		t.Errorf("alert %q", got)
	}
	if got := dialPeer(t, w.transparent("bad.test", 22)).rest(); got != "" {
		t.Errorf("%q", got)
	}
	// Addresses that stand for nothing.
	for addr, why := range map[string]string{"127.0.0.1": "nothing listens there inside of the sandbox, whose loopback is not this machine's\nto allow it, in sidecar's configuration: network.allowed_ports: [80]", "127.66.200.1": "inside of the sandbox this address is that of a name that was looked up, and none was for it"} {
		status, body := dialPeer(t, w.transparentAt(addr, 80)).send("GET / HTTP/1.1\r\nHost: good.test\r\n\r\n").answer("GET")
		if want := fmt.Sprintf("sidecar: a connection to %s:80 was denied: %s\n", addr, why); status != 403 || body != want {
			t.Error(status, body)
		}
		if got := dialPeer(t, w.transparentAt(addr, 443)).send(string(helloFor(t, "good.test"))).rest(); got != "\x15\x03\x03\x00\x02\x02\x31" {
			t.Errorf("alert %q", got)
		}
	}
	if heard := w.said(); heard != nil {
		t.Error(heard)
	}
}

// TestLocalPorts: the port of the host and nothing else, whatever the rules are.
func TestLocalPorts(t *testing.T) {
	w := newWorld(t, Closed())
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		host, err := net.Listen("tcp", at)
		if err != nil {
			t.Skip("no ", at)
		}
		defer host.Close()
		go func() {
			for c, err := host.Accept(); err == nil; c, err = host.Accept() {
				go echo(c)
			}
		}()
		port := netip.MustParseAddrPort(host.Addr().String()).Port()
		l := listen(t, "127.0.0.1:0")
		w.filter.ServeLocal(l, port)
		p := dialPeer(t, l.Addr().String()).send("hello")
		p.Conn.(*net.TCPConn).CloseWrite()
		if got := p.rest(); got != "hello" {
			t.Errorf("%s: %q", at, got)
		}
		for _, to := range []string{"127.0.0.1", "localhost", "[::1]", "0x7f.1"} {
			if status, _ := w.dial().connect(fmt.Sprintf("%s:%d", to, port)); status != 403 {
				t.Error("through the proxy:", to, status)
			}
		}
	}
	l := listen(t, "127.0.0.1:0")
	w.filter.ServeLocal(l, 1)
	if got := dialPeer(t, l.Addr().String()).rest(); got != "" {
		t.Errorf("%q", got)
	}
	want := map[string]int{}
	for _, d := range w.filter.Denials() {
		want[d.Setting]++
	}
	if len(want) == 0 || want[""] > 0 {
		t.Error(want)
	}
}

// TestGoClientKnowsNoProxy is a whole client that resolves by the filter and connects to what it was told.
func TestGoClientKnowsNoProxy(t *testing.T) {
	w := tunnelWorld(t)
	at := map[string]string{"good.test:80": w.transparent("good.test", 80), "good.test:443": w.transparent("good.test", 443)}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: w.roots}}
	defer tr.CloseIdleConnections()
	tr.Dial = func(_, addr string) (net.Conn, error) { return net.Dial("tcp", at[addr]) } //nolint:staticcheck // the shortest
	var got []string
	for _, u := range []string{"http://good.test/1", "https://good.test/2"} {
		r, err := (&http.Client{Transport: tr}).Get(u)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(r.Body)
		r.Body.Close()
		got = append(got, string(b))
	}
	if diff := cmp.Diff([]string{"GET good.test/1 ", "GET good.test/2 "}, got); diff != "" {
		t.Error(diff)
	}
}

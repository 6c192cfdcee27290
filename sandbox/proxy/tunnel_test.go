package proxy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// helloFor returns the bytes of a real ClientHello.
func helloFor(t testing.TB, name string) []byte {
	t.Helper()
	client, server := net.Pipe()
	go func() {
		tls.Client(client, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
	}()
	defer client.Close()
	raw, _, err := readHello(server)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// records splits the message of a ClientHello over records of n bytes each.
func records(raw []byte, n int) []byte {
	var out []byte
	for body := raw[5:]; len(body) > 0; body = body[min(n, len(body)):] {
		part := body[:min(n, len(body))]
		out = append(append(out, 22, 3, 1, byte(len(part)>>8), byte(len(part))), part...)
	}
	return out
}

// extension makes a server_name extension of names.
func extension(names ...string) []byte {
	var list []byte
	for _, n := range names {
		list = append(append(list, 0, byte(len(n)>>8), byte(len(n))), n...)
	}
	list = append([]byte{byte(len(list) >> 8), byte(len(list))}, list...)
	return append([]byte{0, 0, byte(len(list) >> 8), byte(len(list))}, list...)
}

// handmade makes a ClientHello with these extensions.
func handmade(extensions []byte) []byte {
	body := append([]byte{3, 3}, make([]byte, 32)...)
	body = append(body, 0, 0, 2, 0x13, 1, 1, 0)
	if extensions != nil {
		body = append(append(body, byte(len(extensions)>>8), byte(len(extensions))), extensions...)
	}
	msg := append([]byte{1, byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body))}, body...)
	return append([]byte{22, 3, 1, byte(len(msg) >> 8), byte(len(msg))}, msg...)
}

func TestClientHello(t *testing.T) {
	real := helloFor(t, "good.test")
	for _, test := range []struct {
		name string
		in   []byte
		want string
	}{
		{"real", real, "good.test"}, {"in records of one byte", records(real, 1), "good.test"}, {"in records of 100", records(real, 100), "good.test"},
		{"real without a name", helloFor(t, ""), ""}, {"handmade", handmade(extension("a.test")), "a.test"},
		{"no extensions", handmade(nil), ""}, {"empty extensions", handmade([]byte{}), ""},
		{"two names", handmade(extension("a.test", "b.test")), "!a malformed ClientHello"},
		{"two extensions", handmade(append(extension("a.test"), extension("b.test")...)), "!a malformed ClientHello"},
		{"empty name", handmade(extension("")), "!a malformed ClientHello"}, {"no name in it", handmade(extension()), "!a malformed ClientHello"},
		{"cut extension", handmade([]byte{0, 0, 0, 9, 1}), "!a malformed ClientHello"},
		{"huge", handmade(append([]byte{0xfa, 0xfa, 0x90, 0}, make([]byte, 0x9000)...)), "!a ClientHello of unreasonable size"},
		{"endless records", bytes.Repeat([]byte{22, 3, 1, 0, 1, 1}, 10000), "!a ClientHello of unreasonable size"},
		{"empty record", []byte{22, 3, 1, 0, 0}, "!a ClientHello of unreasonable size"},
		{"ServerHello", []byte{22, 3, 1, 0, 4, 2, 0, 0, 0}, "!this is not TLS"}, {"HTTP", []byte("GET / HTTP/1.1\r\n"), "!this is not TLS"},
		{"SSH", []byte("SSH"), "!this is not TLS"}, {"SSLv2", []byte{0x80, 0x2e, 1, 0, 2}, "!this is not TLS"}, {"alert", []byte{21, 3, 1, 0, 2, 1, 0}, "!this is not TLS"},
		{"half", real[:100], "!half a ClientHello came: unexpected EOF"}, {"nothing", nil, "!no ClientHello came: EOF"},
	} {
		raw, got, err := readHello(bytes.NewReader(test.in))
		if err != nil {
			got = "!" + err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if !bytes.HasPrefix(test.in, raw) {
			t.Errorf("%s: what was read is not what came", test.name)
		}
	}
}

// tunnelWorld allows names with and without methods, and has servers that speak TLS, and ones that echo.
func tunnelWorld(t *testing.T, change ...func(*world, *Options)) *world {
	w := newWorld(t, mustMethods(t, map[string][]string{"good.test": {"*"}, "read.test": {"GET"}, "ssh.test:22": {"*"}, "odd.test:9": {"GET"},
		"8.8.8.8": {"*"}}), change...)
	for _, name := range []string{"good.test", "read.test", "bad.test"} {
		w.serve(name, w.site)
	}
	w.serveRaw("ssh.test", 22, func(c net.Conn) { io.WriteString(c, "SSH-2.0-x\r\n"); echo(c) })
	w.serveRaw("odd.test", 9, w.recorder)
	return w
}

// TestServerNameOnOtherPorts: there anything passes, and whoever begins, but TLS for another server.
func TestServerNameOnOtherPorts(t *testing.T) {
	w := newWorld(t, mustAllow(t, "good.test:8443", "mail.test:25"), func(_ *world, o *Options) { o.Patience = 300 * time.Millisecond })
	w.serveRaw("good.test", 8443, echo)
	w.serveRaw("mail.test", 25, func(c net.Conn) { io.WriteString(c, "220 hello\r\n"); echo(c) })
	alert, good, nameless := "\x15\x03\x03\x00\x02\x02\x70", string(helloFor(t, "good.test")), string(helloFor(t, ""))
	for _, test := range []struct{ name, send, rest string }{
		{"its name", good, good},
		{"in many records", string(records([]byte(good), 7)), string(records([]byte(good), 7))},
		{"no name", nameless, nameless},
		{"another name", string(helloFor(t, "bad.test")), alert},
		{"two names", string(handmade(extension("good.test", "bad.test"))), alert},
		{"half a hello", good[:50], alert},
		{"no TLS", "hello", "hello"},
		{"no TLS that begins alike", "\x16\x01 and more", "\x16\x01 and more"},
		{"nothing", "", ""},
	} {
		p := w.dial()
		if status, body := p.connect("good.test:8443"); status != 200 {
			t.Fatal(status, body)
		}
		if p.send(test.send); test.name != "half a hello" {
			p.Conn.(*net.TCPConn).CloseWrite()
		}
		if got := p.rest(); got != test.rest {
			t.Errorf("%s: %q, want %q", test.name, got, test.rest)
		}
	}
	if diff := cmp.Diff([]string{"good.test:8443  the TLS handshake names another server, bad.test"}, w.why()); diff != "" {
		t.Error(diff)
	}
	p := w.dial()
	p.connect("mail.test:25")
	if line, err := p.r.ReadString('\n'); line != "220 hello\r\n" {
		t.Errorf("the server began: %q %v", line, err)
	}
	time.Sleep(400 * time.Millisecond) // no patience is lost while nobody speaks
	p.send("QUIT\r\n")
	if line, err := p.r.ReadString('\n'); line != "QUIT\r\n" {
		t.Errorf("%q %v", line, err)
	}
}

func TestServerName(t *testing.T) {
	w := tunnelWorld(t, func(_ *world, o *Options) { o.Patience = 300 * time.Millisecond })
	alert := "\x15\x03\x03\x00\x02\x02\x70"
	for _, test := range []struct {
		name, to string
		send     []byte
		rest     string
		denied   []string
	}{
		{"another name", "good.test:443", helloFor(t, "bad.test"), alert, []string{"good.test:443  the TLS handshake names another server, bad.test"}},
		{"a subdomain", "good.test:443", helloFor(t, "a.good.test"), alert, []string{"good.test:443  the TLS handshake names another server, a.good.test"}},
		{"another name, opened", "read.test:443", helloFor(t, "good.test"), alert, []string{"read.test:443  the TLS handshake names another server, good.test"}},
		{"no name", "good.test:443", helloFor(t, ""), alert, []string{"good.test:443  the TLS handshake names no server"}},
		{"two names", "good.test:443", handmade(extension("good.test", "bad.test")), alert, nil},
		{"HTTP", "good.test:443", []byte("GET / HTTP/1.1\r\nHost: good.test\r\n\r\n"), alert, []string{"good.test:443  what came is not TLS"}},
		{"HTTP, opened", "read.test:443", []byte("GET / HTTP/1.1\r\nHost: read.test\r\n\r\n"), alert, []string{"read.test:443  what came is not TLS"}},
		{"SSH", "good.test:443", []byte("SSH-2.0-x\r\n"), alert, []string{"good.test:443  what came is not TLS"}},
		{"silence", "good.test:443", nil, alert, nil},
		{"silence, opened", "read.test:443", nil, "", nil},
		{"half a hello", "good.test:443", helloFor(t, "good.test")[:50], alert, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			w.t = t
			w.filter.log = newDenials(nil)
			p := w.dial()
			if status, body := p.connect(test.to); status != 200 {
				t.Fatal(status, body)
			}
			p.send(string(test.send))
			if got := p.rest(); got != test.rest {
				t.Errorf("got %q, want %q", got, test.rest)
			}
			var want []string
			for _, d := range test.denied {
				want = append(want, strings.TrimSpace(d))
			}
			if diff := cmp.Diff(want, w.why()); diff != "" {
				t.Error(diff)
			}
		})
	}
	if heard := w.said(); heard != nil {
		t.Error("servers got", heard)
	}
}

// TestSplitHello sends a hello byte by byte, and in small records: both are put together.
func TestSplitHello(t *testing.T) {
	w := tunnelWorld(t)
	w.serveRaw("good.test", 443, echo)
	for _, hello := range [][]byte{helloFor(t, "GOOD.test"), records(helloFor(t, "good.test"), 7)} {
		p := w.dial()
		p.connect("good.test:443")
		for _, b := range hello {
			p.send(string([]byte{b}))
		}
		got := make([]byte, len(hello))
		if _, err := io.ReadFull(p.r, got); err != nil || !bytes.Equal(got, hello) {
			t.Errorf("echoed %d bytes, %v", len(got), err)
		}
	}
}

func TestTunnels(t *testing.T) {
	w := tunnelWorld(t)
	p := w.dial()
	p.connect("ssh.test:22")
	p.send("hi")
	p.Conn.(*net.TCPConn).CloseWrite()
	if got := p.rest(); got != "SSH-2.0-x\r\nhi" {
		t.Errorf("raw: %q", got)
	}
	p = w.dial()
	p.connect("good.test:443")
	if c, err := p.tls("good.test", w.roots); err != nil {
		t.Error("unopened TLS is not the server's own:", err)
	} else {
		c.Close()
	}
	// Bytes that come with the CONNECT, before its answer, belong to the tunnel.
	p = w.dial().send("CONNECT ssh.test:22 HTTP/1.1\r\nHost: ssh.test:22\r\n\r\nearly")
	p.answer("CONNECT")
	p.Conn.(*net.TCPConn).CloseWrite()
	if got := p.rest(); got != "SSH-2.0-x\r\nearly" {
		t.Errorf("early: %q", got)
	}
	// A port with methods is HTTP, in clear or not.
	p = w.dial()
	p.connect("odd.test:9")
	if status, _ := p.send("GET / HTTP/1.1\r\nHost: odd.test:9\r\n\r\n").answer("GET"); status != 200 {
		t.Error(status)
	}
	if status, _ := p.send("POST / HTTP/1.1\r\nHost: odd.test:9\r\nContent-Length: 0\r\n\r\n").answer("POST"); status != 403 {
		t.Error(status)
	}
}

// TestOpened holds that what was opened stays with its host, and shows a certificate of the run's authority for it.
func TestOpened(t *testing.T) {
	w := tunnelWorld(t)
	p := w.dial()
	p.connect("read.test:443")
	if _, err := p.tls("read.test", w.roots); err == nil {
		t.Error("the server's own certificate came")
	}
	p = w.dial()
	p.connect("read.test:443")
	c := tls.Client(&buffered{p.Conn, p.r}, &tls.Config{ServerName: "read.test", RootCAs: tlsConfig(w).RootCAs, NextProtos: []string{"h2", "http/1.1"}})
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	if got := c.ConnectionState().NegotiatedProtocol; got != "http/1.1" {
		t.Error("ALPN", got)
	}
	in := &peer{t, c, newReader(c)}
	for _, test := range []struct {
		send   string
		status int
	}{
		{"GET /1 HTTP/1.1\r\nHost: read.test\r\n\r\n", 200}, {"GET /2 HTTP/1.1\r\nHost: read.test:443\r\n\r\n", 200},
		{"GET https://read.test/3 HTTP/1.1\r\nHost: bad.test\r\n\r\n", 200}, {"GET /4 HTTP/1.1\r\nHost: good.test\r\n\r\n", 400},
	} {
		if status, body := in.send(test.send).answer("GET"); status != test.status {
			t.Errorf("%q: %d %s", test.send, status, body)
		}
	}
	if diff := cmp.Diff([]string{"GET read.test/1 ", "GET read.test/2 ", "GET read.test/3 "}, w.said()); diff != "" {
		t.Error(diff)
	}
}

// TestUpstreamIsVerified: where TLS is opened, the server has to be who it says.
func TestUpstreamIsVerified(t *testing.T) {
	w := tunnelWorld(t)
	w.hosts["read.test:443"] = w.hosts["bad.test:443"]
	status, body := get(t, w.client(), "GET", "https://read.test/")
	if status != 502 || !strings.Contains(body, "certificate is valid for bad.test, not read.test") || w.said() != nil {
		t.Error(status, body)
	}
}

// TestAddressTunnels: a tunnel to an address may name no server, or one that is allowed.
func TestAddressTunnels(t *testing.T) {
	var dialled []string
	w := tunnelWorld(t, func(w *world, o *Options) {
		o.Dial = dialTo(w, func(to netip.AddrPort) string { dialled = append(dialled, to.String()); return "good.test:443" })
	})
	for name, want := range map[string]bool{"": true, "good.test": true, "bad.test": false, "read.test": false} {
		p := w.dial()
		if status, body := p.connect("0x8.8.2056:443"); status != 200 {
			t.Fatal(status, body)
		}
		c := tls.Client(&buffered{p.Conn, p.r}, &tls.Config{ServerName: name, InsecureSkipVerify: true})
		if err := c.Handshake(); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
	if dialled[0] != "8.8.8.8:443" {
		t.Error(dialled)
	}
}

func TestRefusalsAreErrors(t *testing.T) {
	var err error = &refusal{asked: "a", why: "b", setting: "c"}
	if r := new(refusal); !errors.As(err, &r) || err.Error() != "sidecar: a was denied: b\nto allow it, in sidecar's configuration: c" {
		t.Error(err)
	}
}

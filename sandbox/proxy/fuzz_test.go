package proxy

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// FuzzParseRule: what is taken reads back as itself, and never means this machine or a cloud's metadata.
func FuzzParseRule(f *testing.F) {
	for _, s := range []string{"example.com", "*.a.example:8443", "*", "*:1", "[fd00::1]:80", "fd00::1", "10.0.0.1", "BÜCHER.example.", "0x7f.1", "localhost."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rules, err := Allow(s)
		if err != nil {
			return
		}
		again, err := Allow(rules.String())
		if err != nil || again.String() != rules.String() {
			t.Errorf("%q: %q, then %q, %v", s, rules, again, err)
		}
		for _, bad := range []string{"127.0.0.1", "localhost", "::1", "169.254.169.254", "metadata.google.internal", "0.0.0.0"} {
			host, _ := ParseHost(bad)
			for _, port := range []uint16{80, 443, 8443, 1} {
				if rules.Decide(Target{Host: host, Port: port}).Allowed {
					t.Errorf("%q allows %s", s, bad)
				}
			}
		}
	})
}

// FuzzDecideHost: a host that passes for good.example is no other to a URL's reader, and one that passes as a name is no
// address to inet_aton.
func FuzzDecideHost(f *testing.F) {
	for _, s := range []string{"good.example", "GOOD.example.", "a.good.example", "good.example@bad", "good.example/", "0x7f.1", "127.1", "[::1]", "good.example:80", "ｇood.example"} {
		f.Add(s)
	}
	rules, err := Allow("good.example")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, err := ParseHost(s)
		if err != nil {
			return
		}
		if again, err := ParseHost(host.String()); err != nil || again != host {
			t.Errorf("%q: %v, then %v, %v", s, host, again, err)
		}
		if (host.Name == "") == !host.Addr.IsValid() {
			t.Errorf("%q is both or neither", s)
		}
		if _, err := netip.ParseAddr(host.Name); err == nil {
			t.Errorf("%q is an address that passes as a name", s)
		}
		if v := rules.Decide(Target{Host: host, Port: 80}); v.Allowed && host.Name != "good.example" && !strings.HasSuffix(host.Name, ".good.example") {
			t.Errorf("%q passes as %s", s, host)
		}
		if u, err := url.Parse("http://" + Target{Host: host, Port: 80}.hostPort() + "/"); err != nil || u.Port() != "80" || u.Hostname() != host.String() {
			t.Errorf("%q as a URL: %v, %v", s, u, err)
		}
	})
}

// FuzzClientHello: nothing that is read is lost, and no name that could not be one of a record is made up.
func FuzzClientHello(f *testing.F) {
	real := helloFor(f, "good.test")
	for _, b := range [][]byte{real, records(real, 9), handmade(extension("a", "b")), handmade(nil), []byte("GET /"), real[:60]} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		raw, name, err := readHello(bytes.NewReader(in))
		if !bytes.HasPrefix(in, raw) || len(raw) > mostHello+5 {
			t.Errorf("read %d bytes of %d", len(raw), len(in))
		}
		if err != nil && name != "" || len(name) > len(in) {
			t.Errorf("%q, %v", name, err)
		}
		// A server has to read the same name: two readings are a way past the rules.
		if theirs, read := nameToServer(raw); read && err == nil && theirs != name {
			t.Errorf("%q is read here, and %q by crypto/tls", name, theirs)
		}
	})
}

// heard is a connection on which some bytes have come, and nothing can be sent.
type heard struct {
	net.Conn
	io.Reader
}

func (h heard) Read(b []byte) (int, error)  { return h.Reader.Read(b) }
func (h heard) Write(b []byte) (int, error) { return len(b), nil }
func (h heard) Close() error                { return nil }

// nameToServer is the server name that crypto/tls reads, and whether it read a hello at all.
func nameToServer(raw []byte) (name string, read bool) {
	server := tls.Server(heard{Reader: bytes.NewReader(raw)}, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		name, read = h.ServerName, true
		return nil, io.EOF
	}})
	_ = server.Handshake()
	return name, read
}

// FuzzDNS: whatever comes, what goes back is a whole reply to it, or nothing.
func FuzzDNS(f *testing.F) {
	f.Add(query(f, "good.test.", dnsmessage.TypeA))
	f.Add(query(f, "a.bad.test.", dnsmessage.TypeAAAA))
	f.Add(append(query(f, "good.test.", dnsmessage.TypeA)[:12], 0xc0, 12, 0, 1, 0, 1))
	rules, err := Allow("good.test")
	if err != nil {
		f.Fatal(err)
	}
	filter, err := New(Options{Rules: rules})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out := filter.answer(in)
		if out == nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(out); err != nil || !m.Response || !bytes.Equal(out[:2], in[:2]) || len(out) > 600 {
			t.Errorf("%x: %v", out, err)
		}
		if len(m.Answers) > 0 && !strings.HasSuffix(strings.ToLower(m.Questions[0].Name.String()), "good.test.") {
			t.Errorf("an address for %s", m.Questions[0].Name)
		}
	})
}

// A rule holds for its name and the names below it, and nothing else: never for a name that merely ends or begins like it,
// and never for an address, whatever notation it is written in, unless that very address is named.
func FuzzBoundaries(f *testing.F) {
	for _, s := range [][2]string{{"good.example", "notgood.example"}, {"good.example", "good.example.bad"}, {"*.good.example", "good.example"}, {"example", "good.example."}, {"com", "com"}, {"8.8.8.8", "8.8.8.8"},
		{"8.8.8.8", "0x08080808"}, {"good.example", "0x7f.1"}, {"10.0.0.1", "10.1"}, {"xn--bcher-kva.example", "BÜCHER.example"}, {"a.b", "a\u3002b"}, {"good.example:8443", "good.example"}, {"_x.y", "z._X.Y"}, {"fd00::1", "[fd00::1]"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, rule, asked string) {
		rules, err := Allow(rule)
		if err != nil || strings.HasPrefix(rule, "*") && !strings.HasPrefix(rule, "*.") || rule == "*" {
			return
		}
		written, below := strings.CutPrefix(rule, "*.")
		if written, _, err = splitEntry(written); err != nil {
			return
		}
		name, err := ParseHost(written)
		if err != nil {
			t.Fatalf("%q is a rule, and no host: %v", rule, err)
		}
		host, err := ParseHost(asked)
		if err != nil {
			return
		}
		has, wants := strings.Split(name.String(), "."), strings.Split(host.String(), ".")
		covers := host == name && !below || host.Name != "" && name.Name != "" && len(wants) > len(has) && slices.Equal(wants[len(wants)-len(has):], has)
		for _, port := range []uint16{80, 443, 8443, 22} {
			if v := rules.Decide(Target{Host: host, Port: port}); v.Allowed && !covers {
				t.Errorf("%q opens %q, port %d", rule, asked, port)
			}
		}
	})
}

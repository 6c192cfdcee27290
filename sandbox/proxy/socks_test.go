package proxy

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// socksTo sends a greeting and a request, and returns the reply's code, 0xfe if none came.
func (p *peer) socksTo(kind byte, address []byte, port uint16) byte {
	p.t.Helper()
	p.Write([]byte{5, 1, 0})
	if got := p.bytes(2); string(got) != "\x05\x00" {
		p.t.Fatalf("greeting: %q", got)
	}
	p.Write(binary.BigEndian.AppendUint16(append([]byte{5, 1, 0, kind}, address...), port))
	if got := p.bytes(10); len(got) == 10 {
		return got[1]
	}
	return 0xfe
}

// bytes reads n bytes, or as many as come.
func (p *peer) bytes(n int) []byte {
	b := make([]byte, n)
	n, _ = io.ReadFull(p.r, b)
	return b[:n]
}

func named(s string) []byte { return append([]byte{byte(len(s))}, s...) }

func TestSOCKS(t *testing.T) {
	w := tunnelWorld(t, func(w *world, o *Options) {
		o.Dial = dialTo(w, func(netip.AddrPort) string { return "ssh.test:22" })
	})
	w.hosts["dead.good.test:443"] = netip.MustParseAddrPort("127.0.0.1:1")
	stand, _ := w.filter.names.address("good.test")
	for _, test := range []struct {
		name    string
		kind    byte
		address []byte
		port    uint16
		want    byte
	}{
		{"name", 3, named("ssh.test"), 22, 0}, {"name in capitals", 3, named("SSH.test."), 22, 0}, {"port", 3, named("ssh.test"), 23, 2},
		{"name denied", 3, named("bad.test"), 443, 2}, {"IPv4", 1, []byte{8, 8, 8, 8}, 443, 0}, {"IPv4 denied", 1, []byte{9, 9, 9, 9}, 443, 2},
		{"loopback", 1, []byte{127, 0, 0, 1}, 443, 2}, {"IPv6", 4, netip.MustParseAddr("::1").AsSlice(), 443, 2},
		{"mapped", 4, netip.MustParseAddr("::ffff:8.8.8.8").AsSlice(), 443, 0}, {"address as name", 3, named("0x8.8.8.8"), 443, 0},
		{"loopback as name", 3, named("0x7f.1"), 443, 2}, {"address that stands for a name", 1, stand.AsSlice(), 443, 0},
		{"no such name", 3, named("nx.good.test"), 443, 4}, {"nobody listens", 3, named("dead.good.test"), 443, 5},
		{"empty name", 3, named(""), 443, 2}, {"NUL", 3, named("good.test\x00.bad"), 443, 2}, {"port 0", 3, named("good.test"), 0, 2},
		{"unknown kind", 9, nil, 443, 8},
	} {
		if got := w.dial().socksTo(test.kind, test.address, test.port); got != test.want {
			t.Errorf("%s: reply %d, want %d", test.name, got, test.want)
		}
	}
	p := w.dial()
	p.socksTo(3, named("ssh.test"), 22)
	p.send("hi").Conn.(*net.TCPConn).CloseWrite()
	if got := p.rest(); got != "SSH-2.0-x\r\nhi" {
		t.Errorf("%q", got)
	}
}

func TestSOCKSGreetings(t *testing.T) {
	w := tunnelWorld(t)
	for send, want := range map[string]string{
		"\x05\x01\x02\x01\x01u\x01p\x05\x01\x00\x03\x08ssh.test\x00\x16": "\x05\x02\x01\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00SSH-2.0-x\r\n",
		"\x05\x02\x02\x00\x05\x01\x00\x03\x08ssh.test\x00\x16":           "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00SSH-2.0-x\r\n",
		"\x05\x01\x01": "\x05\xff", "\x05\x00": "\x05\xff", "\x04\x01\x00\x50\x01\x02\x03\x04\x00": "",
		"\x05\x01\x00\x05\x02\x00\x01\x01\x01\x01\x01\x00\x50": "\x05\x00\x05\x07\x00\x01\x00\x00\x00\x00\x00\x00", // BIND
		"\x05\x01\x00\x05\x03\x00\x01\x01\x01\x01\x01\x00\x50": "\x05\x00\x05\x07\x00\x01\x00\x00\x00\x00\x00\x00", // UDP
		"\x05\x01\x00\x04\x01\x00\x01\x01\x01\x01\x01\x00\x50": "\x05\x00\x05\x07\x00\x01\x00\x00\x00\x00\x00\x00",
	} {
		p := w.dial().send(send)
		if got := string(p.bytes(len(want))); got != want {
			t.Errorf("%q: %q, want %q", send, got, want)
		}
		if !strings.HasSuffix(want, "\n") && p.rest() != "" {
			t.Errorf("%q: more than %q", send, want)
		}
	}
}

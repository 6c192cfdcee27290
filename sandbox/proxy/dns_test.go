package proxy

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"
)

func query(t testing.TB, name string, kind dnsmessage.Type, change ...func(*dnsmessage.Message)) []byte {
	t.Helper()
	n, err := dnsmessage.NewName(name)
	if err != nil {
		t.Fatal(err)
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: n, Type: kind, Class: dnsmessage.ClassINET}}}
	for _, f := range change {
		f(&m)
	}
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// reply puts an answer in words.
func reply(b []byte) string {
	if b == nil {
		return "nothing"
	}
	var m dnsmessage.Message
	if err := m.Unpack(b); err != nil {
		return err.Error()
	}
	out := strings.TrimPrefix(m.RCode.String(), "RCode")
	if m.ID != 7 && m.ID != 0 || !m.Response || m.Authoritative {
		out += fmt.Sprintf(" id %d", m.ID)
	}
	for _, q := range m.Questions {
		out += " " + q.Name.String()
	}
	for _, a := range m.Answers {
		out += " " + netip.AddrFrom4(a.Body.(*dnsmessage.AResource).A).String()
	}
	return out
}

func TestDNS(t *testing.T) {
	w := newWorld(t, mustAllow(t, "good.test", "odd.test:9"))
	A, AAAA := dnsmessage.TypeA, dnsmessage.TypeAAAA
	good := query(t, "good.test.", A)
	for _, test := range []struct {
		name, want string
		send       []byte
	}{
		{"allowed", "Success good.test. 127.66.0.1", good},
		{"another", "Success a.good.test. 127.66.0.2", query(t, "a.good.test.", A)},
		{"the same, in other letters", "Success gOOd.TEST. 127.66.0.1", query(t, "gOOd.TEST.", A)},
		{"on some port", "Success odd.test. 127.66.0.3", query(t, "odd.test.", A)},
		{"ANY", "Success good.test. 127.66.0.1", query(t, "good.test.", dnsmessage.TypeALL)},
		{"AAAA", "Success good.test.", query(t, "good.test.", AAAA)},
		{"HTTPS, with its keys for ECH", "Success good.test.", query(t, "good.test.", 65)},
		{"TXT", "Success good.test.", query(t, "good.test.", dnsmessage.TypeTXT)},
		{"SRV", "Success _http._tcp.good.test.", query(t, "_http._tcp.good.test.", dnsmessage.TypeSRV)},
		{"denied", "NameError bad.test.", query(t, "bad.test.", A)},
		{"denied AAAA", "NameError bad.test.", query(t, "bad.test.", AAAA)},
		{"denied TXT, which nobody missed", "NameError secret.bad.test.", query(t, "secret.bad.test.", dnsmessage.TypeTXT)},
		{"no label border", "NameError notgood.test.", query(t, "notgood.test.", A)},
		{"localhost", "NameError localhost.", query(t, "localhost.", A)},
		{"an address", "NameError 1.2.3.4.", query(t, "1.2.3.4.", A)},
		{"root", "NameError .", query(t, ".", A)},
		{"no letters of a name", "NameError a b.good.test.", query(t, "a b.good.test.", A)},
		{"reverse", "NameError 1.0.66.127.in-addr.arpa.", query(t, "1.0.66.127.in-addr.arpa.", dnsmessage.TypePTR)},
		{"class", "Refused good.test.", query(t, "good.test.", A, func(m *dnsmessage.Message) { m.Questions[0].Class = dnsmessage.ClassCHAOS })},
		{"two questions", "FormatError", query(t, "good.test.", A, func(m *dnsmessage.Message) { m.Questions = append(m.Questions, m.Questions[0]) })},
		{"no question", "FormatError", query(t, "good.test.", A, func(m *dnsmessage.Message) { m.Questions = nil })},
		{"update", "NotImplemented", query(t, "good.test.", A, func(m *dnsmessage.Message) { m.OpCode = 5 })},
		{"a reply", "nothing", query(t, "good.test.", A, func(m *dnsmessage.Message) { m.Response = true })},
		{"less than a header", "nothing", good[:11]}, {"empty", "nothing", nil}, {"half a question", "FormatError", good[:20]},
		{"a name that points at itself", "FormatError", append(append([]byte{}, good[:12]...), 0xc0, 12, 0, 1, 0, 1)},
		{"names that point at each other", "FormatError", append(append([]byte{}, good[:12]...), 0xc0, 14, 0xc0, 12, 0, 1, 0, 1)},
		{"65535 questions", "FormatError", append(append(append([]byte{}, good[:4]...), 0xff, 0xff), good[6:]...)},
		{"EDNS", "Success good.test. 127.66.0.1", query(t, "good.test.", A, func(m *dnsmessage.Message) {
			m.Additionals = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName("."), Type: dnsmessage.TypeOPT, Class: 4096}, Body: &dnsmessage.OPTResource{}}}
		})},
	} {
		if got := reply(w.filter.answer(test.send)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	want := []string{"bad.test:0  no rule allows bad.test", "notgood.test:0  no rule allows notgood.test", "localhost:0  localhost is this machine itself"}
	if diff := cmp.Diff(want, w.why()); diff != "" {
		t.Error(diff)
	}
}

func TestNamesAreBounded(t *testing.T) {
	n := newNames()
	for i := range mostNames {
		if _, ok := n.address(fmt.Sprint("n", i)); !ok {
			t.Fatal(i)
		}
	}
	if _, ok := n.address("more"); ok {
		t.Error("no end")
	}
	for _, i := range []int{0, 254, 255, 256, mostNames - 1} {
		addr, _ := n.address(fmt.Sprint("n", i))
		if name, ok := n.name(addr); !ok || name != fmt.Sprint("n", i) {
			t.Error(i, addr, name)
		}
	}
	for _, s := range []string{"127.66.0.0", "127.66.255.255", "127.0.0.1", "::1"} {
		if name, ok := n.name(netip.MustParseAddr(s)); ok {
			t.Error(s, name)
		}
	}
}

// TestResolvers asks with Go's own resolver, over UDP and TCP.
func TestResolvers(t *testing.T) {
	w := newWorld(t, mustAllow(t, "good.test"))
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp := listen(t, "127.0.0.1:0")
	w.filter.ServeDNS(udp)
	w.filter.ServeDNSStream(tcp)
	for network, at := range map[string]net.Addr{"udp": udp.LocalAddr(), "tcp": tcp.Addr()} {
		r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, at.String())
		}}
		got, err := r.LookupNetIP(t.Context(), "ip", "good.test.")
		if err != nil || fmt.Sprint(got) != "[127.66.0.1]" {
			t.Error(network, got, err)
		}
		if _, err := r.LookupNetIP(t.Context(), "ip", "bad.test."); err == nil || !err.(*net.DNSError).IsNotFound {
			t.Error(network, err)
		}
	}
	// A stream that promises more than it sends ends with the filter's patience, one of many queries goes on.
	p := dialPeer(t, tcp.Addr().String())
	q := query(t, "good.test.", dnsmessage.TypeA)
	for range 3 {
		p.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(q))), q...))
		size := p.bytes(2)
		if got := reply(p.bytes(int(binary.BigEndian.Uint16(size)))); got != "Success good.test. 127.66.0.1" {
			t.Error(got)
		}
	}
	hasty := newWorld(t, Closed(), func(_ *world, o *Options) { o.Patience = 50 * time.Millisecond })
	tcp = listen(t, "127.0.0.1:0")
	hasty.filter.ServeDNSStream(tcp)
	if p := dialPeer(t, tcp.Addr().String()).send("\xff\xffabc"); p.rest() != "" {
		t.Error("an answer to half a query")
	}
}

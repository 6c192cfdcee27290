package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// zone answers names with fixed addresses, and counts how often it is asked.
type zone struct {
	names map[string]string
	asked int
}

func (z *zone) resolve(_ context.Context, name string) ([]netip.Addr, error) {
	z.asked++
	var out []netip.Addr
	for _, s := range []string{z.names[name], z.names[name+" 2"]} {
		if s != "" {
			out = append(out, netip.MustParseAddr(s))
		}
	}
	if out == nil {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return out, nil
}

// TestAddressesOfNames has the addresses that names turn out to have: what is dialled, or the status that comes back.
func TestAddressesOfNames(t *testing.T) {
	z := &zone{names: map[string]string{
		"a.test": "8.8.8.8", "lo.test": "127.0.0.1", "lo6.test": "::1", "mapped.test": "::ffff:127.0.0.1", "priv.test": "10.0.0.9", "near.test": "10.0.0.9",
		"meta.test": "169.254.169.254", "meta.near.test": "169.254.169.254", "lo.near.test": "127.0.0.1", "zero.test": "0.0.0.0", "own.test": "9.9.9.9",
		"own.near.test": "192.168.1.5", "nat.test": "64:ff9b::10.0.0.1", "ownnat.test": "64:ff9b::9.9.9.9", "both.test": "10.0.0.9", "both.test 2": "8.8.4.4",
		"six.test": "2606:4700::1", "none.test 2": "", "beside.test": "2a00:1450::2", "beside4.test": "8.8.4.129", "beside.near.test": "8.8.4.129",
	}}
	var dialled []string
	w := newWorld(t, Open(), func(w *world, o *Options) {
		o.Resolve, o.AllowPrivate = z.resolve, []string{"near.test"}
		o.Own = func() []netip.Prefix {
			return prefixes("9.9.9.9/32", "192.168.1.5/24", "127.0.0.1/8", "2a00:1450::1/64", "8.8.4.200/25", "1.1.1.1/1")
		}
		o.Dial = func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
			dialled = append(dialled, to.String())
			return nil, errors.New("not here")
		}
	})
	for name, want := range map[string]string{
		"a.test": "8.8.8.8:22", "six.test": "[2606:4700::1]:22", "near.test": "10.0.0.9:22", "both.test": "8.8.4.4:22",
		"lo.test": "403 network.allowed_ports: [22]", "lo6.test": "403 network.allowed_ports: [22]", "mapped.test": "403 network.allowed_ports: [22]",
		"priv.test": `403 network.hosts: {priv.test: "10.0.0.9"}`, "meta.test": "403 ", "meta.near.test": "403 ", "lo.near.test": "403 network.allowed_ports: [22]",
		"zero.test": "403 ", "own.test": "403 ", "own.near.test": `403 network.hosts: {own.near.test: "192.168.1.5"}`, "nat.test": "403 ", "ownnat.test": "403 ", "none.test": "502 ",
		"beside.test": `403 network.hosts: {beside.test: "2a00:1450::2"}`, "beside4.test": `403 network.hosts: {beside4.test: "8.8.4.129"}`,
		"beside.near.test": "8.8.4.129:22", "8.8.4.129": "403 ", "8.8.4.1": "8.8.4.1:22",
		"8.8.8.8": "8.8.8.8:22", "9.9.9.9": "403 ", "0x09.0x09.2313": "403 ",
	} {
		dialled, z.asked = nil, 0
		w.filter.log = newDenials(nil)
		status, _ := w.dial().connect(name + ":22")
		got := fmt.Sprint(status, " ")
		for _, d := range w.filter.Denials() {
			got += d.Setting
		}
		if len(dialled) > 0 {
			got = fmt.Sprint(dialled[0])
		}
		if got != want || z.asked > 1 || len(dialled) > 1 {
			t.Errorf("%s: %q (asked %d times, dialled %v), want %q", name, got, z.asked, dialled, want)
		}
	}
}

func TestParseHosts(t *testing.T) {
	got, err := ParseHosts(map[string]string{"Wiki.corp.": "10.0.0.1", "b.test": "127.0.0.1:8080", "c.test:443": "[::1]:8443", "d.test": "::1", "e.test": "[fd00::1]"})
	want := Hosts{"wiki.corp": netip.MustParseAddrPort("10.0.0.1:0"), "b.test": netip.MustParseAddrPort("127.0.0.1:8080"),
		"c.test:443": netip.MustParseAddrPort("[::1]:8443"), "d.test": netip.MustParseAddrPort("[::1]:0"), "e.test": netip.MustParseAddrPort("[fd00::1]:0")}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for name, address := range map[string]string{"a b": "10.0.0.1", "localhost": "10.0.0.1", "1.2.3.4": "10.0.0.1", "a.test": "b.test", "a.test:0": "10.0.0.1",
		"b.test": "10.0.0.1:0", "c.test": "10.0.0.1:x", "": "10.0.0.1"} {
		if _, err := ParseHosts(map[string]string{name: address}); err == nil {
			t.Errorf("%q: %q was taken", name, address)
		}
	}
	if _, err := ParseHosts(map[string]string{"a.test": "10.0.0.1", "A.test.": "10.0.0.2"}); err == nil {
		t.Error("one name with two answers was taken")
	}
	for target, want := range map[string]string{"wiki.corp:9": "10.0.0.1:9", "b.test:80": "127.0.0.1:8080", "c.test:443": "[::1]:8443", "c.test:80": "", "x.b.test:80": ""} {
		host, port, _ := parseHostPort(target, 0)
		to, ok := got.find(Target{Host: host, Port: port})
		if s := to.String(); ok != (want != "") || ok && s != want {
			t.Error(target, s, ok)
		}
	}
}

// TestRace: the first address that answers is taken, the others are let go.
func TestRace(t *testing.T) {
	addrs := []netip.Addr{netip.MustParseAddr("8.8.8.1"), netip.MustParseAddr("8.8.8.2"), netip.MustParseAddr("8.8.8.3")}
	ended := make(chan struct{})
	ours, _ := net.Pipe()
	got, err := race(t.Context(), addrs, func(ctx context.Context, a netip.Addr) (net.Conn, error) {
		switch a {
		case addrs[0]: // hangs
			<-ctx.Done()
			close(ended)
			return nil, ctx.Err()
		case addrs[1]:
			return nil, errors.New("refused")
		}
		return ours, nil
	})
	if got != ours || err != nil {
		t.Error(got, err)
	}
	<-ended
	if _, err := race(t.Context(), addrs, func(_ context.Context, a netip.Addr) (net.Conn, error) {
		return nil, fmt.Errorf("no %s", a)
	}); err == nil || err.Error() != "no 8.8.8.1\nno 8.8.8.2\nno 8.8.8.3" {
		t.Error(err)
	}
}

package proxy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Hosts are fixed answers for names, like /etc/hosts but for this filter only: a company's name with a private
// address, say. A person wrote them, so that their addresses are not judged; the rules hold for their names as ever.
type Hosts map[string]netip.AddrPort

// ParseHosts reads the form of a configuration: "name" or "name:port" to "address" or "address:port". A name without a
// port stands for each of its ports, an address without one for the port that was asked for.
func ParseHosts(written map[string]string) (Hosts, error) {
	hosts := Hosts{}
	for _, name := range slices.Sorted(maps.Keys(written)) {
		key, err := parseHostsName(name)
		if err != nil {
			return nil, fmt.Errorf("host %q: %w", cut(name), err)
		}
		if _, twice := hosts[key]; twice {
			return nil, fmt.Errorf("host %q: named twice", cut(name))
		}
		if hosts[key], err = parseHostsAddress(written[name]); err != nil {
			return nil, fmt.Errorf("host %q: %w", cut(name), err)
		}
	}
	return hosts, nil
}

func parseHostsName(s string) (string, error) {
	name, port, _ := strings.Cut(s, ":")
	host, err := ParseHost(name)
	switch {
	case err != nil:
		return "", err
	case host.Name == "":
		return "", errors.New("a name is wanted, this is an address")
	case forbidden(host) != "":
		return "", errors.New(forbidden(host))
	case len(name) == len(s):
		return host.Name, nil
	}
	n, err := parsePort(port)
	return Target{Host: host, Port: n}.hostPort(), err
}

func parseHostsAddress(s string) (netip.AddrPort, error) {
	if addr, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return netip.AddrPortFrom(addr.Unmap(), 0), nil
	}
	to, err := netip.ParseAddrPort(s)
	if err != nil || to.Port() == 0 {
		return netip.AddrPort{}, fmt.Errorf("%q is neither an address nor address:port", cut(s))
	}
	return to, nil
}

func (h Hosts) find(t Target) (netip.AddrPort, bool) {
	if t.Host.Name == "" {
		return netip.AddrPort{}, false
	}
	to, ok := h[t.hostPort()]
	if !ok {
		to, ok = h[t.Host.Name]
	}
	if ok && to.Port() == 0 {
		to = netip.AddrPortFrom(to.Addr(), t.Port)
	}
	return to, ok
}

const (
	dialTime    = 30 * time.Second
	resolveTime = 15 * time.Second
	// headStart is what one address has before the next is tried beside it (RFC 8305 section 5).
	headStart = 250 * time.Millisecond
)

// connect resolves a target, once, judges the addresses and connects to one of them. The error is a *refusal, already
// recorded, if there is none that may be connected to.
func (f *Filter) connect(ctx context.Context, t Target) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	if to, ok := f.opt.Hosts.find(t); ok {
		return f.opt.Dial(ctx, to)
	}
	addrs, err := f.addresses(ctx, t)
	if err != nil {
		return nil, err
	}
	return race(ctx, addrs, func(ctx context.Context, addr netip.Addr) (net.Conn, error) {
		return f.opt.Dial(ctx, netip.AddrPortFrom(addr, t.Port))
	})
}

// addresses are those of the target that may be connected to.
func (f *Filter) addresses(ctx context.Context, t Target) ([]netip.Addr, error) {
	if t.Host.Name == "" {
		named := f.opt.Rules.Decide(Target{Host: t.Host, Port: t.Port}).Named
		if why := f.whyNotAddress(t.Host.Addr, named); why != "" {
			return nil, f.deny(t, why, "")
		}
		return []netip.Addr{t.Host.Addr}, nil
	}
	return f.resolve(ctx, t)
}

func (f *Filter) resolve(ctx context.Context, t Target) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	found, err := f.opt.Resolve(ctx, t.Host.Name)
	if err != nil {
		return nil, err
	}
	near := f.private.Knows(t.Host)
	var good []netip.Addr
	var why string
	for _, addr := range found {
		addr = addr.Unmap().WithZone("")
		if w := f.whyNotAddress(addr, near); w != "" {
			why = w
		} else {
			good = append(good, addr)
		}
	}
	switch {
	case good != nil:
		return good, nil
	case why == "":
		return nil, &net.DNSError{Err: "no address", Name: t.Host.Name, IsNotFound: true}
	}
	return nil, f.deny(t, t.Host.Name+" has an address that is not reached: "+why, f.settingFor(t, found))
}

// settingFor returns what would let a name have its addresses.
func (f *Filter) settingFor(t Target, found []netip.Addr) string {
	switch r := reachOf(found[0]); {
	case r == private, r == public && strings.HasSuffix(f.whyNotAddress(found[0].Unmap().WithZone(""), false), inNetwork):
		return fmt.Sprintf("%s: {%s: %q}", settingHosts, t.Host.Name, found[0].Unmap().WithZone("").String())
	case r == loopback:
		return fmt.Sprintf("%s: [%d]", settingPorts, t.Port)
	}
	return ""
}

// inNetwork ends what stands against a public address of a network around this machine. One wider than widest, of a tunnel, is the
// internet.
const (
	inNetwork = " is an address of a network that this machine is in"
	widest    = 8
)

// whyNotAddress says what stands against an address; near is whether private ones are meant.
func (f *Filter) whyNotAddress(addr netip.Addr, near bool) string {
	r := reachOf(addr)
	if r != public && (r != private || !near) {
		return r.whyNot(addr)
	}
	inner, _ := embedded(addr)
	around := false
	for _, own := range f.opt.Own() {
		if own.Addr() == addr || own.Addr() == inner {
			return addr.String() + " is this machine's own address"
		}
		around = around || own.Bits() >= widest && (own.Contains(addr) || own.Contains(inner))
	}
	if around && !near {
		return addr.String() + inNetwork
	}
	return ""
}

// race dials the addresses in order, each with a head start, and returns the first connection.
func race(ctx context.Context, addrs []netip.Addr, dial func(context.Context, netip.Addr) (net.Conn, error)) (net.Conn, error) {
	if len(addrs) == 1 {
		return dial(ctx, addrs[0])
	}
	type result struct {
		conn net.Conn
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan result)
	start := func(addr netip.Addr) {
		conn, err := dial(ctx, addr)
		select {
		case results <- result{conn, err}:
		case <-ctx.Done():
			if conn != nil {
				end(conn)
			}
		}
	}
	var first error
	for next, running := 0, 0; next < len(addrs) || running > 0; {
		var timer <-chan time.Time
		if next < len(addrs) {
			go start(addrs[next])
			next, running = next+1, running+1
			timer = time.After(headStart)
		}
		select {
		case r := <-results:
			running--
			if r.err == nil {
				return r.conn, nil
			}
			first = errors.Join(first, r.err)
		case <-timer:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, first
}

// systemResolve asks for the name as it is: the host's search list does not make another of it.
func systemResolve(ctx context.Context, name string) ([]netip.Addr, error) {
	if strings.Contains(name, ".") {
		name += "."
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}

func systemDial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", to.String())
}

// systemAddresses are those of this machine, each with the network around it, which may well be of public addresses: with IPv6
// it mostly is.
func systemAddresses() []netip.Prefix {
	nets, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var out []netip.Prefix
	for _, n := range nets {
		if p, err := netip.ParsePrefix(n.String()); err == nil {
			out = append(out, unmapped(p))
		}
	}
	return out
}

// unmapped is a network of IPv4 as such.
func unmapped(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p
}

package proxy

import (
	"net/netip"
	"sync"
)

// stand is the range whose addresses stand for names. It is loopback, so that nothing but the namespace's own
// listeners can be meant by one; the issue of addresses ends at mostNames.
var stand = netip.MustParsePrefix("127.66.0.0/16")

// mostNames have an address; a program could ask for names without end, of some 250 bytes each.
const mostNames = 16 << 10

// names gives each name an address of its own, the same as long as the run lasts.
type names struct {
	mu     sync.Mutex
	byName map[string]netip.Addr
	// list has, at i, the name that address i+1 of the range stands for.
	list []string
}

func newNames() *names { return &names{byName: map[string]netip.Addr{}} }

// address returns the address that stands for a name; false when the range is used up.
func (n *names) address(name string) (netip.Addr, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if addr, ok := n.byName[name]; ok {
		return addr, true
	}
	if len(n.list) >= mostNames {
		return netip.Addr{}, false
	}
	n.list = append(n.list, name)
	b := stand.Addr().As4()
	b[2], b[3] = byte(len(n.list)>>8), byte(len(n.list))
	addr := netip.AddrFrom4(b)
	n.byName[name] = addr
	return addr, true
}

// name returns what an address stands for.
func (n *names) name(addr netip.Addr) (string, bool) {
	addr = addr.Unmap()
	if !stand.Contains(addr) {
		return "", false
	}
	b := addr.As4()
	n.mu.Lock()
	defer n.mu.Unlock()
	at := int(b[2])<<8 | int(b[3])
	if at == 0 || at > len(n.list) {
		return "", false
	}
	return n.list[at-1], true
}

// meant returns the name for an address that stands for one; some clients look a name up and then ask the proxy for
// the address.
func (f *Filter) meant(h Host) Host {
	if h.Name == "" {
		if name, ok := f.names.name(h.Addr); ok {
			return Host{Name: name}
		}
	}
	return h
}

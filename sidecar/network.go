package sidecar

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/proxy"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
)

// network is a run's way out: sockets in its network that a filter of this process serves. A run that may reach nothing,
// and about which nobody can be asked, has none.
type network struct {
	filter *proxy.Filter

	mu sync.Mutex
	// plan are the sockets by their index, serve what each is for.
	plan  []sandbox.Socket
	serve []func(*os.File)
	// all says that every port of this machine is open to the run, ports those that are open so far.
	all   bool
	ports map[int]bool
	files []sandbox.File
	env   []string
	words string
	// names says that names can be looked up.
	names bool
	// proxyAt is where a run has the filter. Where it shares this machine's network that is filterPort of it, which here serves.
	proxyAt    netip.AddrPort
	filterPort uint16
	here       []net.Listener
	seated     bool
}

// Where the sandbox has the filter: an address of the loopback that nothing else uses, with a usual port of proxies.
var proxyAddress = netip.MustParseAddrPort("127.67.0.1:3128")

// transparent are the ports that programs which know of no proxy are served on: of the web, and of git over ssh.
var transparent = []uint16{80, 443, 22}

// Where the sandbox has the certificates to trust, and where systems keep theirs (crypto/x509, root_linux.go).
const bundleFile = "/run/sidecar/certificates.pem"

var bundles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem"}

// network makes a run's way out, nil where there is none. ownRoots says that the run sees none of this machine's
// certificates.
func (e *Engine) network(g granted, r Request, ownRoots bool) (*network, error) {
	rules, err := rulesOf(g.reach)
	if err != nil {
		return nil, err
	}
	askable := r.Approve != nil && e.settings.Network.Ask != "never" && !g.shut()
	named := g.reach.Open || g.reach.Lists != nil || askable
	if !named && !g.ports.All && len(g.ports.List) == 0 {
		return nil, nil
	}
	hosts, err := proxy.ParseHosts(e.settings.Network.Hosts)
	if err != nil {
		return nil, bad("", "network.hosts: %v", err)
	}
	o := proxy.Options{Rules: rules, Hosts: hosts, Denied: func(d proxy.Denial) {
		if r.Denied != nil {
			r.Denied(denial(d))
		}
	}}
	if askable {
		o.Ask = r.approves
	}
	n := &network{all: g.ports.All, ports: map[int]bool{}, names: named, words: words(g), proxyAt: proxyAddress, seated: e.seated()}
	if n.filter, err = proxy.New(o); err != nil {
		return nil, bad("", "%v", err)
	}
	if named {
		if err := n.waysToNames(g.ports); err != nil {
			n.filter.Close()
			return nil, err
		}
		if err := n.trust(e.getenv("SSL_CERT_FILE"), rules.Opens(), ownRoots); err != nil {
			n.filter.Close()
			return nil, err
		}
	}
	for _, port := range g.ports.List {
		n.local(port)
	}
	if n.all && !n.seated {
		for _, port := range listening() {
			n.local(port)
		}
	}
	return n, nil
}

// shut says that it is nothing by somebody's word, and not by default: then nobody is asked.
func (g granted) shut() bool {
	return g.profile.Network == "none" || g.reach.Shut || slices.ContainsFunc(g.reach.Lists, func(d *config.Domains) bool { return len(d.Names) == 0 })
}

// rulesOf are the rules of each list, within those of the others.
func rulesOf(reach config.Reach) (proxy.Rules, error) {
	if reach.Open {
		return proxy.Open(), nil
	}
	rules := proxy.Closed()
	for i, list := range reach.Lists {
		of, err := rulesOfList(list)
		if err != nil {
			return rules, err
		}
		if i > 0 {
			of = rules.Within(of)
		}
		rules = of
	}
	return rules, nil
}

func rulesOfList(list *config.Domains) (proxy.Rules, error) {
	methods := map[string][]string{}
	for _, d := range list.Names {
		if methods[d.Name] = d.Methods; d.Methods == nil {
			methods[d.Name] = []string{"*"}
		}
	}
	rules, err := proxy.AllowMethods(methods)
	if err != nil {
		return rules, bad("write names as example.com, *.example.com or example.com:8443", "network.allowed_domains: %v", err)
	}
	return rules, nil
}

// words say what a run may reach.
func words(g granted) string {
	text := g.reach.String()
	switch {
	case g.ports.All:
		text += ", and every port of this machine"
	case len(g.ports.List) > 0:
		text += ", and this machine's port " + strings.Trim(fmt.Sprint(g.ports.List), "[]")
	}
	return text
}

func denial(d proxy.Denial) protocol.Denial {
	return protocol.Denial{Host: d.Host, Port: int(d.Port), Method: d.Method, Why: d.Why, Setting: d.Setting, Count: d.Count}
}

// waysToNames are the filter's, wherever the run's network is.
func (n *network) waysToNames(open config.Ports) error {
	if n.seated {
		return n.seatLookups()
	}
	n.lookups(open)
	return nil
}

// lookups are what leads to names: the proxy, the ports of programs that know of none, and name service.
// A port of this machine that is open to the run is that, and no way to names.
func (n *network) lookups(open config.Ports) {
	n.listen(proxyAddress, n.filter.ServeProxy)
	for _, port := range transparent {
		if slices.Contains(open.List, int(port)) {
			continue
		}
		n.listen(netip.AddrPortFrom(netip.IPv4Unspecified(), port), func(l net.Listener) { n.filter.ServeTransparent(l, port) })
	}
	resolver := netip.MustParseAddrPort("127.0.0.1:53")
	n.listen(resolver, n.filter.ServeDNSStream)
	n.add(sandbox.Socket{Packet: true, Address: resolver}, func(f *os.File) {
		if c, err := net.FilePacketConn(f); err == nil {
			n.filter.ServeDNS(c)
		}
	})
	n.files = append(n.files, sandbox.File{Target: "/etc/resolv.conf", Data: []byte("nameserver 127.0.0.1\noptions edns0\n"), Mode: 0o444})
	n.env = proxy.Environment(proxyAddress, "")
}

// trust gives the run the certificates to trust: the machine's, and the filter's own where it opens TLS.
func (n *network) trust(file string, opens, ownRoots bool) error {
	if !opens && !ownRoots {
		return nil
	}
	var bundle []byte
	for _, file := range append([]string{file}, bundles...) {
		if b, err := os.ReadFile(file); err == nil {
			bundle = b
			break
		}
	}
	if opens {
		own, err := n.filter.CA()
		if err != nil {
			return err
		}
		bundle = append(append(bundle, '\n'), own...)
	}
	n.files = append(n.files, sandbox.File{Target: bundleFile, Data: bundle, Mode: 0o444})
	n.env = proxy.Environment(n.proxyAt, bundleFile)
	return nil
}

// local opens a port of this machine's loopback to the run, under the same number.
func (n *network) local(port int) {
	if n.ports[port] || n.names && slices.Contains(transparent, uint16(port)) && n.all { //nolint:gosec // a port
		return
	}
	n.ports[port] = true
	if n.seated { // the profile names it
		return
	}
	number := uint16(port) //nolint:gosec // a port
	for _, address := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
		n.listen(netip.AddrPortFrom(address, number), func(l net.Listener) { n.filter.ServeLocal(l, number) })
	}
}

func (n *network) listen(address netip.AddrPort, serve func(net.Listener)) {
	n.add(sandbox.Socket{Address: address}, func(f *os.File) {
		if l, err := net.FileListener(f); err == nil {
			serve(l)
		}
	})
}

func (n *network) add(s sandbox.Socket, serve func(*os.File)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.plan, n.serve = append(n.plan, s), append(n.serve, serve)
}

// has is given the sockets as they come.
func (n *network) has(index int, f *os.File) {
	if f == nil {
		return
	}
	defer f.Close() // what serves it has a descriptor of its own
	if serve := n.service(index); serve != nil {
		serve(f)
	}
}

func (n *network) service(index int) func(*os.File) {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if index >= len(n.serve) {
		return nil
	}
	return n.serve[index]
}

// sockets are those from an index on.
func (n *network) sockets(first int) []sandbox.Socket {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.plan[first:])
}

// close ends it, and gives what was refused.
func (n *network) close() []protocol.Denial {
	if n == nil {
		return nil
	}
	n.closeHere()
	n.filter.Close()
	var out []protocol.Denial
	for _, d := range n.filter.Denials() {
		out = append(out, denial(d))
	}
	return out
}

// lookEvery is how often this machine's ports are looked at for a run that may reach all of them.
const lookEvery = time.Second

// follow opens ports that appear on this machine while a run goes on that may reach all.
func (n *network) follow(ctx context.Context, control *sandbox.Control) {
	if n == nil || !n.all || n.seated {
		return
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		first := len(n.sockets(0))
		for _, port := range listening() {
			n.local(port)
		}
		if more := n.sockets(first); len(more) > 0 {
			control.Open(more, first)
		}
	}
}

// listening are the TCP ports of this machine that something listens on (proc(5), /proc/net/tcp: state 0A).
func listening() []int {
	var ports []int
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 4 || f[3] != "0A" {
				continue
			}
			_, number, _ := strings.Cut(f[1], ":")
			if port, err := strconv.ParseUint(number, 16, 16); err == nil && port > 0 {
				ports = append(ports, int(port))
			}
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

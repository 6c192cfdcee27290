package proxy

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Kind is the way in which something was asked for.
type Kind string

// Kinds. HTTP is a request that can be read, HTTPS one in TLS that was opened; of the others nothing is known yet but
// where they lead.
const (
	HTTP    Kind = "http"
	HTTPS   Kind = "https"
	Connect Kind = "connect"
	SOCKS   Kind = "socks"
	Direct  Kind = "direct"
	DNS     Kind = "dns"
)

// Target is what was asked for.
type Target struct {
	Host Host
	Port uint16
	Kind Kind
	// Method is a request's; empty for the kinds that are no request.
	Method string
}

func (t Target) hostPort() string {
	return net.JoinHostPort(t.Host.String(), strconv.Itoa(int(t.Port)))
}

func (t Target) String() string {
	switch t.Kind {
	case HTTP, HTTPS:
		return fmt.Sprintf("%s %s://%s", t.Method, t.Kind, t.hostPort())
	case DNS:
		return "the address of " + t.Host.String()
	default:
		return "a connection to " + t.hostPort()
	}
}

// Verdict is what the rules come to for one target.
type Verdict struct {
	Allowed bool
	// Open says that TLS has to be opened, since only some methods are allowed, also where a person is still to be asked.
	Open bool
	// Named says that the rule names this very address, which may then be a private one.
	Named bool
	// Askable says that nothing stands against it but that no rule names it: a person may be asked.
	Askable bool
	// Why and Setting are of a denial: the reason, and what in the configuration would allow it ("" if nothing would).
	Why, Setting string
}

// Names of the settings that denials point to.
const (
	settingDomains = "network.allowed_domains"
	settingPorts   = "network.allowed_ports"
	settingHosts   = "network.hosts"
)

// Decide says what the rules come to for a target. Each entry stands for names and ports; of the entries that cover
// the target the one with the longest name decides, and of one name's the one with a port. It is pure: an address that
// a name turns out to have is judged when it is known.
func (r Rules) Decide(t Target) Verdict {
	v := r.decide(t)
	if r.within == nil || !v.Allowed && !v.Askable {
		return v
	}
	outer := r.within.Decide(t)
	switch {
	case v.Allowed && (outer.Allowed || outer.Askable):
		outer.Open, outer.Named = outer.Open || v.Open, v.Named
	case outer.Allowed || outer.Askable:
		v.Open = outer.Open // a person's word is about the name, and changes nothing of what the other list says of it
		return v
	}
	return outer
}

// decide is about these rules alone.
func (r Rules) decide(t Target) Verdict {
	if why := forbidden(t.Host); why != "" {
		return denyForbidden(t, why)
	}
	e, found := r.find(t.Host, t.Port)
	if t.Host.Name == "" && reachOf(t.Host.Addr) == private && (!found || !e.exact) {
		return Verdict{Why: reachOf(t.Host.Addr).whyNot(t.Host.Addr) + ", which only a rule that names it opens", Setting: addDomain(t)}
	}
	if !found {
		return Verdict{Why: r.whyNone(t), Setting: addDomain(t), Askable: true}
	}
	if e.blocked() {
		e.methods = nil
		return Verdict{Why: fmt.Sprintf("%s is blocked by a rule of its own", e)}
	}
	if t.Method != "" && e.methods != nil && !slices.Contains(e.methods, t.Method) {
		return denyMethod(t, e)
	}
	return Verdict{Allowed: true, Open: e.methods != nil, Named: e.exact}
}

func denyForbidden(t Target, why string) Verdict {
	v := Verdict{Why: why}
	if local(t.Host) && t.Port != 0 {
		v.Setting = fmt.Sprintf("%s: [%d]", settingPorts, t.Port)
		v.Why += " and is not reached through the proxy"
	}
	return v
}

func denyMethod(t Target, e entry) Verdict {
	more := slices.Sorted(slices.Values(append(slices.Clone(e.methods), t.Method)))
	short := e
	short.methods = nil
	v := Verdict{Why: fmt.Sprintf("%s may be asked with %s only", short, strings.Join(e.methods, ", "))}
	if slices.Contains(known, t.Method) {
		v.Setting = fmt.Sprintf("%s: {%q: [%s]}", settingDomains, short, strings.Join(more, ", "))
	}
	return v
}

// whyNone tells a port that is missing from a name that is missing.
func (r Rules) whyNone(t Target) string {
	if t.Port != 0 && r.Knows(t.Host) {
		return fmt.Sprintf("port %d of %s is not among those allowed", t.Port, t.Host)
	}
	return fmt.Sprintf("no rule allows %s", t.Host)
}

func addDomain(t Target) string {
	name := t.Host.String()
	if t.Port != 80 && t.Port != 443 && t.Port != 0 {
		name = t.hostPort()
	}
	if strings.Contains(name, ":") {
		name = strconv.Quote(name)
	}
	return fmt.Sprintf("%s: [%s]", settingDomains, name)
}

// Knows says that some port of a host is allowed.
func (r Rules) Knows(h Host) bool {
	if forbidden(h) != "" || r.within != nil && !r.within.Knows(h) {
		return false
	}
	for list := range r.about(h) {
		for _, e := range list {
			switch {
			case !e.means(h):
			case !e.blocked():
				return true
			case e.port == 0:
				return false
			}
		}
	}
	return r.open
}

// find returns the entry that decides. What a less specific entry opens is bound by the methods that a more specific
// one gives for the name: "*" beside "example.com: [GET]" opens no second port of example.com to POST.
func (r Rules) find(h Host, port uint16) (entry, bool) {
	if r.open {
		return entry{}, true
	}
	var bound []string
	for list := range r.about(h) {
		for _, e := range list {
			if !e.means(h) {
				continue
			}
			if e.covers(port) {
				if bound != nil {
					e.methods = bound
				}
				return e, true
			}
			if bound == nil && e.port == 0 {
				bound = e.methods
			}
		}
	}
	return entry{}, false
}

// about yields the entries that could mean a host, the most specific name first.
func (r Rules) about(h Host) func(func([]entry) bool) {
	return func(yield func([]entry) bool) {
		name, more := h.String(), true
		for more && name != "" {
			if list := r.byName[name]; list != nil && !yield(list) {
				return
			}
			if h.Name == "" {
				break
			}
			_, name, more = strings.Cut(name, ".")
		}
		if list := r.byName[""]; list != nil {
			yield(list)
		}
	}
}

func (e entry) means(h Host) bool { return !e.below || e.name != h.Name }

func (e entry) covers(port uint16) bool {
	switch {
	case e.port != 0:
		return e.port == port
	case e.name == "":
		return true
	default:
		return port == 80 || port == 443
	}
}

// forbidden says why no rule opens a host; "" if one may.
func forbidden(h Host) string {
	switch {
	case h.Name == "":
		if r := reachOf(h.Addr); r == loopback || r == never {
			return r.whyNot(h.Addr)
		}
	case local(h):
		return h.Name + " is this machine itself"
	case slices.Contains(metadataNames, h.Name):
		return h.Name + " is a cloud's metadata service"
	}
	return ""
}

func local(h Host) bool {
	if h.Name == "" {
		return reachOf(h.Addr) == loopback
	}
	return slices.Contains(localNames, h.Name) || strings.HasSuffix(h.Name, ".localhost")
}

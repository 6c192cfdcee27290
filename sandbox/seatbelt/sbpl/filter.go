package sbpl

import (
	"net/netip"
	"regexp"
	"strings"
)

// filter says whether a rule is about what is asked.
type filter func(Query) bool

// filters are those that take strings, one alternative each.
var filters = map[string]func(string) (filter, error){
	"literal": literal, "path": literal, "path-literal": literal,
	"subpath": func(s string) (filter, error) { return func(q Query) bool { return inside(q.Path, s) }, nil },
	"prefix":  prefix, "path-prefix": prefix,
	"regex": pathRegex, "path-regex": pathRegex,
	"path-ancestors": func(s string) (filter, error) {
		return func(q Query) bool { return q.Path != s && inside(s, q.Path) }, nil
	},
	"vnode-type": func(s string) (filter, error) { return func(q Query) bool { return q.Vnode == s }, nil },

	"global-name": named, "local-name": named, "xpc-service-name": named, "sysctl-name": named, "ipc-posix-name": named,
	"global-name-prefix": namePrefix, "sysctl-name-prefix": namePrefix, "ipc-posix-name-prefix": namePrefix,
	"global-name-regex": nameRegex, "sysctl-name-regex": nameRegex, "ipc-posix-name-regex": nameRegex,
	"iokit-registry-entry-class": named, "iokit-user-client-class": named, "preference-domain": named, "right-name": named,

	"target":          func(s string) (filter, error) { return func(q Query) bool { return q.reaches(s) }, nil },
	"socket-domain":   func(s string) (filter, error) { return func(q Query) bool { return q.Name == s }, nil },
	"socket-protocol": func(string) (filter, error) { return func(Query) bool { return true }, nil },
}

func literal(s string) (filter, error) { return func(q Query) bool { return q.Path == s }, nil }

func prefix(s string) (filter, error) {
	return func(q Query) bool { return q.Path != "" && strings.HasPrefix(q.Path, s) }, nil
}

// pathRegex: the expression is looked for anywhere in the path, byte by byte, unless it is anchored (regex(3) as AppleMatch
// has it: ^ $ . * + ? | () []).
func pathRegex(s string) (filter, error) {
	re, err := bytewise(s)
	return func(q Query) bool { return q.Path != "" && re.MatchString(latin(q.Path)) }, err
}

func nameRegex(s string) (filter, error) {
	re, err := bytewise(s)
	return func(q Query) bool { return q.Name != "" && re.MatchString(latin(q.Name)) }, err
}

// bytewise makes an expression that sees each byte as a character of its own.
func bytewise(s string) (*regexp.Regexp, error) { return regexp.Compile("(?s)" + latin(s)) }

// latin is the string whose characters are the bytes of s.
func latin(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

func named(s string) (filter, error) { return func(q Query) bool { return q.Name == s }, nil }

func namePrefix(s string) (filter, error) {
	return func(q Query) bool { return q.Name != "" && strings.HasPrefix(q.Name, s) }, nil
}

// inside says that path is dir or lies below it.
func inside(path, dir string) bool {
	return path != "" && (path == dir || dir == "/" && strings.HasPrefix(path, "/") || strings.HasPrefix(path, dir+"/"))
}

// Endpoint is one end of a connection: "tcp" or "udp", and an address with its port.
type Endpoint struct {
	Protocol string
	Address  netip.AddrPort
}

// matches compares with a filter's parts. localhost is what macOS makes of it; ::ffff:127.0.0.1 is not.
func (e Endpoint) matches(proto, host, port string) bool {
	if !e.Address.IsValid() {
		return false
	}
	family := strings.TrimRight(proto, "46")
	if family != "ip" && family != e.Protocol {
		return false
	}
	if v := strings.TrimPrefix(proto, family); v == "4" && !e.Address.Addr().Is4() || v == "6" && !e.Address.Addr().Is6() {
		return false
	}
	return (host == "*" || isLocal(e.Address.Addr())) && (port == "*" || port == portOf(e.Address))
}

func isLocal(a netip.Addr) bool {
	return a == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || a == netip.IPv6Loopback() || a == netip.IPv4Unspecified()
}

func portOf(a netip.AddrPort) string { return a.String()[strings.LastIndexByte(a.String(), ':')+1:] }

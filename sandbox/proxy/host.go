package proxy

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Host is what a connection is asked for: a name or an address, never both.
type Host struct {
	// Name is in lower case, in punycode, without a trailing dot; empty for an address.
	Name string
	// Addr is never an IPv4 address in IPv6's clothes and has no zone; invalid for a name.
	Addr netip.Addr
}

func (h Host) String() string {
	if h.Name != "" {
		return h.Name
	}
	return h.Addr.String()
}

// longestName is RFC 1035 section 2.3.4's limit of a name without its final dot; bytes.
const longestName = 253

// ParseHost reads the name or address of a URL, a Host header, a SOCKS request or a rule. Addresses are known in
// every notation that inet_aton(3) reads, since whatever connects in the end may read them so: 0x7f.1, 2130706433.
func ParseHost(s string) (Host, error) {
	if len(s) > longestName+1 {
		return Host{}, fmt.Errorf("host %q…: longer than a name can be", s[:40])
	}
	if inner, bracketed := strings.CutPrefix(s, "["); bracketed {
		return parseBracketed(s, inner)
	}
	if strings.Contains(s, ":") {
		return parseAddr(s)
	}
	name, err := asciiName(strings.TrimSuffix(s, "."))
	if err != nil {
		return Host{}, fmt.Errorf("host %q: %w", s, err)
	}
	if !endsInNumber(name) {
		return Host{Name: name}, nil
	}
	addr, err := inetAton(name)
	if err != nil {
		return Host{}, fmt.Errorf("host %q: %w", s, err)
	}
	return Host{Addr: addr}, nil
}

func parseBracketed(s, inner string) (Host, error) {
	inner, closed := strings.CutSuffix(inner, "]")
	if !closed || !strings.Contains(inner, ":") {
		return Host{}, fmt.Errorf("host %q: brackets are for an IPv6 address", s)
	}
	return parseAddr(inner)
}

func parseAddr(s string) (Host, error) {
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return Host{}, fmt.Errorf("host %q: not an address", s)
	}
	if addr.Zone() != "" {
		return Host{}, fmt.Errorf("host %q: an address with a zone is this machine's own link", s)
	}
	return Host{Addr: addr.Unmap()}, nil
}

// lookup is what browsers do with a name before they ask for it (UTS 46), but for rules about hyphens that real
// names break (r3---sn-x.example); letters are checked in asciiName.
var lookup = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false), idna.CheckHyphens(false),
	idna.CheckJoiners(true), idna.StrictDomainName(false), idna.VerifyDNSLength(false))

// asciiName returns a name in lower case and punycode, or what is wrong with it.
func asciiName(s string) (string, error) {
	if !utf8.ValidString(s) || strings.ContainsRune(s, utf8.RuneError) {
		return "", fmt.Errorf("not UTF-8")
	}
	name := strings.ToLower(s)
	if strings.Contains(name, "xn--") || strings.IndexFunc(name, func(r rune) bool { return r >= 0x80 }) >= 0 {
		var err error
		if name, err = lookup.ToASCII(s); err != nil {
			return "", fmt.Errorf("not a host name: %w", err)
		}
	}
	if len(name) > longestName {
		return "", fmt.Errorf("longer than a name can be")
	}
	for label := range strings.SplitSeq(name, ".") {
		if err := checkLabel(label); err != nil {
			return "", err
		}
	}
	return name, nil
}

// checkLabel holds one part of a name to RFC 1123 section 2.1, with the underscore that real names have.
func checkLabel(label string) error {
	switch {
	case label == "":
		return fmt.Errorf("an empty part between dots")
	case len(label) > 63:
		return fmt.Errorf("a part longer than 63 bytes")
	case label[0] == '-' || label[len(label)-1] == '-':
		return fmt.Errorf("a part that begins or ends with a hyphen")
	}
	for _, c := range []byte(label) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return fmt.Errorf("%q is no letter of a host name", c)
		}
	}
	return nil
}

// endsInNumber is the test of the URL standard (url.spec.whatwg.org, "ends in a number checker") for a host that is
// an IPv4 address or nothing.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// inetAton reads an IPv4 address as inet_aton(3) does: one to four parts, each decimal, octal (0…) or hexadecimal
// (0x…), of which the last fills what remains.
func inetAton(s string) (netip.Addr, error) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, fmt.Errorf("an address of more than four parts")
	}
	var value uint64
	for i, part := range parts {
		n, err := inetNumber(part)
		most := uint64(0xff)
		if i == len(parts)-1 {
			most = 1<<(8*(5-len(parts))) - 1
		}
		if err != nil || n > most {
			return netip.Addr{}, fmt.Errorf("ends in a number and is no IPv4 address")
		}
		if i == len(parts)-1 {
			value = value<<(8*(5-len(parts))) | n
		} else {
			value = value<<8 | n
		}
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), nil
}

func inetNumber(s string) (uint64, error) {
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		if hex == "" {
			return 0, nil
		}
		return strconv.ParseUint(hex, 16, 64)
	}
	if len(s) > 1 && s[0] == '0' {
		return strconv.ParseUint(s, 8, 64)
	}
	return strconv.ParseUint(s, 10, 64)
}

// parseHostPort reads "host:port", "[v6]:port" or, when usual is not 0, a host alone.
func parseHostPort(s string, usual uint16) (Host, uint16, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		if usual == 0 || strings.Contains(strings.TrimSuffix(s, "]"), "]") || strings.Contains(s, ":") && !strings.HasPrefix(s, "[") {
			return Host{}, 0, fmt.Errorf("%q: not host:port", cut(s))
		}
		h, err := ParseHost(s)
		return h, usual, err
	}
	n, err := parsePort(port)
	if err != nil {
		return Host{}, 0, fmt.Errorf("%q: %w", cut(s), err)
	}
	if strings.HasPrefix(s, "[") {
		host = "[" + host + "]"
	}
	h, err := ParseHost(host)
	return h, n, err
}

// parsePort takes digits only: strconv would take signs.
func parsePort(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 || s[0] == '+' || s[0] == '0' {
		return 0, fmt.Errorf("port %q is not between 1 and 65535", cut(s))
	}
	return uint16(n), nil
}

// cut shortens what a stranger wrote for a message.
func cut(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

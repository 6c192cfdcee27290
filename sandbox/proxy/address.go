package proxy

import (
	"net/netip"
	"slices"
)

// reach says how far an address is.
type reach int

const (
	// public addresses are the internet.
	public reach = iota
	// private ones are the networks around the host: they need to be named.
	private
	// loopback ones are the host's own services, which allowed_ports is for.
	loopback
	// never are those that no rule opens: cloud metadata, link-local, multicast, what has no meaning yet.
	never
)

// Ranges, from the IANA registries of special-purpose addresses (RFC 6890 and what updated it).
var (
	loopbacks = prefixes("127.0.0.0/8", "::1/128")
	// 198.18.0.0/15 is for benchmarks; tools that tunnel a whole machine answer names with it, so that it can be named.
	privates = prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15",
		"fc00::/7", "64:ff9b:1::/48")
	nevers = prefixes("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.51.100.0/24",
		"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		// Teredo (2001::/32), benchmarks, ORCHID; documentation.
		"2001::/23", "2001:db8::/32", "3fff::/20")
	// metadata are the addresses at which clouds hand out credentials: Amazon, Google, Azure, Oracle's are
	// 169.254.169.254; beyond that Amazon's and Google's over IPv6, Alibaba's, Azure's wire server.
	metadata = prefixes("fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128", "100.100.100.200/32", "168.63.129.16/32")
	// globalV6 is all of IPv6 that is given out.
	globalV6  = netip.MustParsePrefix("2000::/3")
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
)

// metadataNames answer with those addresses, or did in some cloud's resolver.
var metadataNames = []string{"metadata", "metadata.google.internal", "metadata.goog", "instance-data",
	"instance-data.ec2.internal", "metadata.tencentyun.com", "metadata.azure.internal"}

// localNames mean the machine that asks (RFC 6761 section 6.3, and what /etc/hosts of distributions has).
var localNames = []string{"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback", "localhost6"}

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

func within(addr netip.Addr, list []netip.Prefix) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// reachOf is pure; the host's own addresses, which only the machine knows, are looked at in dial.go.
func reachOf(addr netip.Addr) reach {
	addr = addr.Unmap()
	if inner, ok := embedded(addr); ok && reachOf(inner) != public {
		return never
	}
	switch {
	case within(addr, loopbacks):
		return loopback
	case within(addr, metadata), within(addr, nevers):
		return never
	case within(addr, privates):
		return private
	case addr.Is6() && !globalV6.Contains(addr) && !nat64.Contains(addr):
		return never
	}
	return public
}

// embedded returns the IPv4 address that a translator or tunnel makes of an IPv6 address: NAT64 (RFC 6052), 6to4
// (RFC 3056), ISATAP (RFC 5214).
func embedded(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() {
		return netip.Addr{}, false
	}
	b := addr.As16()
	switch {
	case nat64.Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe:
		return netip.AddrFrom4([4]byte(b[12:])), true
	}
	return netip.Addr{}, false
}

// whyNot says in words what stands against an address.
func (r reach) whyNot(addr netip.Addr) string {
	switch r {
	case loopback:
		return addr.String() + " is this machine itself"
	case private:
		return addr.String() + " is an address of a private network"
	case never:
		return addr.String() + " is no address of the internet (metadata, link-local, reserved or the like)"
	}
	return ""
}

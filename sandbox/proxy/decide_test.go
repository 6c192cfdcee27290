package proxy

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseHost(t *testing.T) {
	for in, want := range map[string]string{
		"example.com": "example.com", "EXAMPLE.com.": "example.com", "bücher.example": "xn--bcher-kva.example",
		"BÜCHER.example": "xn--bcher-kva.example", "XN--BCHER-KVA.example": "xn--bcher-kva.example",
		"my_bucket.s3.example": "my_bucket.s3.example", "r3---sn-x.example": "r3---sn-x.example",
		"例え。テスト": "xn--r8jz45g.xn--zckzah", "1.2.3.4": "1.2.3.4", "1.2.3.4.": "1.2.3.4",
		// Every notation that inet_aton reads.
		"2130706433": "127.0.0.1", "0x7f.1": "127.0.0.1", "017700000001": "127.0.0.1", "0177.0.0.1": "127.0.0.1",
		"127.1": "127.0.0.1", "0": "0.0.0.0", "0x0a000001": "10.0.0.1", "0XA9.0xfe.0251.0376": "169.254.169.254",
		"１２７.0.0.1": "127.0.0.1", "127。0。0。1": "127.0.0.1", "①②⑦.0.0.1": "127.0.0.1",
		"[::1]": "::1", "::1": "::1", "[::ffff:127.0.0.1]": "127.0.0.1", "0:0:0:0:0:ffff:7f00:1": "127.0.0.1",
		"[2001:DB8::1]": "2001:db8::1", "3com.example": "3com.example", "0x.example": "0x.example",
		// Refused.
		"": "!", ".": "!", "a..b": "!", "example.com..": "!", ".example.com": "!", "a b": "!", "a/b": "!", "a@b": "!", "a%00b": "!",
		"a\x00b": "!", "a\r\nb": "!", "-a.example": "!", "a-.example": "!", "256.1.1.1": "!", "1.2.3.4.5": "!", "08.1.1.1": "!",
		"example.1": "!", "example.0x1": "!", "1.2.3.0x": "1.2.3.0", "4294967296": "!", "[::1": "!", "[1.2.3.4]": "!", "[example.com]": "!",
		"fe80::1%eth0": "!", "[fe80::1%25eth0]": "!", "xn--a.example": "!", "xn--zzzzzzz-.example": "!", "*.example": "!",
		strings.Repeat("a", 64) + ".example": "!", strings.Repeat("a.", 127) + "aa": "!", "\xff.example": "!",
	} {
		host, err := ParseHost(in)
		got := host.String()
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%q: %s (%v), want %s", in, got, err, want)
		}
	}
}

func TestEntriesThatCannotBeMeant(t *testing.T) {
	got := map[string]string{}
	for _, written := range []string{"", " a.example", "a b", "https://a.example", "a.example/path", "10.0.0.0/8", "u@a.example",
		"a.example:0", "a.example:65536", "a.example:x", "a.example:", "a.example:+1", "a.example?q", "a.*.example", "*a.example", "a..example",
		"127.0.0.1:8080", "localhost", "localhost:80", "x.localhost", "[::1]:80", "0.0.0.0", "169.254.169.254", "metadata.google.internal",
		"fd00:ec2::254", "0x0a.1", "*.10.0.0.1", "224.0.0.1", "fe80::1%eth0", "[2606:4700::1"} {
		_, err := Allow(written)
		if err == nil {
			t.Errorf("%q was taken", written)
			continue
		}
		got[written] = strings.TrimPrefix(err.Error(), "allowed domain ")
	}
	want := map[string]string{
		"":                         `"": empty`,
		" a.example":               `" a.example": has a space in it`,
		"a b":                      `"a b": has a space in it`,
		"https://a.example":        `"https://a.example": a name is wanted, without the scheme`,
		"a.example/path":           `"a.example/path": a name or an address is wanted, without a path; ranges of addresses cannot be named`,
		"10.0.0.0/8":               `"10.0.0.0/8": a name or an address is wanted, without a path; ranges of addresses cannot be named`,
		"u@a.example":              `"u@a.example": a name is wanted, without a user`,
		"a.example:0":              `"a.example:0": port "0" is not between 1 and 65535`,
		"a.example:65536":          `"a.example:65536": port "65536" is not between 1 and 65535`,
		"a.example:x":              `"a.example:x": port "x" is not between 1 and 65535`,
		"a.example:":               `"a.example:": port "" is not between 1 and 65535`,
		"a.example:+1":             `"a.example:+1": port "+1" is not between 1 and 65535`,
		"a.example?q":              `"a.example?q": a name is wanted, without a query`,
		"a.*.example":              `"a.*.example": a * stands alone or before the first dot`,
		"*a.example":               `"*a.example": a * stands alone or before the first dot`,
		"a..example":               `"a..example": host "a..example": an empty part between dots`,
		"127.0.0.1:8080":           `"127.0.0.1:8080": 127.0.0.1 is this machine itself; network.allowed_ports opens its ports`,
		"localhost":                `"localhost": localhost is this machine itself; network.allowed_ports opens its ports`,
		"localhost:80":             `"localhost:80": localhost is this machine itself; network.allowed_ports opens its ports`,
		"x.localhost":              `"x.localhost": x.localhost is this machine itself; network.allowed_ports opens its ports`,
		"[::1]:80":                 `"[::1]:80": ::1 is this machine itself; network.allowed_ports opens its ports`,
		"0.0.0.0":                  `"0.0.0.0": 0.0.0.0 is no address of the internet (metadata, link-local, reserved or the like)`,
		"169.254.169.254":          `"169.254.169.254": 169.254.169.254 is no address of the internet (metadata, link-local, reserved or the like)`,
		"metadata.google.internal": `"metadata.google.internal": metadata.google.internal is a cloud's metadata service`,
		"fd00:ec2::254":            `"fd00:ec2::254": fd00:ec2::254 is no address of the internet (metadata, link-local, reserved or the like)`,
		"0x0a.1":                   `"0x0a.1": write the address as 10.0.0.1`,
		"*.10.0.0.1":               `"*.10.0.0.1": an address has no subdomains`,
		"224.0.0.1":                `"224.0.0.1": 224.0.0.1 is no address of the internet (metadata, link-local, reserved or the like)`,
		"fe80::1%eth0":             `"fe80::1%eth0": host "fe80::1%eth0": an address with a zone is this machine's own link`,
		"[2606:4700::1":            `"[2606:4700::1": host "[2606:4700:": brackets are for an IPv6 address`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for want, methods := range map[string]map[string][]string{
		`allowed domain "a.example": unknown HTTP method "FETCH"`:                  {"a.example": {"GET", "fetch"}},
		`allowed domain "a.example": unknown HTTP method "CONNECT"`:                {"a.example": {"CONNECT"}},
		`allowed domain "a.example": "*" is every method: name no other beside it`: {"a.example": {"GET", "*"}},
		`allowed domain "a.example": named twice, with different methods`:          {"a.example": {"GET"}, "A.example": {"POST"}},
		`allowed domain "b.example:8080": named twice, with different methods`:     {"b.example:8080": {"GET"}, "B.example.:8080": {"*"}},
	} {
		if _, err := AllowMethods(methods); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestDecide(t *testing.T) {
	rules := map[string]Rules{
		"open": Open(), "closed": Closed(), "star": mustAllow(t, "*"), "star port": mustAllow(t, "*:8443"),
		"name": mustAllow(t, "Example.com."), "below": mustAllow(t, "*.example.com"), "port": mustAllow(t, "example.com:8443"),
		"names":   mustAllow(t, "example.com", "api.example.com:8443"),
		"address": mustAllow(t, "10.0.0.1", "192.168.0.1:8080", "8.8.8.8", "[2606:4700::1]:8443", "fd00::1"),
		"methods": mustMethods(t, map[string][]string{"example.com": {"get"}, "api.example.com": {"*"}, "api.example.com:8443": {"POST"}}),
		"bound":   mustMethods(t, map[string][]string{"*": {"*"}, "example.com": {"GET"}, "example.com:9": {"*"}}),
		"blocked": mustMethods(t, map[string][]string{"*": {"*"}, "bad.example": {}}),
	}
	for _, test := range []struct{ rules, target, want string }{
		{"open", "http GET example.com:80", "yes"}, {"open", "connect example.com:22", "yes"}, {"open", "connect 8.8.8.8:53", "yes"},
		{"open", "connect 10.0.0.1:80", "no"}, {"open", "connect localhost:80", "no"}, {"open", "connect a.localhost:80", "no"},
		{"open", "connect metadata.google.internal:80", "no"}, {"open", "connect [::ffff:10.0.0.1]:80", "no"},
		{"closed", "http GET example.com:80", "ask"}, {"closed", "connect 8.8.8.8:443", "ask"}, {"closed", "connect 127.0.0.1:443", "no"},
		{"star", "connect example.com:22", "yes"}, {"star", "connect 10.0.0.1:80", "no"},
		{"star port", "connect example.com:8443", "yes"}, {"star port", "connect example.com:443", "ask"},
		{"name", "connect example.com:443", "yes"}, {"name", "connect a.b.example.com:80", "yes"}, {"name", "connect example.com:22", "ask"},
		{"name", "connect notexample.com:443", "ask"}, {"name", "connect example.com.evil:443", "ask"}, {"name", "connect com:443", "ask"},
		{"below", "connect a.example.com:443", "yes"}, {"below", "connect example.com:443", "ask"},
		{"port", "connect example.com:8443", "yes"}, {"port", "connect a.example.com:8443", "yes"}, {"port", "connect example.com:443", "ask"},
		{"names", "connect api.example.com:443", "yes"}, {"names", "connect api.example.com:8443", "yes"}, {"names", "connect example.com:8443", "ask"},
		{"address", "connect 10.0.0.1:443", "yes named"}, {"address", "connect 10.0.0.2:443", "no"}, {"address", "connect 10.0.0.1:22", "no"},
		{"address", "connect 192.168.0.1:8080", "yes named"}, {"address", "connect 192.168.0.1:80", "no"}, {"address", "connect 8.8.8.8:80", "yes named"},
		{"address", "connect [2606:4700::1]:8443", "yes named"}, {"address", "connect [fd00::1]:80", "yes named"}, {"address", "connect [fd00::2]:80", "no"},
		{"methods", "http GET example.com:80", "yes open"}, {"methods", "http POST example.com:80", "no"}, {"methods", "http get example.com:80", "no"},
		{"methods", "connect example.com:443", "yes open"}, {"methods", "https POST api.example.com:443", "yes"},
		{"methods", "https POST api.example.com:8443", "yes open"}, {"methods", "https GET api.example.com:8443", "no"},
		{"bound", "http POST other.test:80", "yes"}, {"bound", "http POST example.com:80", "no"}, {"bound", "http POST example.com:8080", "no"},
		{"bound", "http GET example.com:8080", "yes open"}, {"bound", "http POST example.com:9", "yes"},
		{"blocked", "connect good.example:443", "yes"}, {"blocked", "connect bad.example:443", "no"}, {"blocked", "http GET a.bad.example:80", "no"},
		{"blocked", "connect bad.example:8080", "no"},
	} {
		v := rules[test.rules].Decide(target(t, test.target))
		got := "no"
		if v.Allowed {
			got = "yes"
		} else if v.Askable {
			got = "ask"
		}
		if v.Open {
			got += " open"
		}
		if v.Named {
			got += " named"
		}
		if got != test.want || v.Allowed != (v.Why == "") {
			t.Errorf("%s, %s: %s (%+v), want %s", test.rules, test.target, got, v, test.want)
		}
	}
}

// target reads "kind [method] host:port".
func target(t *testing.T, s string) Target {
	t.Helper()
	words := strings.Fields(s)
	host, port, err := parseHostPort(words[len(words)-1], 0)
	if err != nil {
		t.Fatal(err)
	}
	out := Target{Host: host, Port: port, Kind: Kind(words[0])}
	if len(words) == 3 {
		out.Method = words[1]
	}
	return out
}

func TestDenialsSayWhatWouldAllow(t *testing.T) {
	r := mustMethods(t, map[string][]string{"example.com": {"GET"}, "*.b.example:8080": {"GET"}})
	got := map[string][2]string{}
	for _, s := range []string{"connect other.test:443", "connect other.test:22", "connect 10.0.0.1:443", "connect [fd00::1]:443", "connect 127.0.0.1:5432",
		"connect localhost:5432", "connect 169.254.169.254:80", "http POST example.com:80", "http FOO example.com:80", "http POST a.b.example:8080", "connect example.com:22"} {
		v := r.Decide(target(t, s))
		got[s] = [2]string{v.Why, v.Setting}
	}
	want := map[string][2]string{
		"connect other.test:443":     {"no rule allows other.test", "network.allowed_domains: [other.test]"},
		"connect other.test:22":      {"no rule allows other.test", `network.allowed_domains: ["other.test:22"]`},
		"connect 10.0.0.1:443":       {"10.0.0.1 is an address of a private network, which only a rule that names it opens", "network.allowed_domains: [10.0.0.1]"},
		"connect [fd00::1]:443":      {"fd00::1 is an address of a private network, which only a rule that names it opens", `network.allowed_domains: ["fd00::1"]`},
		"connect 127.0.0.1:5432":     {"127.0.0.1 is this machine itself and is not reached through the proxy", "network.allowed_ports: [5432]"},
		"connect localhost:5432":     {"localhost is this machine itself and is not reached through the proxy", "network.allowed_ports: [5432]"},
		"connect 169.254.169.254:80": {"169.254.169.254 is no address of the internet (metadata, link-local, reserved or the like)", ""},
		"http POST example.com:80":   {"example.com may be asked with GET only", `network.allowed_domains: {"example.com": [GET, POST]}`},
		"http FOO example.com:80":    {"example.com may be asked with GET only", ""},
		"http POST a.b.example:8080": {"*.b.example:8080 may be asked with GET only", `network.allowed_domains: {"*.b.example:8080": [GET, POST]}`},
		"connect example.com:22":     {"port 22 of example.com is not among those allowed", `network.allowed_domains: ["example.com:22"]`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRulesInWords(t *testing.T) {
	r := mustMethods(t, map[string][]string{"*": {"GET"}, "*.a.example": {"*"}, "a.example:8080": {"post", "GET", "GET"}, "fd00::1": {"*"}, "[fd00::2]:80": {"*"}})
	for got, want := range map[string]string{
		r.String():      "* (GET), *.a.example, a.example:8080 (GET POST)",
		Open().String(): "every public name", Closed().String(): "nothing",
	} {
		if !strings.HasPrefix(got, "*") && got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got, want := r.String(), "* (GET), a.example:8080 (GET POST), *.a.example, fd00::1, [fd00::2]:80"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !r.Opens() || Open().Opens() || mustAllow(t, "a.example").Opens() {
		t.Error("Opens is wrong")
	}
}

func TestAddresses(t *testing.T) {
	names := map[reach]string{public: "public", private: "private", loopback: "loopback", never: "never"}
	for in, want := range map[string]string{
		"8.8.8.8": "public", "1.1.1.1": "public", "2606:4700::1111": "public", "172.32.0.1": "public", "100.128.0.1": "public",
		"127.0.0.1": "loopback", "127.255.255.254": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback",
		"0.0.0.0": "never", "0.1.2.3": "never", "::": "never", "::ffff:0.0.0.0": "never",
		"10.1.2.3": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private", "100.64.0.1": "private",
		"100.127.255.255": "private", "fc00::1": "private", "fdff::1": "private", "::ffff:10.0.0.1": "private", "198.18.0.1": "private",
		"169.254.169.254": "never", "169.254.0.1": "never", "fe80::1": "never", "fec0::1": "never", "fd00:ec2::254": "never", "100.100.100.200": "never",
		"168.63.129.16": "never", "192.0.0.192": "never", "::ffff:169.254.169.254": "never",
		"224.0.0.1": "never", "239.255.255.255": "never", "ff02::1": "never", "255.255.255.255": "never", "240.0.0.1": "never",
		"192.0.2.1": "never", "198.51.100.1": "never", "203.0.113.1": "never", "2001:db8::1": "never", "3fff::1": "never",
		// IPv4 in other clothes.
		"64:ff9b::8.8.8.8": "public", "64:ff9b::127.0.0.1": "never", "64:ff9b::10.0.0.1": "never", "64:ff9b::169.254.169.254": "never",
		"64:ff9b:1::7f00:1": "private", "2002:7f00:1::": "never", "2002:a00:1::1": "never", "2002:808:808::1": "public", "2001:0:808:808::1": "never",
		"::127.0.0.1": "never", "::8.8.8.8": "never", "2606:4700::5efe:10.0.0.1": "never", "2606:4700::200:5efe:127.0.0.1": "never", "2606:4700::5efe:8.8.8.8": "public",
	} {
		if got := names[reachOf(netip.MustParseAddr(in))]; got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestAskedWithin: a person's word that a name may be reached takes nothing away from what another list says of it.
func TestAskedWithin(t *testing.T) {
	get, err := AllowMethods(map[string][]string{"a.example": {"GET"}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := New(Options{Ask: func(context.Context, Question) Answer { return Yes }})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, rules := range []Rules{get.Within(mustAllow(t, "b.example")), mustAllow(t, "b.example").Within(get)} {
		f.opt.Rules = rules
		if got, want := f.judge(t.Context(), target(t, "a.example:443")), (Verdict{Allowed: true, Open: true}); got != want {
			t.Errorf("%s: %+v, want %+v", rules, got, want)
		}
		post := target(t, "a.example:443")
		post.Method = "POST"
		if got := f.judge(t.Context(), post); got.Allowed {
			t.Errorf("%s: POST is allowed", rules)
		}
	}
}

// TestWithin: what both rules allow, and why not by the one that stands against it.
func TestWithin(t *testing.T) {
	methods := func(m map[string][]string) Rules {
		r, err := AllowMethods(m)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	get := methods(map[string][]string{"example": {"*"}, "a.example": {"GET"}})
	post := methods(map[string][]string{"example": {"*"}, "a.example": {"POST"}, "10.0.0.7": {"*"}})
	blocked := methods(map[string][]string{"a.example": {}})
	for _, test := range []struct {
		rules  Rules
		target string
		want   string
	}{
		{get.Within(Open()), "a.example:443 GET", "open"},
		{Open().Within(get), "a.example:443 GET", "open"},
		{Open().Within(get), "b.example:443", "yes"},
		{get.Within(post), "b.example:443", "yes"},
		{get.Within(post), "a.example:443 GET", "a.example may be asked with POST only"},
		{get.Within(post), "a.example:443 POST", "a.example may be asked with GET only"},
		{get.Within(mustAllow(t, "b.example")), "a.example:443 GET", "no rule allows a.example"},
		{get.Within(mustAllow(t, "b.example")), "b.example:443", "yes"},
		{get.Within(Closed()), "b.example:443", "no rule allows b.example"},
		{mustAllow(t, "c.example").Within(blocked), "a.example:443", "a.example is blocked by a rule of its own"},
		{mustAllow(t, "c.example").Within(get), "a.example:443 POST", "a.example may be asked with GET only"},
		{mustAllow(t, "*").Within(post), "10.0.0.7:80", "10.0.0.7 is an address of a private network, which only a rule that names it opens"},
		{get.Within(mustAllow(t, "b.example", "c.example")).Within(mustAllow(t, "c.example")), "b.example:443", "no rule allows b.example"},
	} {
		where, method, _ := strings.Cut(test.target, " ")
		to := target(t, where)
		to.Method = method
		v := test.rules.Decide(to)
		got := v.Why
		if v.Allowed {
			got = map[bool]string{true: "open", false: "yes"}[v.Open]
		}
		if got != test.want {
			t.Errorf("%s of %s: %q, want %q", test.target, test.rules, got, test.want)
		}
	}
	if r := Open().Within(get); !r.Opens() || !r.Knows(Host{Name: "a.example"}) || r.Knows(Host{Name: "elsewhere"}) || r.String() != "every public name, within a.example (GET), example" {
		t.Error(r.Opens(), r)
	}
}

package proxy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Rules say which names may be reached and how. The zero value is closed: none. They are plain data, made once and
// read by many.
type Rules struct {
	open bool
	// byName has, for each name, what was written of it; "" is the entry "*".
	byName map[string][]entry
	// within are rules that have to allow the same; nil where there are none.
	within *Rules
}

// entry is one line of allowed_domains.
type entry struct {
	name string
	// below says that the name itself is not meant ("*.example.com").
	below bool
	// exact says that name is an address.
	exact bool
	// port is 0 for the usual ones.
	port uint16
	// methods are HTTP's, sorted; nil is every one of them.
	methods []string
}

// blocked says that no method is allowed, so that a name is not reached which a wider entry allows.
func (e entry) blocked() bool { return e.methods != nil && len(e.methods) == 0 }

// Open allows every public name and address on every port.
func Open() Rules { return Rules{open: true} }

// Closed allows nothing.
func Closed() Rules { return Rules{} }

// Within allows what both allow: what a person lists, within what others list.
func (r Rules) Within(outer Rules) Rules {
	if r.within != nil {
		outer = r.within.Within(outer)
	}
	r.within = &outer
	return r
}

// EntryError is an entry of the rules that cannot be meant. Whoever read it adds the file and the line.
type EntryError struct{ Entry, Why string }

func (e *EntryError) Error() string { return fmt.Sprintf("allowed domain %q: %s", cut(e.Entry), e.Why) }

// Allow makes rules of names, each with every method: example.com (with its subdomains, ports 80 and 443),
// *.example.com (its subdomains only), example.com:8443 (that port only), an address, or * for everything public.
func Allow(names ...string) (Rules, error) {
	methods := map[string][]string{}
	for _, name := range names {
		methods[name] = []string{"*"}
	}
	return AllowMethods(methods)
}

// AllowMethods makes rules of names with the HTTP methods that each may be asked with; "*" is every one, and none at all
// blocks a name that a wider entry allows.
func AllowMethods(methods map[string][]string) (Rules, error) {
	rules := Rules{byName: map[string][]entry{}}
	for _, written := range slices.Sorted(maps.Keys(methods)) {
		e, err := parseEntry(written, methods[written])
		if err != nil {
			return Rules{}, err
		}
		if err := rules.add(written, e); err != nil {
			return Rules{}, err
		}
	}
	return rules, nil
}

func (r Rules) add(written string, e entry) error {
	for _, other := range r.byName[e.name] {
		if other.below != e.below || other.port != e.port {
			continue
		}
		if slices.Equal(other.methods, e.methods) && other.blocked() == e.blocked() {
			return nil
		}
		return &EntryError{written, "named twice, with different methods"}
	}
	list := append(r.byName[e.name], e)
	slices.SortFunc(list, moreSpecific)
	r.byName[e.name] = list
	return nil
}

// moreSpecific orders the entries of one name: with a port first, then subdomains only.
func moreSpecific(a, b entry) int {
	rank := func(e entry) int {
		n := 0
		if e.port == 0 {
			n += 2
		}
		if !e.below {
			n++
		}
		return n
	}
	return rank(a) - rank(b)
}

// parseEntry reads one entry.
func parseEntry(written string, methods []string) (entry, error) {
	var e entry
	fail := func(format string, args ...any) (entry, error) {
		return entry{}, &EntryError{written, fmt.Sprintf(format, args...)}
	}
	if why := misread(written); why != "" {
		return fail("%s", why)
	}
	var err error
	if e.methods, err = parseMethods(methods); err != nil {
		return fail("%v", err)
	}
	name, port, err := splitEntry(written)
	if err != nil {
		return fail("%v", err)
	}
	e.port = port
	if name == "*" {
		return e, nil
	}
	name, e.below = strings.CutPrefix(name, "*.")
	if strings.Contains(name, "*") {
		return fail("a * stands alone or before the first dot")
	}
	host, err := ParseHost(name)
	if err != nil {
		return fail("%v", err)
	}
	e.name, e.exact = host.String(), host.Name == ""
	if why := unnamable(host, e.below, name); why != "" {
		return fail("%s", why)
	}
	return e, nil
}

// misread recognises what people write in the place of a name.
func misread(s string) string {
	switch {
	case s == "":
		return "empty"
	case strings.TrimSpace(s) != s || strings.ContainsAny(s, " \t\r\n"):
		return "has a space in it"
	case strings.Contains(s, "://"):
		return "a name is wanted, without the scheme"
	case strings.Contains(s, "@"):
		return "a name is wanted, without a user"
	case strings.Contains(s, "/"):
		return "a name or an address is wanted, without a path; ranges of addresses cannot be named"
	case strings.ContainsAny(s, "?#"):
		return "a name is wanted, without a query"
	}
	return ""
}

// splitEntry parts an entry from its port, 0 if it has none. An IPv6 address needs brackets for a port only.
func splitEntry(s string) (string, uint16, error) {
	if strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "[") {
		return s, 0, nil
	}
	at := strings.LastIndexByte(s, ':')
	if at < 0 || strings.HasSuffix(s, "]") {
		return s, 0, nil
	}
	port, err := parsePort(s[at+1:])
	return s[:at], port, err
}

// unnamable says why no rule can name a host, though it is one.
func unnamable(h Host, below bool, written string) string {
	if h.Name == "" {
		if below {
			return "an address has no subdomains"
		}
		if inner := strings.Trim(written, "[]"); !strings.Contains(inner, ":") && inner != h.Addr.String() {
			return "write the address as " + h.Addr.String()
		}
	}
	switch why := forbidden(h); {
	case why == "":
		return ""
	case local(h):
		return why + "; network.allowed_ports opens its ports"
	default:
		return why
	}
}

// known are HTTP's methods: RFC 9110, PATCH (RFC 5789), QUERY, and those of WebDAV (RFC 4918, 3253, 3744, 5323) that
// Subversion and calendars use. CONNECT is none of a request's.
var known = strings.Fields("GET HEAD POST PUT DELETE OPTIONS TRACE PATCH QUERY PROPFIND PROPPATCH MKCOL COPY MOVE LOCK " +
	"UNLOCK REPORT SEARCH ACL VERSION-CONTROL CHECKOUT CHECKIN UNCHECKOUT MKWORKSPACE UPDATE LABEL MERGE BASELINE-CONTROL MKACTIVITY")

func parseMethods(list []string) ([]string, error) {
	out := []string{} // none at all: the name is blocked, where a wider one is allowed
	for _, m := range list {
		if m == "*" {
			if len(list) > 1 {
				return nil, fmt.Errorf("\"*\" is every method: name no other beside it")
			}
			return nil, nil
		}
		m = strings.ToUpper(m)
		if !slices.Contains(known, m) {
			return nil, fmt.Errorf("unknown HTTP method %q", cut(m))
		}
		out = append(out, m)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Opens says that some rule gives methods, so that TLS has to be opened: programs then need the authority's file
// before they start.
func (r Rules) Opens() bool {
	if r.within != nil && r.within.Opens() {
		return true
	}
	for _, list := range r.byName {
		if slices.ContainsFunc(list, func(e entry) bool { return e.methods != nil }) {
			return true
		}
	}
	return false
}

func (r Rules) String() string {
	if r.within != nil {
		inner := r
		inner.within = nil
		return inner.String() + ", within " + r.within.String()
	}
	if r.open {
		return "every public name"
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		for _, e := range r.byName[name] {
			out = append(out, e.String())
		}
	}
	if out == nil {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

func (e entry) String() string {
	s := e.name
	switch {
	case s == "":
		s = "*"
	case e.below:
		s = "*." + s
	case e.exact && e.port != 0 && strings.Contains(s, ":"):
		s = "[" + s + "]"
	}
	if e.port != 0 {
		s += ":" + strconv.Itoa(int(e.port))
	}
	if e.methods != nil {
		s += " (" + strings.Join(e.methods, " ") + ")"
	}
	return s
}

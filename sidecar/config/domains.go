package config

import (
	"errors"
	"slices"
	"strings"

	"code.sidecar.dev/sandbox/proxy"
)

// Domains are names that may be reached, in the order of the file.
type Domains struct{ Names []Domain }

// Domain is a rule as sandbox/proxy reads it: a name with its subdomains, "*.NAME" for these only, an address, "*" for
// every name, each with or without ":PORT".
type Domain struct {
	Name string
	// Methods are the HTTP methods that are allowed; nil is every one.
	Methods []string
}

// String is the domains as a config file has them.
func (d *Domains) String() string {
	if d == nil {
		return unset
	}
	var all []string
	if !slices.ContainsFunc(d.Names, func(d Domain) bool { return d.Methods != nil }) {
		for _, name := range d.Names {
			all = append(all, showText(name.Name))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	for _, name := range d.Names {
		all = append(all, showText(name.Name)+": "+name.showMethods())
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func (d Domain) showMethods() string {
	if d.Methods == nil {
		return `"*"`
	}
	return "[" + strings.Join(d.Methods, ", ") + "]"
}

// textDomains reads "example.com, example.org=GET|HEAD" as a file's list, or as its map where it has methods.
func textDomains(text string) raw {
	if isNone(text) {
		return raw{shape: list}
	}
	if !strings.Contains(text, "=") {
		return raw{shape: list, items: splitList(text, ",")}
	}
	pairs := splitPairs(text)
	for i, p := range pairs {
		pairs[i].shape = scalar // a name alone has every method
		if p.text != "" && p.text != "*" {
			pairs[i].raw = raw{shape: list, items: splitList(p.text, "|")}
		} else {
			pairs[i].text = "*"
		}
	}
	return raw{shape: mapping, pairs: pairs}
}

func readDomains(r raw) (*Domains, error) {
	switch r.shape {
	case list:
		return listedDomains(r)
	case mapping:
		return mappedDomains(r)
	}
	return nil, errShape
}

func listedDomains(r raw) (*Domains, error) {
	r.items = withPorts(r.items)
	names, err := r.texts("text")
	if err != nil {
		return nil, err
	}
	d := &Domains{Names: []Domain{}}
	for i, name := range names {
		domain := Domain{Name: name}
		if err := domain.check(r.items[i]); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(d.Names, func(have Domain) bool { return have.Name == name }) {
			d.Names = append(d.Names, domain)
		}
	}
	return d, checked(r, d.Names)
}

// withPorts puts "host:8443" together again, which the parser takes for a map in a list of one line.
func withPorts(items []raw) []raw {
	items = slices.Clone(items)
	for i, item := range items {
		if item.shape == mapping && len(item.pairs) == 1 && isPort(item.pairs[0].text) {
			p := item.pairs[0]
			items[i] = raw{shape: scalar, text: p.name + ":" + p.text, line: p.line}
		}
	}
	return items
}

// isPort says whether a text can stand for a port: digits, whatever their number.
func isPort(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func mappedDomains(r raw) (*Domains, error) {
	d := &Domains{Names: []Domain{}}
	for _, p := range r.pairs {
		methods, err := readMethods(p)
		if err != nil {
			return nil, err
		}
		domain := Domain{Name: p.name, Methods: methods}
		if err := domain.check(p.raw); err != nil {
			return nil, err
		}
		d.Names = append(d.Names, domain)
	}
	return d, checked(r, d.Names)
}

// readMethods are the methods of a name: nil for "*".
func readMethods(p rawPair) ([]string, error) {
	if p.shape == scalar && p.text == "*" {
		return nil, nil
	}
	if p.shape != list {
		return nil, newItemError(p.line, p.have()+" for "+quote(p.name), `"*" or a list of HTTP methods`)
	}
	for _, item := range p.items {
		if item.shape != scalar || !isMethod(item.text) {
			return nil, newItemError(item.line, item.have(), "an HTTP method in capitals, such as GET")
		}
	}
	return p.texts("text")
}

func isMethod(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}

// check is what the filter says of a rule; at is where it stands.
func (d Domain) check(at raw) error { return checked(at, []Domain{d}) }

// checked holds rules to what the filter takes.
func checked(at raw, rules []Domain) error {
	methods := map[string][]string{}
	for _, d := range rules {
		if methods[d.Name] = d.Methods; d.Methods == nil {
			methods[d.Name] = []string{"*"}
		}
	}
	_, err := proxy.AllowMethods(methods)
	var wrong *proxy.EntryError
	if errors.As(err, &wrong) {
		return itemError{line: at.line, problem: quote(wrong.Entry) + ": " + wrong.Why}
	}
	return err
}

// split is the host, as names are compared, and the port, if the name has one.
func (d Domain) split() (host, port string) {
	host = strings.ToLower(d.Name)
	at := strings.LastIndexByte(host, ':')
	if at > 0 && isPort(host[at+1:]) && (strings.Count(host, ":") == 1 || host[at-1] == ']') {
		host, port = host[:at], host[at+1:]
	}
	return strings.TrimSuffix(host, "."), port
}

// same says whether two rules are for one name.
func (d Domain) same(other Domain) bool {
	host, port := d.split()
	h, p := other.split()
	return host == h && port == p
}

// allows are the methods of the rule that decides for a name; ok is false where there is none.
func (d *Domains) allows(host, port string) (methods []string, ok bool) {
	longest := -1
	for _, rule := range d.Names {
		h, p := rule.split()
		if !covers(h, host) || !coversPort(h, p, port) {
			continue
		}
		// Of rules for one name that with a port comes first, then that for subdomains only.
		size := 4 * len(strings.TrimPrefix(strings.TrimPrefix(h, "*"), "."))
		if p != "" {
			size += 2
		}
		if strings.HasPrefix(h, "*.") {
			size++
		}
		if size > longest {
			longest, methods, ok = size, rule.Methods, true
		}
	}
	return methods, ok
}

// covers says whether a rule for a name is one for another, too: for subdomains, on the borders of labels.
func covers(rule, host string) bool {
	if under, ok := strings.CutPrefix(rule, "*."); ok {
		return strings.HasSuffix(host, "."+under)
	}
	return rule == "*" || rule == host || strings.HasSuffix(host, "."+rule)
}

// coversPort: a rule without a port is for those of HTTP and HTTPS, that for every name for every port.
func coversPort(rule, ruled, port string) bool {
	return ruled == port || ruled == "" && (rule == "*" || port == "80" || port == "443")
}

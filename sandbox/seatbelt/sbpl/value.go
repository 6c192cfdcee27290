package sbpl

import (
	"fmt"
	"regexp"
	"strings"
)

// value works an expression out.
func (p *Profile) value(n node) (value, error) {
	switch n.kind {
	case text, number:
		return value{text: n.atom}, nil
	case symbol:
		if v, ok := p.defined[n.atom]; ok {
			return v, nil
		}
		if n.is("#f") {
			return value{none: true}, nil
		}
		return value{text: n.atom}, nil
	}
	switch n.head() {
	case "param":
		return p.param(n)
	case "string-append":
		words, err := p.texts(n.list[1:])
		return value{text: strings.Join(words, "")}, err
	case "regex-quote":
		words, err := p.texts(n.list[1:])
		return value{text: regexp.QuoteMeta(strings.Join(words, ""))}, err
	}
	f, err := p.filter(n)
	return value{filter: f}, err
}

// param is a parameter's value, or nothing where it is not given.
func (p *Profile) param(n node) (value, error) {
	words, err := p.texts(n.list[1:])
	if err != nil || len(words) != 1 {
		return value{}, fmt.Errorf("param takes one name")
	}
	v, ok := p.params[words[0]]
	return value{text: v, none: !ok}, nil
}

// texts are the values of expressions that must be strings. A parameter that is missing is an error here, as it is for
// sandbox-exec.
func (p *Profile) texts(list []node) ([]string, error) {
	var out []string
	for _, n := range list {
		v, err := p.value(n)
		switch {
		case err != nil:
			return nil, err
		case v.none:
			return nil, fmt.Errorf("line %d: a parameter that is not given", n.line)
		case v.filter != nil:
			return nil, fmt.Errorf("line %d: a filter where a string is wanted", n.line)
		}
		out = append(out, v.text)
	}
	return out, nil
}

// filter reads a filter.
func (p *Profile) filter(n node) (filter, error) {
	name := n.head()
	switch name {
	case "require-all", "require-any", "require-not":
		return p.combined(name, n.list[1:])
	case "extension":
		return func(Query) bool { return false }, nil // a right that another process hands over: no question has one
	case "local", "remote":
		return p.address(n)
	}
	make, ok := filters[name]
	if !ok {
		return nil, fmt.Errorf("unknown filter %q", name)
	}
	words, err := p.texts(n.list[1:])
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("the filter %q of nothing", name)
	}
	var any []filter
	for _, w := range words {
		f, err := make(w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		any = append(any, f)
	}
	return anyOf(any), nil
}

func (p *Profile) combined(name string, list []node) (filter, error) {
	var fs []filter
	for _, n := range list {
		v, err := p.value(n)
		if err != nil {
			return nil, err
		}
		if v.filter == nil {
			return nil, fmt.Errorf("%s of what is no filter", name)
		}
		fs = append(fs, v.filter)
	}
	switch {
	case len(fs) == 0 || name == "require-not" && len(fs) != 1:
		return nil, fmt.Errorf("%s of %d filters", name, len(fs))
	case name == "require-not":
		return func(q Query) bool { return !fs[0](q) }, nil
	case name == "require-any":
		return anyOf(fs), nil
	}
	return func(q Query) bool {
		for _, f := range fs {
			if !f(q) {
				return false
			}
		}
		return true
	}, nil
}

func anyOf(fs []filter) filter {
	return func(q Query) bool {
		for _, f := range fs {
			if f(q) {
				return true
			}
		}
		return false
	}
}

// address reads (remote tcp "localhost:80"), (local ip "*:*"), (remote unix-socket (path-literal "…")).
func (p *Profile) address(n node) (filter, error) {
	if len(n.list) < 2 || n.list[1].kind != symbol {
		return nil, fmt.Errorf("%s of nothing", n.head())
	}
	side, proto := n.head(), n.list[1].atom
	if proto == "unix" || proto == "unix-socket" {
		return p.unixAddress(n)
	}
	if !strings.Contains(" ip ip4 ip6 tcp tcp4 tcp6 udp udp4 udp6 ", " "+proto+" ") {
		return nil, fmt.Errorf("unknown protocol %q", proto)
	}
	host, port := "*", "*"
	if len(n.list) > 2 {
		words, err := p.texts(n.list[2:])
		if err != nil {
			return nil, err
		}
		var ok bool
		if host, port, ok = strings.Cut(words[0], ":"); !ok {
			return nil, fmt.Errorf("port missing in network address")
		}
	}
	if host != "*" && host != "localhost" {
		return nil, fmt.Errorf("host must be * or localhost in network address")
	}
	if port != "*" && strings.Trim(port, "0123456789") != "" {
		return nil, fmt.Errorf("invalid port in network address")
	}
	return func(q Query) bool { return q.endpoint(side).matches(proto, host, port) }, nil
}

func (p *Profile) unixAddress(n node) (filter, error) {
	if len(n.list) == 2 {
		return func(q Query) bool { return q.Path != "" }, nil
	}
	v, err := p.value(n.list[2])
	if err == nil && v.filter == nil {
		err = fmt.Errorf("a unix socket's address is a filter of paths")
	}
	return v.filter, err
}

package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// read returns what a request is for. Its error is a request that cannot be meant, or that means two things.
func (f *Filter) read(r *http.Request, o origin) (Target, error) {
	switch {
	case r.ProtoMajor != 1:
		return Target{}, errors.New("HTTP/1.1 is spoken here")
	case r.URL.Opaque != "": // http:http://bad.test/, which would be sent on as http://bad.test/: a server obeys that, and not Host
		return Target{}, errors.New("neither a path nor a whole address")
	case r.URL.User != nil:
		return Target{}, errors.New("a user in the address; send it as a header")
	case r.Method == http.MethodConnect && o.meant.Port == 0:
		return f.readConnect(r)
	case r.Method == http.MethodConnect:
		return Target{}, errors.New("CONNECT inside a connection")
	case o.meant.Port == 0:
		return f.readAbsolute(r)
	}
	return f.readOrigin(r, o)
}

func (f *Filter) readConnect(r *http.Request) (Target, error) {
	host, port, err := parseHostPort(r.RequestURI, 0)
	return Target{Host: f.meant(host), Port: port, Kind: Connect}, err
}

// readAbsolute reads a request to a proxy. The Host header beside it is dropped and made anew of the address, as RFC
// 9112 section 3.2.2 has it, so that it cannot name another.
func (f *Filter) readAbsolute(r *http.Request) (Target, error) {
	if r.URL.Scheme == "" || r.URL.Host == "" {
		return Target{}, errors.New("this is sidecar's proxy: a request has the whole address")
	}
	if r.URL.Scheme != "http" {
		return Target{}, fmt.Errorf("the scheme %s is not for a proxy; CONNECT is", cut(r.URL.Scheme))
	}
	host, port, err := parseHostPort(r.URL.Host, 80)
	return Target{Host: f.meant(host), Port: port, Kind: HTTP, Method: r.Method}, err
}

// readOrigin reads a request in a connection that was made to one server: it has to name that one.
func (f *Filter) readOrigin(r *http.Request, o origin) (Target, error) {
	t := Target{Host: o.meant.Host, Port: o.meant.Port, Kind: o.scheme, Method: r.Method}
	if r.URL.IsAbs() && r.URL.Scheme != string(o.scheme) {
		return t, fmt.Errorf("the scheme is %s here", o.scheme)
	}
	if r.Host == "" && !r.ProtoAtLeast(1, 1) {
		return t, nil
	}
	usual := uint16(80)
	if o.scheme == HTTPS {
		usual = 443
	}
	host, port, err := parseHostPort(r.Host, usual)
	if err != nil {
		return t, err
	}
	if f.meant(host) != t.Host || port != t.Port {
		return t, fmt.Errorf("the request names %s, its connection was made to %s", cut(r.Host), t.hostPort())
	}
	return t, nil
}

// overrides are headers by which many servers let one method stand for another.
var overrides = []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"}

// judgeHeader looks at what else in an allowed request could make it more than it says.
func (f *Filter) judgeHeader(r *http.Request, v Verdict) Verdict {
	if !upgradesToWebSocket(r) {
		// A server may go on without an upgrade (RFC 9110 section 7.8), and h2c would bring requests that nobody reads.
		r.Header.Del("Upgrade")
		r.Header.Del("Http2-Settings")
	} else if v.Open {
		return Verdict{Why: "in a WebSocket there are no methods to tell apart, and only some are allowed here"}
	}
	if !v.Open {
		return v
	}
	for name := range r.Header {
		if slices.Contains(overrides, http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))) { // CGI makes them one (RFC 3875, 4.1.18)
			return Verdict{Why: "the header " + cut(name) + " puts another method in the place of the request's"}
		}
	}
	return v
}

func upgradesToWebSocket(r *http.Request) bool {
	values := r.Header.Values("Upgrade")
	return len(values) == 1 && strings.EqualFold(strings.TrimSpace(values[0]), "websocket")
}

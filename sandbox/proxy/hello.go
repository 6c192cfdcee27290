package proxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// errNotTLS is of a client that does not begin with a TLS handshake.
var errNotTLS = errors.New("this is not TLS")

// mostHello bounds a ClientHello; those with post-quantum keys and a ticket have some 3,000 bytes.
const mostHello = 32 << 10

// Numbers of TLS, from RFC 8446 (records: section 5.1, ClientHello: 4.1.2) and RFC 6066 section 3 (server_name).
const (
	recordAlert     = 21
	recordHandshake = 22
	clientHello     = 1
	serverNameExt   = 0
	hostNameType    = 0

	alertAccessDenied     = 49
	alertUnrecognizedName = 112
)

// readHello reads a ClientHello, which may be in several records, and returns what it read, also on an error, and the
// server name in it, "" if there is none.
func readHello(r io.Reader) (raw []byte, name string, err error) {
	var message []byte
	for {
		var head [5]byte
		n, err := io.ReadFull(r, head[:])
		raw = append(raw, head[:n]...)
		if n > 0 && head[0] != recordHandshake || n > 1 && head[1] != 3 {
			return raw, "", errNotTLS
		}
		if err != nil {
			return raw, "", fmt.Errorf("no ClientHello came: %w", err)
		}
		size := int(binary.BigEndian.Uint16(head[3:]))
		if size == 0 || len(raw)+size > mostHello {
			return raw, "", errors.New("a ClientHello of unreasonable size")
		}
		body := make([]byte, size)
		n, err = io.ReadFull(r, body)
		raw = append(raw, body[:n]...)
		if err != nil {
			return raw, "", fmt.Errorf("half a ClientHello came: %w", err)
		}
		message = append(message, body...)
		if message[0] != clientHello {
			return raw, "", errNotTLS
		}
		if len(message) < 4 {
			continue
		}
		if want := int(message[1])<<16 | int(message[2])<<8 | int(message[3]); len(message)-4 >= want {
			name, err := serverName(message[4 : 4+want])
			return raw, name, err
		}
	}
}

var errHello = errors.New("a malformed ClientHello")

// fields reads TLS's length-prefixed fields one after the other; ok turns false for good when one is cut short.
type fields struct {
	rest []byte
	ok   bool
}

func (f *fields) take(n int) []byte {
	if !f.ok || len(f.rest) < n {
		f.ok = false
		return nil
	}
	out := f.rest[:n]
	f.rest = f.rest[n:]
	return out
}

// number reads n bytes as a number.
func (f *fields) number(n int) int {
	value := 0
	for _, b := range f.take(n) {
		value = value<<8 | int(b)
	}
	return value
}

// vector reads a field whose length is in the n bytes before it.
func (f *fields) vector(n int) []byte { return f.take(f.number(n)) }

// serverName returns the host name of a ClientHello's body.
func serverName(body []byte) (string, error) {
	hello := fields{body, true}
	hello.take(2 + 32) // version, random
	hello.vector(1)    // session
	hello.vector(2)    // cipher suites
	hello.vector(1)    // compression
	if hello.ok && len(hello.rest) == 0 {
		return "", nil
	}
	all := fields{hello.vector(2), hello.ok}
	if !hello.ok || len(hello.rest) > 0 {
		return "", errHello
	}
	name, found := "", false
	for all.ok && len(all.rest) > 0 {
		kind, data := all.number(2), all.vector(2)
		if !all.ok || kind != serverNameExt {
			continue
		}
		if found {
			return "", errHello
		}
		var err error
		if name, err = hostName(data); err != nil {
			return "", err
		}
		found = true
	}
	if !all.ok {
		return "", errHello
	}
	return name, nil
}

// hostName reads the extension, which has exactly one name: of two, which one a server takes is anyone's guess.
func hostName(data []byte) (string, error) {
	ext := fields{data, true}
	list := fields{ext.vector(2), ext.ok}
	kind, name := list.number(1), list.vector(2)
	if !ext.ok || !list.ok || len(ext.rest)+len(list.rest) > 0 || kind != hostNameType || len(name) == 0 {
		return "", errHello
	}
	return string(name), nil
}

// checkHello reads the client's hello and compares its name with the one that was asked for. Where an address was, a
// name may be missing, or be one that is allowed as well. On other ports than the web's it may be missing, too, as clients of
// databases leave it out. With Encrypted Client Hello it is the outer name that counts.
func (f *Filter) checkHello(s *stream, t Target) error {
	name, err := s.hello(f.opt.Patience)
	switch {
	case t.Port != 443 && (err == errNotTLS || err == nil && name == ""):
		return nil
	case err == errNotTLS:
		return f.deny(t, "what came is not TLS", "")
	case err != nil:
		return err
	case name == "" && t.Host.Name == "":
		return nil
	case name == "":
		return f.deny(t, "the TLS handshake names no server", "")
	}
	host, err := ParseHost(name)
	if err == nil && host == t.Host {
		return nil
	}
	if err == nil && t.Host.Name == "" && host.Name != "" {
		if v := f.opt.Rules.Decide(Target{Host: host, Port: t.Port}); v.Allowed && !v.Open {
			return nil
		}
	}
	return f.deny(t, "the TLS handshake names another server, "+printable(name), "")
}

// alert ends a handshake with a fatal alert, so that the client has more than a connection that ended.
func (s *stream) alert(code byte) {
	s.Write([]byte{recordAlert, 3, 3, 0, 2, 2, code}) //nolint:errcheck // it is closed next
}

package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
)

// Numbers of SOCKS, from RFC 1928 and RFC 1929.
const (
	socks4 = 4
	socks5 = 5

	methodNone     = 0
	methodPassword = 2
	methodNoneFits = 0xff

	commandConnect = 1

	addressV4   = 1
	addressName = 3
	addressV6   = 4

	replyDone           = 0
	replyFailed         = 1
	replyNotAllowed     = 2
	replyUnreachable    = 4
	replyRefused        = 5
	replyExpired        = 6
	replyUnknownCommand = 7
	replyUnknownAddress = 8
)

// socks serves one SOCKS5 client: CONNECT only, with names resolved here.
func (f *Filter) socks(s *stream) {
	calm := s.hurry(f.opt.Patience)
	t, reply, err := f.socksRequest(s)
	calm()
	if err != nil {
		if reply != replyDone {
			_ = s.socksReply(reply) // it is closed next
		}
		end(s)
		return
	}
	ctx, stop := s.watch(f.ctx)
	p, err := f.prepare(ctx, t)
	stop()
	if s.socksReply(socksCode(err)) != nil || err != nil {
		p.close()
		end(s)
		return
	}
	f.converse(s, p)
}

// socksRequest reads up to and with the request. With an error comes the reply that says so, 0 for none.
func (f *Filter) socksRequest(s *stream) (Target, byte, error) {
	if err := s.socksGreeting(); err != nil {
		return Target{}, 0, err
	}
	var head [4]byte
	if _, err := io.ReadFull(s, head[:]); err != nil {
		return Target{}, 0, err
	}
	if head[0] != socks5 || head[1] != commandConnect {
		return Target{}, replyUnknownCommand, errors.New("socks: CONNECT is the only command")
	}
	written, err := s.socksAddress(head[3])
	if err != nil {
		return Target{}, replyUnknownAddress, err
	}
	var port [2]byte
	if _, err := io.ReadFull(s, port[:]); err != nil {
		return Target{}, 0, err
	}
	host, err := ParseHost(written)
	t := Target{Host: f.meant(host), Port: binary.BigEndian.Uint16(port[:]), Kind: SOCKS}
	if err != nil || t.Port == 0 {
		return t, replyNotAllowed, f.denyText(written, "a connection to "+written, "not a host name and port")
	}
	return t, 0, nil
}

// socksGreeting agrees on a method. A name and password are taken, whatever they are: some clients insist.
func (s *stream) socksGreeting() error {
	var head [2]byte
	if _, err := io.ReadFull(s, head[:]); err != nil {
		return err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(s, methods); err != nil {
		return err
	}
	chosen := byte(methodNoneFits)
	for _, m := range methods {
		if m == methodNone || m == methodPassword && chosen == methodNoneFits {
			chosen = m
		}
		if m == methodNone {
			break
		}
	}
	if _, err := s.Write([]byte{socks5, chosen}); err != nil {
		return err
	}
	switch chosen {
	case methodNone:
		return nil
	case methodPassword:
		return s.socksPassword()
	}
	return errors.New("socks: no method fits")
}

// socksPassword is RFC 1929: version, name, password; then version and 0 for welcome.
func (s *stream) socksPassword() error {
	var version [1]byte
	if _, err := io.ReadFull(s, version[:]); err != nil {
		return err
	}
	for range 2 {
		if _, err := s.socksString(); err != nil {
			return err
		}
	}
	_, err := s.Write([]byte{version[0], 0})
	return err
}

// socksString reads bytes after their number.
func (s *stream) socksString() (string, error) {
	var size [1]byte
	if _, err := io.ReadFull(s, size[:]); err != nil {
		return "", err
	}
	b := make([]byte, size[0])
	_, err := io.ReadFull(s, b)
	return string(b), err
}

func (s *stream) socksAddress(kind byte) (string, error) {
	size := 4
	switch kind {
	case addressName:
		return s.socksString()
	case addressV4:
	case addressV6:
		size = 16
	default:
		return "", fmt.Errorf("socks: address type %d", kind)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(s, b); err != nil {
		return "", err
	}
	addr, _ := netip.AddrFromSlice(b)
	return addr.String(), nil
}

// socksReply answers, with an address of zeros: what the connection has at this end is no one's business.
func (s *stream) socksReply(code byte) error {
	_, err := s.Write([]byte{socks5, code, 0, addressV4, 0, 0, 0, 0, 0, 0})
	return err
}

func socksCode(err error) byte {
	var refused *refusal
	var dns *net.DNSError
	switch {
	case err == nil:
		return replyDone
	case errors.As(err, &refused):
		return replyNotAllowed
	case errors.As(err, &dns):
		return replyUnreachable
	case errors.Is(err, syscall.ECONNREFUSED):
		return replyRefused
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return replyExpired
	}
	return replyFailed
}

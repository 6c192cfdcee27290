package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// passage is a connection that was allowed: what it is for, and the server's end where it is already known that the
// bytes go through as they are.
type passage struct {
	target Target
	open   bool
	up     net.Conn
}

func (p passage) close() {
	if p.up != nil {
		end(p.up)
	}
}

// prepare judges a target and connects, unless the requests in the connection are to be read one by one: each of them
// then brings its own connection about. An error that is a *refusal has been recorded.
func (f *Filter) prepare(ctx context.Context, t Target) (passage, error) {
	v := f.judge(ctx, t)
	if !v.Allowed {
		return passage{target: t}, f.deny(t, v.Why, v.Setting)
	}
	p := passage{target: t, open: v.Open}
	if p.open || t.Port == 80 {
		return p, nil
	}
	up, err := f.connect(ctx, t)
	p.up = up
	return p, err
}

// converse carries an allowed connection to its end.
func (f *Filter) converse(s *stream, p passage) {
	switch {
	case p.open:
		f.openTLS(s, p.target)
		return
	case p.target.Port == 80:
		f.serveWeb(s, origin{meant: p.target, scheme: HTTP})
		return
	case p.target.Port == 443:
		if err := f.checkHello(s, p.target); err != nil {
			s.alert(alertUnrecognizedName)
			p.close()
			end(s)
			return
		}
		splice(s, p.up, nil)
		return
	}
	splice(s, p.up, func() error { return f.checkFirst(s, p.target) })
}

// checkFirst looks at what a client sends first to a port that may be of any protocol: TLS names no other server than the one that
// was asked for. Which side begins is not known, so that it takes as long as it takes, while the server's bytes pass.
func (f *Filter) checkFirst(s *stream, t Target) error {
	if len(s.ahead) == 0 {
		b := make([]byte, 4096)
		n, err := s.Conn.Read(b)
		if s.ahead = b[:n]; n == 0 || err != nil {
			return nil // who passes the rest on meets the same
		}
	}
	if s.ahead[0] != recordHandshake {
		return nil
	}
	err := f.checkHello(s, t)
	if err != nil {
		s.alert(alertUnrecognizedName)
	}
	return err
}

// openTLS serves the requests in a connection whose methods matter: in TLS, under a certificate of the run's own
// authority, or in clear. Anything else cannot be judged and ends.
func (f *Filter) openTLS(s *stream, t Target) {
	first, err := s.peekByte(f.opt.Patience)
	if err != nil {
		end(s)
		return
	}
	if first != recordHandshake && t.Port != 443 {
		f.serveWeb(s, origin{meant: t, scheme: HTTP})
		return
	}
	if f.checkHello(s, t) != nil {
		s.alert(alertUnrecognizedName)
		end(s)
		return
	}
	opened := tls.Server(s, &tls.Config{
		NextProtos:     []string{"http/1.1"},
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.authority.leaf(t.Host) },
	})
	calm := s.hurry(f.opt.Patience)
	if opened.HandshakeContext(f.ctx) != nil {
		end(s)
		return
	}
	calm()
	f.serveWeb(&stream{Conn: opened, release: s.release}, origin{meant: t, scheme: HTTPS})
}

// proxy serves the proxy port: the first byte tells SOCKS from HTTP.
func (f *Filter) proxy(s *stream) {
	first, err := s.peekByte(f.opt.Patience)
	switch {
	case err != nil, first == socks4:
		end(s)
	case first == socks5:
		f.socks(s)
	default:
		f.serveWeb(s, origin{})
	}
}

// transparent serves a connection to an address that stands for a name.
func (f *Filter) transparent(s *stream, port uint16) {
	host, err := localHost(s)
	if err != nil {
		end(s)
		return
	}
	t := Target{Host: f.meant(host), Port: port, Kind: Direct}
	if port == 80 {
		f.serveWeb(s, origin{meant: t, scheme: HTTP})
		return
	}
	if t.Host.Name == "" {
		f.refuse(s, t, f.denyNameless(t))
		return
	}
	ctx, stop := s.watch(f.ctx)
	p, err := f.prepare(ctx, t)
	stop()
	if err != nil {
		f.refuse(s, t, err)
		return
	}
	f.converse(s, p)
}

// denyNameless denies a connection to an address of the sandbox's own loopback: the one that programs mean by localhost, or one
// of those that stand for names, and this one for none.
func (f *Filter) denyNameless(t Target) *refusal {
	if t.Host.Addr == loopbackV4 || t.Host.Addr == netip.IPv6Loopback() {
		return f.deny(t, "nothing listens there inside of the sandbox, whose loopback is not this machine's", fmt.Sprintf("%s: [%d]", settingPorts, t.Port))
	}
	return f.deny(t, "inside of the sandbox this address is that of a name that was looked up, and none was for it", "")
}

var loopbackV4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// localHost is the address that a client connected to.
func localHost(s *stream) (Host, error) {
	at, err := netip.ParseAddrPort(s.LocalAddr().String())
	if err != nil {
		return Host{}, err
	}
	return Host{Addr: at.Addr().Unmap()}, nil
}

// refuse ends a connection in the way that its port leads the client to expect.
func (f *Filter) refuse(s *stream, t Target, err error) {
	defer end(s)
	if t.Port != 443 {
		return
	}
	code := byte(alertUnrecognizedName)
	if refused := new(refusal); errors.As(err, &refused) {
		code = alertAccessDenied
	}
	// An alert that comes before the hello was read may be lost in the reset of the connection.
	if _, err := s.hello(f.opt.Patience); err == nil {
		s.alert(code)
	}
}

// local passes a connection to the host's own port.
func (f *Filter) local(s *stream, port uint16) {
	for _, addr := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
		ctx, cancel := context.WithTimeout(f.ctx, dialTime)
		up, err := systemDial(ctx, netip.AddrPortFrom(addr, port))
		cancel()
		if err == nil {
			splice(s, up, nil)
			return
		}
	}
	end(s)
}

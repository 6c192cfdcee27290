package proxy

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Options are what a filter is made of. The zero value allows nothing.
type Options struct {
	Rules Rules
	// Hosts are fixed answers of the person's own, see Hosts.
	Hosts Hosts
	// AllowPrivate are names, in the form that Allow takes, which may have addresses of private networks.
	AllowPrivate []string
	// Denied is told of each thing that was denied, the first time; Filter.Denials has how often. It must not block.
	Denied func(Denial)
	// Ask asks a person whether a name that no rule names may be reached. It may take its time: who asked waits. Its
	// context ends when nobody waits any more. Nil is no.
	Ask func(context.Context, Question) Answer
	// Resolve looks a name up; nil is the system's resolver.
	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)
	// Dial connects to an address that was found good; nil is TCP.
	Dial func(context.Context, netip.AddrPort) (net.Conn, error)
	// Own are the host's own addresses, which are not reached under any name, each with the network around it, which is taken for
	// a private one; nil asks the system each time.
	Own func() []netip.Prefix
	// Roots are what servers are verified by where TLS is opened; nil is the system's.
	Roots *x509.CertPool
	// Patience is how long a client may take for a header, a handshake, a ClientHello; 0 is 15 seconds.
	Patience time.Duration
}

// mostConnections at once; a program that holds more waits for none to be accepted. Each may take six descriptors.
const mostConnections = 1024

// connections is how many this process can spare to one run: it serves others as well.
func connections() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 64
	}
	return int(min(mostConnections, max(16, l.Cur/8)))
}

// Filter is the network of one run. Making one costs next to nothing: keys and goroutines come when they are needed.
type Filter struct {
	opt       Options
	private   Rules
	names     *names
	log       *denials
	approvals *approvals
	authority *authority
	transport *http.Transport
	forwarder *httputil.ReverseProxy

	ctx  context.Context
	stop context.CancelFunc
	// most connections at once.
	most int

	mu     sync.Mutex
	closed bool
	// live are the listeners and connections that Close ends.
	live map[closer]struct{}
	work sync.WaitGroup
	web  *web
}

type closer interface{ Close() error }

// New makes a filter. Its only error is an AllowPrivate that cannot be meant.
func New(opt Options) (*Filter, error) {
	private, err := Allow(opt.AllowPrivate...)
	if err != nil {
		return nil, fmt.Errorf("private addresses: %w", err)
	}
	opt.fill()
	f := &Filter{
		opt: opt, private: private, names: newNames(), log: newDenials(opt.Denied),
		authority: newAuthority(), live: map[closer]struct{}{}, most: connections(),
	}
	f.ctx, f.stop = context.WithCancel(context.Background())
	f.approvals = newApprovals(f.ctx, opt.Ask)
	f.transport = f.newTransport()
	f.forwarder = f.newForwarder()
	return f, nil
}

func (o *Options) fill() {
	if o.Resolve == nil {
		o.Resolve = systemResolve
	}
	if o.Dial == nil {
		o.Dial = systemDial
	}
	if o.Own == nil {
		o.Own = systemAddresses
	}
	if o.Patience == 0 {
		o.Patience = 15 * time.Second
	}
}

// CA returns the certificate, in PEM, of the authority that opens TLS in this run. It is made when it is first asked for.
func (f *Filter) CA() ([]byte, error) { return f.authority.pem() }

// Denials are what was denied so far, in order, with how often.
func (f *Filter) Denials() []Denial { return f.log.list() }

// ServeProxy serves the proxy port, HTTP and SOCKS5, on l. Like the other Serve functions it returns at once; the
// listener is the filter's from then on, and ends with Close.
func (f *Filter) ServeProxy(l net.Listener) { f.accept(l, f.proxy) }

// ServeTransparent serves connections that were made to an address that DNS gave out, on l, which listens on port.
func (f *Filter) ServeTransparent(l net.Listener, port uint16) {
	f.accept(l, func(s *stream) { f.transparent(s, port) })
}

// ServeLocal passes what connects to l to the host's own port, 127.0.0.1 or ::1, and nothing else.
func (f *Filter) ServeLocal(l net.Listener, port uint16) {
	f.accept(l, func(s *stream) { f.local(s, port) })
}

// ServeDNS answers queries on c.
func (f *Filter) ServeDNS(c net.PacketConn) {
	if !f.hold(c) {
		return
	}
	go func() {
		defer f.release(c)
		f.answerPackets(c)
	}()
}

// ServeDNSStream answers queries over TCP.
func (f *Filter) ServeDNSStream(l net.Listener) { f.accept(l, f.answerStream) }

// accept hands each connection to serve, in a goroutine of its own.
func (f *Filter) accept(l net.Listener, serve func(*stream)) {
	if !f.hold(l) {
		return
	}
	go func() {
		defer f.release(l)
		for {
			conn, err := l.Accept()
			switch {
			case err == nil:
				f.start(conn, serve)
			case f.ctx.Err() != nil || errors.Is(err, net.ErrClosed):
				return
			default: // no descriptor is free, or the client has gone already: that passes
				f.pause(10 * time.Millisecond)
			}
		}
	}()
}

func (f *Filter) pause(d time.Duration) {
	select {
	case <-f.ctx.Done():
	case <-time.After(d):
	}
}

// start serves one connection. What strangers sent must not end the process that holds other runs as well, so that a
// panic ends the connection only, as net/http's does.
func (f *Filter) start(conn net.Conn, serve func(*stream)) {
	s := &stream{Conn: conn}
	s.release = func() { f.release(s) }
	if f.crowded() || !f.hold(s) {
		end(conn)
		return
	}
	go func() {
		defer func() {
			if recover() != nil {
				end(s)
			}
		}()
		serve(s)
	}()
}

func (f *Filter) crowded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.live) > f.most
}

// hold remembers what Close has to end; a filter that is closed ends it at once.
func (f *Filter) hold(c closer) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		go end(c)
		return false
	}
	f.live[c] = struct{}{}
	f.work.Add(1)
	return true
}

func (f *Filter) release(c closer) {
	f.mu.Lock()
	_, held := f.live[c]
	delete(f.live, c)
	f.mu.Unlock()
	if held {
		f.work.Done()
	}
}

// Close ends everything: listeners, connections, questions. It returns when that is done.
func (f *Filter) Close() {
	f.stop()
	f.mu.Lock()
	f.closed = true
	live := slices.Collect(maps.Keys(f.live))
	web := f.web
	f.mu.Unlock()
	for _, c := range live {
		end(c)
	}
	if web != nil {
		web.close()
	}
	f.work.Wait()
	f.transport.CloseIdleConnections()
}

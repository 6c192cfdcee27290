package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"time"
)

type targetKey struct{}

// forward sends a judged request on, and its answer back. An answer may begin before the request has ended, which
// net/http's server takes for an exception in HTTP/1.
func (f *Filter) forward(w http.ResponseWriter, r *http.Request, t Target) {
	if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
		fail(w, err)
		return
	}
	f.forwarder.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), targetKey{}, t)))
}

// newForwarder makes the one that serves all requests: httputil's, which drops hop-by-hop headers, streams both
// bodies, passes trailers and informational responses, and splices an upgrade.
func (f *Filter) newForwarder() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:       rewrite,
		Transport:     f.transport,
		FlushInterval: -1,
		BufferPool:    new(buffers),
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, err error) { fail(w, err) },
	}
}

// rewrite makes the request's address and Host of the target that was judged, and of nothing that the client wrote.
func rewrite(p *httputil.ProxyRequest) {
	t := p.In.Context().Value(targetKey{}).(Target)
	p.Out.URL.Scheme = string(t.Kind)
	p.Out.URL.Host = t.hostPort()
	p.Out.URL.User = nil
	p.Out.Host = t.authority()
}

// authority is what the Host header has: without the port where it is the scheme's own, since servers compare.
func (t Target) authority() string {
	if t.Kind == HTTP && t.Port == 80 || t.Kind == HTTPS && t.Port == 443 {
		return strings.TrimSuffix(strings.TrimSuffix(t.hostPort(), ":80"), ":443")
	}
	return t.hostPort()
}

func (f *Filter) newTransport() *http.Transport {
	return &http.Transport{
		DialContext:            f.dialForward,
		TLSClientConfig:        &tls.Config{RootCAs: f.opt.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    f.opt.Patience,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    64,
		MaxIdleConns:           256,
		IdleConnTimeout:        30 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: mostResponseHeader,
	}
}

// dialForward connects for the transport, which names the target of the request in its own words.
func (f *Filter) dialForward(ctx context.Context, _, addr string) (net.Conn, error) {
	host, port, err := parseHostPort(addr, 0)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.ctx, cancel)()
	return f.connect(ctx, Target{Host: host, Port: port, Kind: Connect})
}

// fail answers with what stood against a request that was allowed.
func fail(w http.ResponseWriter, err error) {
	if refused := new(refusal); errors.As(err, &refused) {
		say(w, http.StatusForbidden, refused)
		return
	}
	status := http.StatusBadGateway
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		status = http.StatusGatewayTimeout
	}
	say(w, status, fmt.Errorf("sidecar: the server was not reached: %w", err))
}

// buffers are those that bodies are copied through.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return *buf
	}
	return make([]byte, 64<<10)
}

func (b *buffers) Put(buf []byte) { b.pool.Put(&buf) }

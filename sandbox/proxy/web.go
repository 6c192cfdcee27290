package proxy

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

// origin is what HTTP on a connection is for. On the proxy port it is empty, and each request names its own target.
type origin struct {
	meant  Target
	scheme Kind
}

type originKey struct{}

// Limits of HTTP. Headers are held in the memory of this process, some two times over, for each of the connections at once.
const (
	mostHeader         = 96 << 10
	mostResponseHeader = 128 << 10
	idleTime           = 2 * time.Minute
)

// web is the server of all HTTP in a filter, on connections that are handed to it.
type web struct {
	server   *http.Server
	incoming chan net.Conn
	done     <-chan struct{}
}

// Accept, Close and Addr make it the net.Listener that its server asks.
func (w *web) Accept() (net.Conn, error) {
	select {
	case c := <-w.incoming:
		return c, nil
	case <-w.done:
		return nil, net.ErrClosed
	}
}

func (w *web) Close() error   { return nil }
func (w *web) Addr() net.Addr { return &net.TCPAddr{} }

func (w *web) close() { w.server.Close() } //nolint:errcheck // its connections are the filter's, which closes them

// serveWeb hands a connection to the web server, which is started with the first one.
func (f *Filter) serveWeb(s *stream, o origin) {
	s.origin = o
	select {
	case f.webServer().incoming <- s:
	case <-f.ctx.Done():
		end(s)
	}
}

func (f *Filter) webServer() *web {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.web == nil {
		f.web = &web{incoming: make(chan net.Conn), done: f.ctx.Done(), server: f.newServer()}
		go f.web.server.Serve(f.web) //nolint:errcheck // it ends with the filter
	}
	return f.web
}

func (f *Filter) newServer() *http.Server {
	return &http.Server{
		Handler:           http.HandlerFunc(f.serveHTTP),
		ReadHeaderTimeout: f.opt.Patience,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    mostHeader,
		ErrorLog:          log.New(io.Discard, "", 0),
		BaseContext:       func(net.Listener) context.Context { return f.ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, originKey{}, c.(*stream).origin)
		},
	}
}

// serveHTTP is every request's way: what it is for is read from the request itself, each time, however many its
// connection has had before.
func (f *Filter) serveHTTP(w http.ResponseWriter, r *http.Request) {
	o, _ := r.Context().Value(originKey{}).(origin)
	if o.meant.Kind == Direct && o.meant.Host.Name == "" {
		say(w, http.StatusForbidden, f.denyNameless(o.meant))
		return
	}
	t, err := f.read(r, o)
	if err != nil {
		say(w, http.StatusBadRequest, f.denyText(r.Host, r.Method+" "+r.RequestURI, err.Error()))
		return
	}
	if t.Kind == Connect {
		f.serveConnect(w, r, t)
		return
	}
	v := f.judge(r.Context(), t)
	if v.Allowed {
		v = f.judgeHeader(r, v)
	}
	if !v.Allowed {
		say(w, http.StatusForbidden, f.deny(t, v.Why, v.Setting))
		return
	}
	f.forward(w, r, t)
}

// serveConnect answers CONNECT: 200 when the server is reached, or the connection is to be read.
func (f *Filter) serveConnect(w http.ResponseWriter, r *http.Request, t Target) {
	p, err := f.prepare(r.Context(), t)
	if err != nil {
		fail(w, err)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.close()
		fail(w, err)
		return
	}
	s := conn.(*stream)
	ahead, _ := buffered.Peek(buffered.Reader.Buffered())
	s.ahead = append(append([]byte(nil), ahead...), s.ahead...)
	if _, err := io.WriteString(s, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		p.close()
		end(s)
		return
	}
	f.converse(s, p)
}

// say answers with a refusal's words. The connection ends, since a body may follow that nobody reads.
func say(w http.ResponseWriter, status int, err error) {
	body := err.Error() + "\n"
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	w.WriteHeader(status)
	io.WriteString(w, body) //nolint:errcheck // the client is gone
}

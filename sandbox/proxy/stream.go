package proxy

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// stream is an accepted connection, with what was read ahead of whoever reads next.
type stream struct {
	net.Conn
	ahead []byte
	// origin is what HTTP on it is for; set before it is handed to the web server.
	origin  origin
	once    sync.Once
	release func()
}

func (s *stream) Read(p []byte) (int, error) {
	if len(s.ahead) == 0 {
		return s.Conn.Read(p)
	}
	n := copy(p, s.ahead)
	s.ahead = s.ahead[n:]
	return n, nil
}

// Close may be called by many: by who serves it, by the web server, by Filter.Close.
func (s *stream) Close() error {
	err := s.Conn.Close()
	s.once.Do(s.release)
	return err
}

// end closes what is done with, or broken: there is nobody to tell of an error.
func end(c closer) { _ = c.Close() }

// hurry gives the client a time to do something in; what it returns ends that.
func (s *stream) hurry(d time.Duration) func() {
	s.deadline(time.Now().Add(d))
	return func() { s.deadline(time.Time{}) }
}

// deadline is for reads and writes. It fails only on a connection that is closed, which the next read will tell.
func (s *stream) deadline(at time.Time) { _ = s.SetDeadline(at) }

// peekByte returns the first byte that the client sends, and leaves it to be read.
func (s *stream) peekByte(patience time.Duration) (byte, error) {
	if len(s.ahead) > 0 {
		return s.ahead[0], nil
	}
	defer s.hurry(patience)()
	var b [1]byte
	if _, err := io.ReadFull(s.Conn, b[:]); err != nil {
		return 0, err
	}
	s.ahead = b[:]
	return b[0], nil
}

// hello reads the client's first TLS message and leaves it to be read again.
func (s *stream) hello(patience time.Duration) (name string, err error) {
	defer s.hurry(patience)()
	raw, name, err := readHello(s)
	s.ahead = append(raw, s.ahead...)
	return name, err
}

// mostAhead bounds what is kept of a client that sends before it was answered; bytes.
const mostAhead = 64 << 10

// watch returns a context that ends when the client goes, or with stop. What the client sends meanwhile is kept; stop
// has to be called before anything else reads.
func (s *stream) watch(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for len(s.ahead) < mostAhead {
			n, err := s.Conn.Read(buf)
			s.ahead = append(s.ahead, buf[:n]...)
			if err == nil {
				continue
			}
			// Who has sent something and then ends its half may still wait for an answer.
			if err != io.EOF || len(s.ahead) == 0 {
				cancel()
			}
			return
		}
	}()
	return ctx, func() {
		s.deadline(time.Unix(1, 0))
		<-done
		s.deadline(time.Time{})
		cancel()
	}
}

// splice passes bytes between two connections until both directions have ended, and closes both. Between two TCP
// connections the kernel moves them (splice(2)), without a copy through here. What the client sends passes when ready, if there
// is one, says that it may.
func splice(s *stream, up net.Conn, ready func() error) {
	defer end(s)
	defer end(up)
	done := make(chan struct{})
	go func() {
		defer close(done)
		half(s.Conn, up)
	}()
	if ready != nil && ready() != nil {
		end(s)
		end(up)
		<-done
		return
	}
	if len(s.ahead) > 0 {
		if _, err := up.Write(s.ahead); err != nil {
			end(s.Conn)
		}
		s.ahead = nil
	}
	half(up, s.Conn)
	<-done
}

// half passes one direction. Its end is passed on as such, so that a client may finish sending and still be answered;
// where that cannot be, or something broke, both directions end.
func half(dst, src net.Conn) {
	_, err := io.Copy(dst, src)
	if closing, ok := dst.(interface{ CloseWrite() error }); ok && err == nil {
		if closing.CloseWrite() == nil {
			return
		}
	}
	end(dst)
	end(src)
}

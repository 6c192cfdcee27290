package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
)

const (
	// maxHeader bounds the header of a message, maxMessage its body: code of the largest allowed size, as JSON.
	maxHeader  = 8 << 10
	maxMessage = 128 << 20
	// maxQueue is how much may wait for a peer to read it; who sends more waits.
	maxQueue = 1 << 20
	// mostUnread is how much may pile up of what does not wait.
	mostUnread = 8 << 20
	// lingering is how long Close waits for the peer to take what was sent.
	lingering = time.Second
)

// errBroken is what is written to a connection that has ended.
var errBroken = errors.New("the connection has ended")

// stream frames messages as LSP's base protocol does ("Content-Length: N", an empty line, N bytes of JSON).
// jsonrpc2's own takes whatever length a header announces, and ends the connection at the first message that is no
// JSON; and its writes wait in the caller for the peer to read.
type stream struct {
	conn net.Conn
	in   *bufio.Reader
	lost func()

	mu      sync.Mutex
	changed *sync.Cond
	queue   [][]byte
	waiting int // bytes in queue, and in the write that goes on
	since   time.Time
	closed  bool
	gone    chan struct{}
}

func newStream(conn net.Conn, lost func()) *stream {
	s := &stream{conn: conn, in: bufio.NewReaderSize(conn, maxHeader), lost: lost, gone: make(chan struct{})}
	s.changed = sync.NewCond(&s.mu)
	go s.pump()
	return s
}

// Read gives the next message that is one. What is no message is answered with an error and passed over, as long as
// it is clear where the next one begins.
func (s *stream) Read(context.Context) (jsonrpc2.Message, int64, error) {
	for {
		body, err := s.frame()
		if err != nil {
			s.end(err)
			return nil, 0, err
		}
		m, err := jsonrpc2.DecodeMessage(body)
		if err == nil {
			return m, int64(len(body)), nil
		}
		s.answer(body, err)
	}
}

// answer tells the peer what is wrong with a message: under its id where that can be told, and not at all if it was
// an answer itself, or two ends could go on correcting each other.
func (s *stream) answer(body []byte, err error) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
	}
	code, id := jsonrpc2.ParseError, jsonrpc2.ID{}
	if json.Valid(body) {
		code = jsonrpc2.InvalidRequest
		if json.Unmarshal(body, &m) == nil {
			var isAnswer struct{ Result, Error json.RawMessage }
			if _ = json.Unmarshal(body, &isAnswer); m.Method == nil && (isAnswer.Result != nil || isAnswer.Error != nil) {
				return
			}
			id = idOf(m.ID)
		}
	}
	text := fmt.Sprintf("the message is no JSON-RPC 2.0 message: %v", err)
	_, _ = s.Write(context.Background(), jsonrpc2.NewResponse(id, nil, jsonrpc2.NewError(code, text)))
}

// idOf is a request's id, the zero one if it is none.
func idOf(raw json.RawMessage) jsonrpc2.ID {
	var n int64
	var text string
	switch {
	case json.Unmarshal(raw, &n) == nil && len(raw) > 0 && raw[0] != 'n':
		return jsonrpc2.NewNumberID(n)
	case json.Unmarshal(raw, &text) == nil && len(raw) > 0 && raw[0] == '"':
		return jsonrpc2.NewStringID(text)
	}
	return jsonrpc2.ID{}
}

// end tells the peer why nothing more is read from it, if it is its fault, and gives up the connection.
func (s *stream) end(err error) {
	var broken headerError
	if errors.As(err, &broken) {
		s.refuse(jsonrpc2.InvalidRequest, broken.Error()+"; the connection is closed")
		s.flush()
	}
	s.lost()
	_ = s.Close()
}

// refuse answers what has no id.
func (s *stream) refuse(code jsonrpc2.Code, text string) {
	_, _ = s.Write(context.Background(), jsonrpc2.NewResponse(jsonrpc2.ID{}, nil, jsonrpc2.NewError(code, text)))
}

// headerError is a header that leaves unclear where the next message begins.
type headerError string

func (e headerError) Error() string { return string(e) }

// frame reads one message's bytes. The memory for it grows with what has come, not with what is announced.
func (s *stream) frame() ([]byte, error) {
	length, err := s.header()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	n, err := io.CopyN(&b, s.in, length)
	if err == io.EOF && n < length {
		err = io.ErrUnexpectedEOF
	}
	return b.Bytes(), err
}

// header reads up to the empty line. io.EOF is the end between two messages.
func (s *stream) header() (length int64, err error) {
	length = -1
	read := 0
	for {
		line, err := s.in.ReadSlice('\n')
		read += len(line)
		switch {
		case err == bufio.ErrBufferFull || read > maxHeader:
			return 0, headerError(fmt.Sprintf("a header of more than %d bytes", maxHeader))
		case err == io.EOF && read == 0:
			return 0, io.EOF
		case err == io.EOF:
			return 0, io.ErrUnexpectedEOF
		case err != nil:
			return 0, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		if length, err = field(text, length); err != nil {
			return 0, err
		}
	}
	if length < 0 {
		return 0, headerError("a header without Content-Length")
	}
	return length, nil
}

// field reads one line of a header.
func field(line string, length int64) (int64, error) {
	name, value, ok := strings.Cut(line, ":")
	if !ok || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"(){}[]/,;<>=?@\\", r) }) {
		return 0, headerError(fmt.Sprintf("%.60q is no header; a message begins with Content-Length: N", line))
	}
	if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
		return length, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	switch {
	case err != nil || n < 0:
		return 0, headerError(fmt.Sprintf("Content-Length: %.40q is no length", strings.TrimSpace(value)))
	case n > maxMessage:
		return 0, headerError(fmt.Sprintf("a message of %d bytes; the limit is %d. Put large input into a file of the workspace", n, maxMessage))
	}
	return n, nil
}

// Write puts a message into the queue, and waits while that is full. Messages leave in the order of Write.
func (s *stream) Write(ctx context.Context, m jsonrpc2.Message) (int64, error) {
	frame, err := framed(m)
	if err != nil {
		return 0, err
	}
	ctx = jsonrpc2.DetachContext(ctx) // an answer's is the request's, which is used again
	stop := context.AfterFunc(ctx, s.wake)
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.waiting >= maxQueue && !s.closed && ctx.Err() == nil {
		s.changed.Wait()
	}
	if s.closed {
		return 0, errBroken
	}
	if s.waiting >= maxQueue {
		return 0, ctx.Err()
	}
	s.enqueue(frame)
	if sent, ok := ctx.Value(sentKey{}).(func()); ok {
		sent()
	}
	return int64(len(frame)), nil
}

func framed(m jsonrpc2.Message) ([]byte, error) {
	body, err := jsonrpc2.EncodeMessage(m)
	if err != nil {
		return nil, err
	}
	return append([]byte("Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"), body...), nil
}

func (s *stream) enqueue(frame []byte) {
	if s.waiting == 0 {
		s.since = time.Now()
	}
	s.queue = append(s.queue, frame)
	s.waiting += len(frame)
	s.changed.Broadcast()
}

// push is Write that never waits; false says that there is far too much unread already.
func (s *stream) push(m jsonrpc2.Message) bool {
	frame, err := framed(m)
	if err != nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return true
	}
	if s.waiting > mostUnread {
		return false
	}
	s.enqueue(frame)
	return true
}

// await waits until there is room, and says whether there is: not when ctx ends first, or the connection.
func (s *stream) await(ctx context.Context) bool {
	stop := context.AfterFunc(ctx, s.wake)
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.waiting >= maxQueue/2 && !s.closed && ctx.Err() == nil {
		s.changed.Wait()
	}
	return s.waiting < maxQueue/2 && !s.closed
}

// pump writes what is queued, several messages in one write.
func (s *stream) pump() {
	for {
		frames, ok := s.take()
		if !ok {
			return
		}
		n := 0
		for _, f := range frames {
			n += len(f)
		}
		_, err := (*net.Buffers)(&frames).WriteTo(s.conn)
		s.wrote(n)
		if err != nil {
			s.lost()
			_ = s.Close()
			return
		}
	}
}

func (s *stream) take() ([][]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.closed {
		s.changed.Wait()
	}
	frames := s.queue
	s.queue = nil
	return frames, len(frames) > 0 && !s.closed
}

func (s *stream) wrote(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting -= n
	s.since = time.Now()
	s.changed.Broadcast()
}

// wake has those who wait look again.
func (s *stream) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

// room says whether half the queue is free.
func (s *stream) room() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting < maxQueue/2
}

// unread is for how long the peer has taken nothing although something waits.
func (s *stream) unread() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == 0 {
		return 0
	}
	return time.Since(s.since)
}

// flush waits a moment for the queue to become empty.
func (s *stream) flush() {
	late := time.AfterFunc(lingering, s.wake)
	defer late.Stop()
	until := time.Now().Add(lingering)
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.waiting > 0 && !s.closed && time.Now().Before(until) {
		s.changed.Wait()
	}
}

// Close ends the connection.
func (s *stream) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.changed.Broadcast()
	s.mu.Unlock()
	if !first {
		return nil
	}
	err := s.conn.Close()
	close(s.gone)
	return err
}

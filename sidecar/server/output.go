package server

import (
	"context"
	"time"
	"unicode/utf8"

	"code.sidecar.dev/sidecar/protocol"
)

// slack is how long after the end of its time a run waits for its client to read its output.
const slack = 30 * time.Second

// output hands a run's output to the clients that want it: to who asked for it all of it, waiting for it to be read,
// so that a program which prints faster than a terminal scrolls is slowed down as by a pipe; to others as much as
// they read in time.
type output struct {
	server *Server
	run    *run
	bytes  bool
	ctx    context.Context
	stop   context.CancelFunc
	cut    map[protocol.Stream]*characters
}

// output of a run that lasts at most so long.
func (s *Server) output(ctx context.Context, r *run, req protocol.RunRequest, longest time.Duration) *output {
	ctx, stop := context.WithTimeout(ctx, longest+slack)
	return &output{server: s, run: r, bytes: req.Bytes, ctx: ctx, stop: stop,
		cut: map[protocol.Stream]*characters{protocol.Stdout: {}, protocol.Stderr: {}}}
}

// write is the run's sink; one stream's writes come one after another.
func (o *output) write(s protocol.Stream, b []byte) {
	text := o.cut[s].next(b)
	for _, c := range o.server.everyone() {
		_, wants := c.wants()
		switch {
		case wants == protocol.NoOutput:
		case c == o.run.asker:
			o.send(c, s, b, text)
		case wants == protocol.AllOutput && text != "":
			c.show(o.run.id, s, text)
		}
	}
}

// send hands output to who asked for the run.
func (o *output) send(c *client, s protocol.Stream, b []byte, text string) {
	p := protocol.OutputParams{ID: o.run.id, Token: o.run.token, Stream: s, Text: text}
	if o.bytes {
		p.Text, p.Bytes = "", b
	}
	if p.Text != "" || len(p.Bytes) > 0 {
		c.peer.Send(o.ctx, protocol.MethodOutput, p)
	}
}

// show hands output to a client that watches, if it has read what it got before.
func (c *client) show(id string, s protocol.Stream, text string) {
	key := droppedKey{id, s}
	room := c.peer.Room()
	c.mu.Lock()
	lost := c.dropped[key]
	if room {
		delete(c.dropped, key)
	} else {
		c.dropped[key] = lost + int64(len(text))
	}
	c.mu.Unlock()
	if room {
		c.peer.Push(protocol.MethodOutput, protocol.OutputParams{ID: id, Stream: s, Text: text, Dropped: lost})
	}
}

// end sends what was held back of a character that never became whole.
func (o *output) end() {
	for s, c := range o.cut {
		if rest := c.rest(); rest != "" && !o.bytes {
			o.send(o.run.asker, s, nil, rest)
		}
	}
	o.stop()
}

// characters makes text of bytes that come in pieces, without cutting characters in two.
type characters struct{ held []byte }

// next is the text of b and of what was held back, without an unfinished character at its end.
func (c *characters) next(b []byte) string {
	all := append(c.held, b...)
	whole := len(all) - unfinished(all)
	c.held = append([]byte(nil), all[whole:]...)
	return valid(all[:whole])
}

// rest is what is held back.
func (c *characters) rest() string {
	text := valid(c.held)
	c.held = nil
	return text
}

// unfinished is how many bytes at the end of b begin a character that is not whole.
func unfinished(b []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if at := b[len(b)-i:]; utf8.RuneStart(at[0]) {
			if !utf8.FullRune(at) {
				return i
			}
			return 0
		}
	}
	return 0
}

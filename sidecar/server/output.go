package server

import (
	"context"
	"sync/atomic"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

// slack is how long after the end of its time a run waits for its client to read its output.
const slack = 30 * time.Second

// lastWords is how long the output of a cancelled run waits.
const lastWords = time.Second

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
	unsent map[protocol.Stream]*atomic.Int64
}

// output of a run that lasts at most so long, and whose context ends when it is cancelled: then what it printed last has
// a moment to be read.
func (s *Server) output(run context.Context, r *run, req protocol.RunRequest, longest time.Duration) *output {
	ctx, stop := context.WithTimeout(context.WithoutCancel(run), longest+slack)
	context.AfterFunc(run, func() { time.AfterFunc(lastWords, stop) })
	return &output{server: s, run: r, bytes: req.Bytes, ctx: ctx, stop: stop,
		cut:    map[protocol.Stream]*characters{protocol.Stdout: {}, protocol.Stderr: {}},
		unsent: map[protocol.Stream]*atomic.Int64{protocol.Stdout: {}, protocol.Stderr: {}}}
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
	p := protocol.OutputParams{ID: o.run.id, Token: o.run.token, Stream: s, Text: text, Dropped: o.unsent[s].Swap(0)}
	if o.bytes {
		p.Text, p.Bytes = "", b
	}
	if p.Text == "" && len(p.Bytes) == 0 && p.Dropped == 0 {
		return
	}
	if !c.peer.Send(o.ctx, protocol.MethodOutput, p) {
		o.unsent[s].Add(p.Dropped + int64(len(p.Text)+len(p.Bytes)))
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

// end sends what was held back of a character that never became whole, and says what could not be sent.
func (o *output) end() {
	_, wants := o.run.asker.wants()
	for s, c := range o.cut {
		rest := c.rest()
		if o.bytes {
			rest = ""
		}
		if wants != protocol.NoOutput {
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
	whole := len(all) - protocol.Unfinished(all)
	c.held = append([]byte(nil), all[whole:]...)
	return protocol.Text(all[:whole])
}

// rest is what is held back.
func (c *characters) rest() string {
	text := protocol.Text(c.held)
	c.held = nil
	return text
}

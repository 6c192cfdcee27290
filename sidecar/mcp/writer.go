package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
)

// writer is the only one that writes to the client: whole messages, one after the other. It has no queue. Whoever
// sends waits until its message is out, so what one call sends stays in order and a slow client costs no memory.
type writer struct {
	out     io.Writer
	pending chan parcel
	closed  chan struct{}
	once    sync.Once
	// broke is called when the client can no longer be written to.
	broke func(error)
}

// parcel is one message on its way out.
type parcel struct {
	line   []byte
	wanted func() bool
	sent   chan<- struct{}
}

func newWriter(out io.Writer, broke func(error)) *writer {
	w := &writer{out: out, pending: make(chan parcel), closed: make(chan struct{}), broke: broke}
	go w.deliver()
	return w
}

// close lets go of everyone who still waits to send. The goroutine that is stuck in a write to a client that
// reads no more cannot be freed; it goes with the process.
func (w *writer) close() { w.once.Do(func() { close(w.closed) }) }

// send writes a message if wanted still holds when its turn comes; nil always holds.
func (w *writer) send(message any, wanted func() bool) {
	line, err := encode(message)
	if err != nil {
		w.broke(err)
		return
	}
	sent := make(chan struct{})
	select {
	case w.pending <- parcel{line, wanted, sent}:
	case <-w.closed:
		return
	}
	select {
	case <-sent:
	case <-w.closed:
	}
}

func (w *writer) deliver() {
	for {
		select {
		case p := <-w.pending:
			w.write(p)
		case <-w.closed:
			return
		}
	}
}

func (w *writer) write(p parcel) {
	defer close(p.sent)
	if p.wanted != nil && !p.wanted() {
		return
	}
	if _, err := w.out.Write(p.line); err != nil {
		w.broke(err)
		w.close()
	}
}

// encode is JSON on one line.
func encode(message any) ([]byte, error) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(message)
	return line.Bytes(), err
}

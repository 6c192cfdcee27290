// Package remote has sidecar on another machine do a command, with the standard streams, the signals and the terminal of
// this one. The way there is the person's own ssh.
//
//	status, err := remote.Host{Name: "me@build1"}.Do(ctx, remote.Call{Start: remote.Start{Args: []string{"run", "--", "make"}, Dir: "~/project"}, Output: print})
//
// ssh carries bytes and one exit status, which may be its own; it neither tells a program of a signal nor ends it when the
// connection is lost. So what it starts there is `sidecar connect` (Serve), which starts the command as its child, and both
// sides exchange frames over ssh's standard input and output. The command's words are in a frame: no shell reads them, and
// they are in no process list on the way. A lost connection hangs the command up, as a terminal does that is closed.
//
// It does not protect from the host: what that prints is shown as any program's output is.
package remote

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"code.sidecar.dev/sidecar/protocol"
)

// greeting is the line with which the far side begins, before its frames; what a shell's own files print comes before it.
const greeting = opening + "1\n"

// opening is the greeting without its version.
const opening = "sidecar connect "

// kind is what a frame holds: a byte, before the length of the rest as four bytes, the highest first.
type kind byte

// What goes to the host.
const (
	kindStart  kind = 'S' // a Start
	kindInput  kind = 'i' // what the command reads; nothing is its end
	kindSignal kind = 's' // a signal's name without SIG
	kindSize   kind = 'w' // the terminal's size, as a protocol.Terminal
)

// What comes from it.
const (
	kindOutput kind = 'o' // of the command's standard output
	kindErrors kind = 'e' // of its standard error
	kindTaken  kind = 't' // it has taken one frame of input
	kindAlive  kind = 'a' // nothing: the connection is there
	kindEnded  kind = 'x' // an end, the last frame
)

const (
	// maxFrame bounds a frame in bytes: words of a command are the longest that there is.
	maxFrame = 4 << 20
	// piece is how much of a stream a frame has at most.
	piece = 32 << 10
	// ahead is how many frames of input may be on their way: a command that does not read must not keep a signal back.
	ahead = 32
)

// Start is what is to be done.
type Start struct {
	// Args are sidecar's arguments.
	Args []string `json:"args"`
	// Dir is the working folder there: absolute, or below the home folder, with ~/ or without.
	Dir string `json:"dir"`
	// Needed says that it has to exist; otherwise the home folder takes its place. Named also gives it as --workspace.
	Needed bool `json:"needed,omitempty"`
	Named  bool `json:"named,omitempty"`
	// Terminal has the command get a terminal, of this size and name; nil is pipes.
	Terminal *protocol.Terminal `json:"terminal,omitempty"`
	// NoInput has it read the null device.
	NoInput bool `json:"noInput,omitempty"`
}

// end is how it ended: with an exit status, or it did not begin.
type end struct {
	Status int             `json:"status"`
	Error  *protocol.Error `json:"error,omitempty"`
}

// frames are one side's end of a connection. They may be written from everywhere, and are read by one.
type frames struct {
	r io.Reader

	mu sync.Mutex
	w  io.Writer
}

// write sends a frame. What is no stream's piece has to be shorter than maxFrame.
func (f *frames) write(k kind, b []byte) error {
	frame := binary.BigEndian.AppendUint32([]byte{byte(k)}, uint32(len(b))) //nolint:gosec // at most maxFrame
	frame = append(frame, b...)
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.w.Write(frame)
	return err
}

func (f *frames) writeJSON(k kind, v any) error {
	b, err := json.Marshal(v)
	if err == nil && len(b) > maxFrame {
		err = fmt.Errorf("%d bytes, want at most %d", len(b), maxFrame)
	}
	if err != nil {
		return err
	}
	return f.write(k, b)
}

// read gives the next frame. The error is io.EOF where the other side has closed between two.
func (f *frames) read() (kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes, want at most %d", n, maxFrame)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(f.r, b); err != nil {
		return 0, nil, fmt.Errorf("a frame that was cut off: %w", err)
	}
	return kind(head[0]), b, nil
}

// sends is the writer of a stream, a frame for each piece.
type sends struct {
	to *frames
	as kind
}

func (s sends) Write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		part := b[:min(piece, len(b))]
		if err = s.to.write(s.as, part); err == nil {
			n, b = n+len(part), b[len(part):]
		}
	}
	return n, err
}

// Package lsp is the edge for editors: a language server on standard input and output, behind which are the sidecars
// of the editor's folders.
//
//	err := lsp.Serve(ctx, os.Stdin, os.Stdout, lsp.Options{Client: o, Root: sidecar.Root, Open: sidecar.Open})
//
// What an editor asks with sidecar's own methods goes to the sidecar that is meant, and what sidecars say goes to the
// editor; when a sidecar dies another takes its place, and the editor is told. For editors without a plugin it offers
// what the Language Server Protocol has: lenses, actions, commands, progress, messages, diagnostics. It runs nothing
// itself: every run is a request to a sidecar, like that of any other client.
package lsp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	lsp "go.lsp.dev/protocol"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// Options say how to serve an editor.
type Options struct {
	// Client is how sidecars are connected to; its name and what it wants are the editor's to say.
	Client client.Options
	// Root is the root of the project around a folder.
	Root func(dir string) (string, error)
	// Open opens a file that is no open document, of the project at root.
	Open func(path, root string) (*os.File, error)
	// Flag is the folder that takes the place of the editor's; "" is none.
	Flag string
	// Dir is the working folder, Home the person's; no run gets all of that to write in.
	Dir, Home string
	// Outputs is the folder for the output that is shown as a document; it is made when it is needed.
	Outputs func() (string, error)
	Log     *slog.Logger
}

// ErrExit is an exit without shutdown before it; LSP has the server end with status 1 then.
var ErrExit = errors.New("the editor said exit without shutdown")

// Serve serves one editor until it says exit, closes its end, or is gone.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	e := newEditor(ctx, o)
	e.mu.Lock() // until peer is set
	e.peer = rpc.New(ctx, &stdio{in: in, out: out}, rpc.Options{Handle: e.handle, Ordered: ordered(), Log: o.Log})
	e.mu.Unlock()
	defer e.close()
	select {
	case <-ctx.Done():
	case <-e.peer.Done():
	case err := <-e.exit:
		e.peer.Close()
		return err
	}
	return nil
}

// ordered are the requests whose order counts: what is asked of sidecars, and what must come first.
func ordered() map[string]bool {
	all := map[string]bool{lsp.MethodInitialize: true}
	for _, m := range protocol.Methods() {
		all[m.Name] = true
	}
	return all
}

// stdio makes one connection of two streams.
type stdio struct {
	in   io.Reader
	out  io.Writer
	once sync.Once
}

func (s *stdio) Read(b []byte) (int, error)  { return s.in.Read(b) }
func (s *stdio) Write(b []byte) (int, error) { return s.out.Write(b) }

// Close closes what can be closed.
func (s *stdio) Close() (err error) {
	s.once.Do(func() {
		for _, end := range []any{s.in, s.out} {
			if c, ok := end.(io.Closer); ok {
				err = errors.Join(err, c.Close())
			}
		}
	})
	return err
}

func (*stdio) LocalAddr() net.Addr              { return &net.UnixAddr{Name: os.Args[0], Net: "stdio"} }
func (*stdio) RemoteAddr() net.Addr             { return &net.UnixAddr{Name: "editor", Net: "stdio"} }
func (*stdio) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (*stdio) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (*stdio) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	lsp "go.lsp.dev/protocol"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// link is the way to one project's sidecar: a connection, and the next one when that ends.
type link struct {
	e    *editor
	root string
	ctx  context.Context // ends when the editor needs this project no longer
	stop context.CancelFunc

	connecting sync.Mutex // held while a connection is made
	mu         sync.Mutex
	c          *client.Client // nil while there is none
	socket     os.FileInfo    // the one that c is connected to
	err        error          // why there is none
}

// link is the one of a root.
func (e *editor) link(root string) *link {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.links[root]
	if l == nil {
		l = &link{e: e, root: root}
		l.ctx, l.stop = context.WithCancel(e.ctx)
		if e.state == shutDown {
			l.stop()
		} else {
			e.links[root] = l
		}
	}
	return l
}

// close lets go of the sidecar.
func (l *link) close() {
	l.stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != nil {
		l.c.Close()
	}
	l.c = nil
}

// options are how the editor connects.
func (l *link) options() client.Options {
	e := l.e
	e.mu.Lock()
	defer e.mu.Unlock()
	o := e.o.Client
	o.Name, o.Version, o.Log = e.name, e.version, e.o.Log
	o.Output, o.Events, o.Observer = e.options.Output, e.options.Events == nil || *e.options.Events, e.options.Observer
	switch {
	case !isPlugin(e.options):
		o.Output, o.Events = protocol.OwnOutput, false
	case o.Output == "":
		o.Output = protocol.AllOutput
	}
	if e.options.Environment != nil {
		o.Environment = e.options.Environment
	}
	if e.options.ConfigFile != "" {
		o.ConfigFile = e.options.ConfigFile
	}
	if e.options.ExplicitConfig != "" {
		o.ExplicitConfig = e.options.ExplicitConfig
	}
	o.Seen, o.Logs = l.seen, cmp.Or(e.options.Log, "warn")
	o.Approve = l.e.approver(l.root)
	return o
}

// get is the connection; it is made, and the sidecar started, if there is none.
func (l *link) get(ctx context.Context) (*client.Client, error) {
	if c := l.current(); c != nil {
		return c, nil
	}
	l.connecting.Lock()
	defer l.connecting.Unlock()
	if c := l.current(); c != nil {
		return c, nil
	}
	c, err := client.Connect(ctx, l.root, l.options())
	if err != nil {
		l.mu.Lock()
		l.err = err
		l.mu.Unlock()
		return nil, err
	}
	return c, l.take(c)
}

// current is the connection if it lives.
func (l *link) current() *client.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c == nil || isOver(l.c) {
		return nil
	}
	return l.c
}

func isOver(c *client.Client) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// take makes c the connection, and watches it.
func (l *link) take(c *client.Client) error {
	l.mu.Lock()
	ended := l.ctx.Err() != nil
	if !ended {
		l.c, l.err, l.socket = c, nil, l.met()
	}
	l.mu.Unlock()
	if ended {
		c.Close()
		return &protocol.Error{Kind: protocol.Cancelled, Message: "the editor has closed " + l.root}
	}
	go l.watch(c)
	l.tell(protocol.ConnectionParams{Workspace: l.root, Connected: true, PID: c.About().PID})
	return nil
}

// isAttached says that there is a connection, to the sidecar that has this socket.
func (l *link) isAttached(socket os.FileInfo) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.c != nil && !isOver(l.c) && socket != nil && l.socket != nil && os.SameFile(socket, l.socket)
}

// met is the socket at the project's place now.
func (l *link) met() os.FileInfo {
	p, err := place.Of(l.root)
	if err != nil {
		return nil
	}
	info, _ := os.Lstat(p.Socket)
	return info
}

// tell tells a plugin of the connection.
func (l *link) tell(p protocol.ConnectionParams) {
	if l.e.hasPlugin() {
		l.e.tell(protocol.MethodConnection, p)
	}
}

// retire has the next request look for another sidecar, since this one takes no further runs; it is watched until its
// runs have ended.
func (l *link) retire(c *client.Client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c == c {
		l.c = nil
	}
}

// shown is what there is to say of the link.
func (l *link) shown() (*protocol.About, *protocol.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c == nil || isOver(l.c) {
		return nil, protocol.AsError(l.err)
	}
	about := l.c.About()
	return &about, nil
}

// lookForSuccessor is how often the place is looked at for another sidecar than the one that is connected.
const lookForSuccessor = time.Second

// watch waits for the end of a connection, and goes over to the sidecar's successor when there is one.
func (l *link) watch(c *client.Client) {
	tick := time.NewTicker(lookForSuccessor)
	defer tick.Stop()
	for {
		select {
		case <-l.ctx.Done():
			c.Close()
			return
		case <-c.Done():
			l.lost(c)
			return
		case <-tick.C:
			l.follow(c)
		}
	}
}

// follow connects to a successor, while c is kept for the runs that it still does.
func (l *link) follow(c *client.Client) {
	l.mu.Lock()
	mine := l.c == c || l.c == nil
	l.mu.Unlock()
	if mine && l.met() != nil {
		_ = l.attach()
	}
}

// attach connects to the sidecar that is there, if one is and a request has not connected to it meanwhile.
func (l *link) attach() error {
	l.connecting.Lock()
	defer l.connecting.Unlock()
	if l.isAttached(l.met()) {
		return nil
	}
	p, err := place.Of(l.root)
	if err != nil {
		return err
	}
	c, err := client.Attach(l.ctx, p, l.options())
	if err != nil {
		return err
	}
	return l.take(c)
}

// lost is told that a connection has ended. A sidecar that was killed is started anew, so that what it left is cleared
// away; one that ended by itself, or was stopped, is waited for: the next request starts it, or another client.
func (l *link) lost(c *client.Client) {
	l.mu.Lock()
	mine := l.c == c || l.c == nil
	if l.c == c {
		l.c = nil
	}
	l.mu.Unlock()
	if l.ctx.Err() != nil || !mine {
		return
	}
	pid := c.About().PID
	l.tell(protocol.ConnectionParams{Workspace: l.root, PID: pid})
	err := l.attach()
	if errors.Is(err, syscall.ECONNREFUSED) { // a socket that nobody listens on: it had no time to take it away
		l.e.show(isWarning, fmt.Sprintf("sidecar: the sidecar of %s (process %d) died; its runs ended with it. Another one takes its place", l.root, pid))
		if _, err = l.get(l.ctx); err != nil && l.ctx.Err() == nil {
			l.e.show(isError, "sidecar: "+err.Error())
		}
		return
	}
	if err != nil && l.ctx.Err() == nil {
		l.await()
	}
}

// await waits for a sidecar that somebody starts.
func (l *link) await() {
	tick := time.NewTicker(lookForSuccessor / 4)
	defer tick.Stop()
	for l.current() == nil {
		select {
		case <-l.ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := os.Stat(l.root); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if l.met() != nil && l.current() == nil {
			_ = l.attach()
		}
	}
}

// seen takes what the sidecar says by itself: for the runs of this edge, and for a plugin. It waits for an editor that does
// not read, and so does the sidecar then, with what this editor asked for; of others' runs it leaves out what does not fit.
func (l *link) seen(method string, params json.RawMessage) {
	if method == protocol.MethodRunStarted {
		l.e.routes.began(l, params)
	}
	if method == protocol.MethodLog {
		l.logged(params)
		return
	}
	l.e.follow(method, params)
	if l.e.hasPlugin() {
		l.e.tell(method, with(params, "workspace", l.root))
	}
}

// logged has the editor show a line of the sidecar's log.
func (l *link) logged(params json.RawMessage) {
	line, err := rpc.Params[protocol.LogParams](protocol.MethodLog, params)
	if err != nil {
		return
	}
	kinds := map[string]int{"error": isError, "warn": isWarning, "info": isInfo}
	l.e.push(lsp.MethodWindowLogMessage, message{cmp.Or(kinds[line.Level], isLog), filepath.Base(l.root) + ": " + line.Text})
}

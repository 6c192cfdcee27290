// Package server is the sidecar of one workspace: it does the runs of all its clients and lets each see them all.
//
//	err := server.Serve(ctx, server.Options{Root: root}, func(err error) { … })
//
// It listens on the workspace's socket (package place), speaks JSON-RPC there (package rpc, protocol's channel), and
// ends by itself when nobody has needed it for a while, or when its workspace is gone. It trusts its clients, which
// are programs of the same user; what holds off the code they hand over is the sandbox.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/history"
	"code.sidecar.dev/sidecar/logs"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
)

// Options say what a server is for.
type Options struct {
	// Root is the workspace's root, absolute, with links resolved.
	Root string
	// Build is this program.
	Build protocol.Build
	// Idle is how long it stays with no client and no run; 0 is DefaultIdle.
	Idle time.Duration
	// Shim is as in sidecar.Options.
	Shim string
	// Groups is as in sidecar.Options.
	Groups string
	// Logs is its log, nil is nobody's; Level what is written of all that is not of one client.
	Logs  *logs.Log
	Level slog.Level
}

// DefaultIdle is how long a sidecar outlives its last client.
const DefaultIdle = 2 * time.Minute

const (
	// maxRuns go on at once; further ones wait for their turn.
	maxRuns = 64
	// maxClients are connected at once.
	maxClients = 512
	// sparedRuns and sparedClients are how many of these one process leaves to others, whatever it asks for.
	sparedRuns    = 8
	sparedClients = 64
	// watchEvery is how often the server looks whether its workspace is still there, and its clients read.
	watchEvery = 2 * time.Second
	// maxUnread is how long a client without a run may leave unread what was sent to it.
	maxUnread = time.Minute
	// maxFresh is how long a client may take to say initialize.
	maxFresh = 30 * time.Second
)

// Server serves one workspace.
type Server struct {
	o       Options
	log     *slog.Logger
	engine  *sidecar.Engine
	history *history.Store
	started time.Time
	root    os.FileInfo
	held    *place.Held
	socket  string
	runs    *runs
	slots   chan struct{}
	// done is closed when the server is to end: nothing goes on any more.
	done chan struct{}

	state string

	mu      sync.Mutex
	clients map[*client]bool
	// shares are of the runs of each process that is a client.
	shares map[int]chan struct{}
	ending bool
	over   bool
	// needed is when a client or a run last needed this sidecar.
	needed time.Time
}

// Serve takes the workspace's place and serves until it is over, which is no error; ready is told once whether it
// serves: nil, or why not (place.ErrHeld when another one does).
func Serve(ctx context.Context, o Options, ready func(error)) error {
	s, err := listen(o)
	ready(err)
	if err != nil {
		return err
	}
	go s.accept()
	s.watch(ctx)
	s.close()
	return nil
}

func listen(o Options) (*Server, error) {
	if o.Logs == nil {
		o.Logs = logs.Discard(nil)
	}
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	info, err := os.Stat(o.Root)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", o.Root)
	}
	if err != nil {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("the workspace: %v", err), Hint: "name an existing folder with --workspace", Err: err}
	}
	p, err := place.Of(o.Root)
	if err != nil {
		return nil, err
	}
	state, err := config.StateDir()
	if err != nil {
		return nil, config.NoState(err)
	}
	s := &Server{o: o, log: o.Logs.Logger(o.Level), started: time.Now(), needed: time.Now(), state: state, root: info, socket: p.Socket, runs: newRuns(), slots: make(chan struct{}, maxRuns), done: make(chan struct{}), clients: map[*client]bool{}, shares: map[int]chan struct{}{}}
	s.history = history.Open(history.Options{Dir: state, Log: s.log})
	s.engine = sidecar.New(sidecar.Options{Log: s.log, Shim: o.Shim, Groups: o.Groups, Found: s.found, History: Recording(s.history), Version: o.Build.Version})
	if s.held, err = p.Listen(); err != nil {
		return nil, err
	}
	s.log.Info("sidecar starts", "workspace", o.Root, "version", o.Build.Version, "process", os.Getpid(), "protocol", protocol.Version, "socket", p.Socket, "idle", o.Idle)
	return s, nil
}

// accept takes clients in until the listener is closed.
func (s *Server) accept() {
	var told time.Time // a crowd of clients is no crowd in the log
	for {
		conn, err := s.held.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, say: what is connected goes on
			s.log.Error("accepting a client", "err", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if err := s.admit(conn); err != nil {
			if time.Since(told) > time.Second {
				told = time.Now()
				s.log.Warn("refusing a client", "err", err)
			}
			_ = conn.Close()
		}
	}
}

// admit starts to serve a connection.
func (s *Server) admit(conn net.Conn) error {
	if err := place.SameUser(conn); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || len(s.clients) >= maxClients {
		return fmt.Errorf("%d clients are connected", len(s.clients))
	}
	if n := s.connectionsOf(place.PID(conn)); n >= maxClients-sparedClients {
		return fmt.Errorf("%d clients of one process are connected", n)
	}
	c := newClient(s, conn)
	s.clients[c] = true
	go func() {
		<-c.peer.Done()
		s.left(c)
	}()
	return nil
}

// connectionsOf is how many clients a process is. The caller holds s.mu.
func (s *Server) connectionsOf(pid int) (n int) {
	for c := range s.clients {
		if c.pid == pid {
			n++
		}
	}
	return n
}

// share holds a token for each run of a process that goes on, over all of its connections.
func (s *Server) share(pid int) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shares[pid] == nil {
		s.shares[pid] = make(chan struct{}, maxRuns-sparedRuns)
	}
	return s.shares[pid]
}

// turn waits until a run may start, and gives what is to be done after it; nil when ctx ends first.
func (s *Server) turn(ctx context.Context, pid int) (done func()) {
	share := s.share(pid)
	for _, slots := range []chan struct{}{share, s.slots} {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			if slots == s.slots {
				<-share
			}
			return nil
		}
	}
	return func() { <-s.slots; <-share }
}

// left forgets a client.
func (s *Server) left(c *client) {
	c.gone()
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.clients, c); c.isNeed() {
		s.needed = time.Now()
	}
	if s.connectionsOf(c.pid) == 0 {
		delete(s.shares, c.pid)
	}
	s.runs.leave(c)
}

// isIdle says whether nobody has needed the sidecar for long: no client that does not only look, and no run.
func (s *Server) isIdle() bool {
	if !s.runs.none() || s.engine.HasSessions() {
		return false
	}
	for _, c := range s.everyone() {
		if c.isNeed() {
			return false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.needed) > s.o.Idle
}

// watch waits for the end, and sees that there is one.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(min(watchEvery, max(s.o.Idle/2, 10*time.Millisecond)))
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-ctx.Done():
			s.log.Info("ending: told to", "by", context.Cause(ctx))
			s.end(false)
			ctx = context.Background()
		case <-tick.C:
			if why := s.outlived(); why != "" && !s.isEnding() {
				s.log.Info("ending: " + why)
				s.end(true)
			}
			s.dropUseless()
		}
	}
}

// outlived says why the sidecar is to end by itself, if it is.
func (s *Server) outlived() string {
	switch {
	case !s.there():
		return "the workspace is gone"
	case !s.held.IsThere():
		return "its socket was removed, so that nobody finds it"
	case s.isIdle():
		return "nobody has needed this sidecar for a while"
	}
	return ""
}

// there says whether the workspace is still the folder that it was.
func (s *Server) there() bool {
	info, err := os.Stat(s.o.Root)
	return err == nil && os.SameFile(info, s.root)
}

// dropUseless disconnects clients that do not read although they wait for nothing, and those that never say who they are.
func (s *Server) dropUseless() {
	for _, c := range s.everyone() {
		deaf := c.peer.Unread() > maxUnread && s.runs.of(c) == 0
		if deaf || c.isFresh() && time.Since(c.since) > maxFresh {
			s.log.Warn("disconnecting a client that does not read, or has not said initialize", "client", c.name())
			c.peer.Drop()
		}
	}
}

func (s *Server) everyone() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*client, 0, len(s.clients))
	for c := range s.clients {
		out = append(out, c)
	}
	return out
}

// end takes no further runs, leaves the place to a successor, and ends the server once no run goes on. Runs are cancelled
// unless they may finish; until then they can be seen and cancelled as before.
func (s *Server) end(finish bool) {
	s.mu.Lock()
	first := !s.ending
	s.ending = true
	s.mu.Unlock()
	if first {
		s.held.Retire()
	}
	if !finish {
		s.runs.cancelAll()
	}
	s.runs.whenNone(s.finish)
}

// finish ends the server.
func (s *Server) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.over = true
		close(s.done)
	}
}

// close disconnects everybody.
func (s *Server) close() {
	s.held.Leave()
	s.engine.EndSessions() // before anybody hears that this is over, and asks the next one
	s.history.Close()      // before those who wait for our end hear of it, as the log's last line
	s.log.Info("sidecar ends", "process", os.Getpid(), "runs", s.runs.ran(), "lived", time.Since(s.started).Round(time.Millisecond))
	var all sync.WaitGroup
	for _, c := range s.everyone() {
		all.Go(c.peer.Close)
	}
	all.Wait()
	s.engine.Close()
}

// isOver says that nobody is served any more.
func (s *Server) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// isEnding says whether further runs are refused.
func (s *Server) isEnding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending
}

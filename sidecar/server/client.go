package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	lsp "go.lsp.dev/protocol"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/logs"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// client is one connection.
type client struct {
	lsp.UnimplementedServer
	server *Server
	peer   *rpc.Peer
	pid    int
	since  time.Time
	// stop ends what is the client's; unhear that it is told of the log.
	stop   context.CancelFunc
	unhear func()

	mu       sync.Mutex
	info     lsp.ClientInfo
	options  protocol.InitializeOptions
	state    state
	dropped  map[droppedKey]int64
	tokens   map[string]*run
	lastNote string
}

// state is where a client is in LSP's lifecycle.
type state int

const (
	fresh state = iota
	initialized
	shutDown
)

type droppedKey struct {
	id     string
	stream protocol.Stream
}

// newClient starts to read from a connection.
func newClient(s *Server, conn net.Conn) *client {
	ctx, stop := context.WithCancel(context.Background())
	c := &client{server: s, pid: place.PID(conn), since: time.Now(), stop: stop, unhear: func() {}, dropped: map[droppedKey]int64{}, tokens: map[string]*run{}}
	c.mu.Lock() // until peer is set
	defer c.mu.Unlock()
	c.peer = rpc.New(ctx, conn, rpc.Options{Handle: c.handle, LSP: c, Log: s.o.Logs.Silent(s.o.Level),
		Ordered: map[string]bool{lsp.MethodInitialize: true, protocol.MethodRun: true, protocol.MethodInput: true}})
	return c
}

// methods are what a client can ask for. Each has its file.
var methods = map[string]func(*client, context.Context, json.RawMessage) (any, error){
	protocol.MethodRun:       (*client).run,
	protocol.MethodInput:     (*client).input,
	protocol.MethodCancel:    (*client).cancel,
	protocol.MethodRuns:      (*client).runs,
	protocol.MethodRunOutput: (*client).runOutput,
	protocol.MethodRecord:    (*client).record,
	protocol.MethodSignal:    (*client).signal,
	protocol.MethodResize:    (*client).resize,
	protocol.MethodEnvs:      (*client).envs,
	protocol.MethodStatus:    (*client).status,
	protocol.MethodStop:      (*client).stopServer,

	protocol.MethodListSessions: (*client).listSessions,
	protocol.MethodCloseSession: (*client).closeSession,
}

// handle answers a request of sidecar's own protocol.
func (c *client) handle(ctx context.Context, method string, params json.RawMessage) (any, error) {
	do, ok := methods[method]
	if !ok {
		return nil, rpc.Unknown(method)
	}
	if err := c.ready(method); err != nil {
		return nil, err
	}
	return do(c, ctx, params)
}

// ready refuses what comes outside the lifecycle. A client whose protocol was refused may still ask the sidecar to
// end, so that its own takes over.
func (c *client) ready(method string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.state == initialized || method == protocol.MethodStop && c.state == fresh:
		return nil
	case c.state == fresh:
		return rpc.NotInitialized(method)
	}
	return rpc.AfterShutdown(method)
}

// Initialize is LSP's first request. The error of an unknown protocol says which side is the older.
func (c *client) Initialize(_ context.Context, p *lsp.InitializeParams) (*lsp.InitializeResult, error) {
	o, err := rpc.Params[protocol.InitializeOptions]("initialize: initializationOptions", json.RawMessage(p.InitializationOptions))
	if err != nil {
		return nil, err
	}
	if err := c.server.understands(o.Protocol); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != fresh {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: "initialize was sent before", Hint: "send it once, first of all"}
	}
	if c.options, err = checked(o); err != nil {
		return nil, err
	}
	c.state, c.info = initialized, p.ClientInfo
	c.info.Name = protocol.Head(c.info.Name, shownName)
	if version, ok := c.info.Version.Get(); ok {
		c.info.Version = lsp.NewOptional(protocol.Head(version, shownName))
	}
	about, err := json.Marshal(map[string]protocol.About{"sidecar": c.server.about()})
	if err != nil {
		return nil, err
	}
	return &lsp.InitializeResult{
		Capabilities: lsp.ServerCapabilities{Experimental: lsp.LSPAny(about)},
		ServerInfo:   lsp.ServerInfo{Name: "sidecar", Version: lsp.NewOptional(c.server.o.Build.Version)},
	}, nil
}

func checked(o protocol.InitializeOptions) (protocol.InitializeOptions, error) {
	o.Output = cmp.Or(o.Output, protocol.AllOutput)
	return o, o.Check()
}

// Initialized is LSP's notification that a client has read the answer to initialize: from here on it can be told of things.
func (c *client) Initialized(context.Context, *lsp.InitializedParams) error {
	c.mu.Lock()
	level, ok := logs.Level(c.options.Log)
	came := slog.LevelInfo
	if c.options.Observer {
		came = slog.LevelDebug
	}
	version, _ := c.info.Version.Get()
	if ok && c.state == initialized {
		c.unhear()
		c.unhear = c.server.o.Logs.Listen(level, c.hear)
	}
	c.mu.Unlock()
	c.server.log.Log(context.Background(), came, "client came", "client", c.name(), "version", version, "process", c.pid)
	return nil
}

// hear tells the client of a line of the log, unless it does not read.
func (c *client) hear(t logs.Told) {
	if c.peer.Room() {
		c.peer.Push(protocol.MethodLog, protocol.LogParams{Time: t.Time, Level: strings.ToLower(t.Level.String()), Text: t.Text})
	}
}

// gone lets go of what the client had.
func (c *client) gone() {
	c.stop()
	c.mu.Lock()
	came, level := c.state != fresh, slog.LevelInfo
	if c.options.Observer {
		level = slog.LevelDebug
	}
	c.unhear()
	c.mu.Unlock()
	if came && !c.server.isOver() { // then the log has had its last line
		c.server.log.Log(context.Background(), level, "client left", "client", c.name(), "process", c.pid, "after", time.Since(c.since).Round(time.Millisecond), "live", c.server.runs.of(c))
	}
}

func (s *Server) understands(version int) error {
	switch {
	case version == 0 || version >= protocol.OldestVersion && version <= protocol.Version:
		return nil
	case version > protocol.Version:
		return &protocol.Error{Kind: protocol.Outdated, Message: fmt.Sprintf("this sidecar (%s) speaks protocol %d; the client wants %d", s.o.Build.Version, protocol.Version, version),
			Hint: "end it with `sidecar stop`; the client's own takes its place"}
	}
	return &protocol.Error{Kind: protocol.Outdated, Message: fmt.Sprintf("the client speaks protocol %d; this sidecar (%s) wants %d to %d", version, s.o.Build.Version, protocol.OldestVersion, protocol.Version),
		Hint: "update the client, or end this sidecar with `sidecar stop`"}
}

func (s *Server) about() protocol.About {
	return protocol.About{Protocol: protocol.Version, Build: s.o.Build, Workspace: s.o.Root, PID: os.Getpid(), State: s.state}
}

// Shutdown is LSP's last request; the runs of this client are cancelled.
func (c *client) Shutdown(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == fresh {
		return rpc.NotInitialized(lsp.MethodShutdown)
	}
	c.state = shutDown
	for _, r := range c.tokens {
		r.cancel()
	}
	return nil
}

// Exit closes the connection; the sidecar itself lives on for the others.
func (c *client) Exit(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	go c.peer.Close()
	return nil
}

// name is who it is, for people.
func (c *client) name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.info.Name == "" {
		return fmt.Sprintf("process %d", c.pid)
	}
	return c.info.Name
}

// isNeed says whether a sidecar is needed by this client: not by one that only looks, or has not said what it is.
func (c *client) isNeed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == initialized && !c.options.Observer
}

// isFresh says that it has not said initialize.
func (c *client) isFresh() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == fresh
}

// wants says what a client wants to be told.
func (c *client) wants() (events bool, output protocol.Interest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	events = c.state == initialized && (c.options.Events == nil || *c.options.Events)
	if c.state != initialized {
		return false, protocol.NoOutput
	}
	return events, c.options.Output
}

// engine is the engine with this client's settings, read anew, since files change.
func (c *client) engine() (*sidecar.Engine, error) {
	src := c.sources()
	home := src.Env("HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	settings, notes, err := config.Load(src)
	if err != nil {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: err.Error(), Err: err}
	}
	c.note(fmt.Sprint(append(notes, sidecar.SettingsNotes(settings)...)))
	level, _ := logs.Level(settings.Log.Level)
	return c.server.engine.For(settings, src.Env, home).Logging(c.server.o.Logs.Logger(level)), nil
}

// sources are where this client's settings are.
func (c *client) sources() config.Sources {
	c.mu.Lock()
	o := c.options
	c.mu.Unlock()
	src := config.Sources{Explicit: o.ExplicitConfig, User: o.ConfigFile, Project: c.server.o.Root, Env: os.Getenv}
	if o.Environment != nil {
		src.Env, src.Names = func(name string) string { return o.Environment[name] }, slices.Collect(maps.Keys(o.Environment))
	}
	return src
}

// note logs what is to be said of the settings, once.
func (c *client) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text != c.lastNote && text != "[]" {
		c.server.log.Info("settings", "client", c.info.Name, "notes", text)
	}
	c.lastNote = text
}

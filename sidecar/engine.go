// Package sidecar runs code in the sandbox of one workspace after another: it finds the workspace, the
// environment and the protected paths, makes the policy, has a backend carry it out, watches and audits.
//
//	e := sidecar.New(sidecar.Options{})
//	defer e.Close()
//	result, err := e.Run(ctx, root, "--workspace", protocol.RunParams{Language: "python", Code: "print(1)"}, nil)
//
// Errors are *protocol.Error. What a run may do is in package sandbox; what it may not change in package
// workspace. SECURITY.md says what is promised and what is not.
package sidecar

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"code.sidecar.dev/nix"
	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/env/host"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/telemetry"
	"code.sidecar.dev/workspace/hold"
)

// Options are what an engine is made of. The zero value is this process's own environment and the defaults.
type Options struct {
	// Settings, or nil for the defaults.
	Settings *config.Settings
	// StateDir is where placeholders are recorded and long outputs kept; "" is the user's state folder.
	StateDir string
	// Getenv and Home are the user's environment; nil and "" are the process's.
	Getenv func(string) string
	Home   string
	// Host replaces what is probed of the machine, for tests.
	Host *sandbox.Host
	// Shim is the program that runs first inside a sandbox; "" is this one, which must then be sidecar's own.
	Shim string
	// Groups is the folder in which runs get control groups (sandbox.Host.Groups); "" is none.
	Groups string
	Log    *slog.Logger
	// Found is told what the audit of a large tree finds after its run was answered; nil is nobody.
	Found func(run string, f protocol.Finding)
	// History is where runs are written down.
	History History
	// Version is this program's, for those whom telemetry is sent to.
	Version string
}

// Engine runs code. It is safe for many callers at once.
type Engine struct {
	settings config.Settings
	getenv   func(string) string
	home     string
	// log is of this client's runs; the machinery's is of what all have in common.
	log *slog.Logger
	*machinery
}

// machinery is what the engines of all clients have in common.
type machinery struct {
	host  sandbox.Host
	log   *slog.Logger
	found func(string, protocol.Finding)
	// history is where runs are written down.
	history History
	// telemetry sends traces and metrics to where clients' variables say.
	telemetry *telemetry.Pool

	// argvMounts is set when the kernel turned out to give no capabilities inside a sandbox.
	argvMounts atomic.Bool

	mu      sync.Mutex
	state   string
	guards  map[guarded]*sharedGuard
	trimmer *time.Timer // trims the guards
	facts   map[learned]*facts
	bwrap   map[askedBwrap]string // where bubblewrap is
	ledger  *hold.Ledger
	tidied  time.Time // when outputs were last pruned
	pending pendingFindings
	stores  map[string]*nix.Store // by what a client's settings say of Nix
	keepers []*keeper             // last used first

	keepTrimmer *time.Timer // trims the keepers

	kinds       []*kind // last used first
	warmTrimmer *time.Timer
	mounts      mountTable

	// started is where this program was started from, copied its copy if something else is there now.
	started string
	copied  ownCopy

	sessions sessions

	// life ends with Close, which waits for what goes on in the background.
	life       context.Context
	end        context.CancelFunc
	background sync.WaitGroup
	// waiting is for sandboxes that are ready, which Close ends.
	waiting sync.WaitGroup
}

// New makes an engine. It touches nothing yet.
func New(o Options) *Engine {
	m := &machinery{state: o.StateDir, log: o.Log, found: o.Found, history: o.History, guards: map[guarded]*sharedGuard{}, facts: map[learned]*facts{}, bwrap: map[askedBwrap]string{}, stores: map[string]*nix.Store{}}
	m.life, m.end = context.WithCancel(context.Background())
	e := &Engine{settings: config.Defaults(), getenv: o.Getenv, home: o.Home, machinery: m}
	if o.Settings != nil {
		e.settings = *o.Settings
	}
	if e.getenv == nil {
		e.getenv = os.Getenv
	}
	if e.home == "" {
		e.home, _ = os.UserHomeDir()
	}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	e.log = m.log
	m.telemetry = telemetry.NewPool(telemetry.Options{Version: o.Version, Log: m.log, Ready: m.readyCount})
	e.getenv = host.Wider(runtime.GOOS, e.getenv, e.home)
	e.host = probe()
	e.started = e.host.Shim
	if o.Host != nil {
		e.host = *o.Host
	}
	if o.Shim != "" {
		e.host.Shim = o.Shim
	}
	if o.Groups != "" {
		e.host.Groups = o.Groups
	}
	if e.found == nil {
		e.found = func(string, protocol.Finding) {}
	}
	return e
}

// For is an engine for another client of the same sidecar: with its settings and environment, and the guards,
// placeholders and probes of this one.
func (e *Engine) For(settings config.Settings, getenv func(string) string, home string) *Engine {
	return &Engine{settings: settings, getenv: host.Wider(runtime.GOOS, getenv, home), home: home, log: e.log, machinery: e.machinery}
}

// Logging has the engine's own runs logged to another place.
func (e *Engine) Logging(log *slog.Logger) *Engine {
	out := *e
	out.log = log
	return &out
}

// Close ends the guards and the keepers. Runs still going on are the caller's to cancel first.
func (e *Engine) Close() {
	e.end()
	e.endSessions()
	e.closeGuards()
	e.closeKeepers()
	e.closeWarm()
	e.background.Wait()
	e.waiting.Wait()
	e.copied.remove()
	if e.history.Close != nil {
		e.history.Close()
	}
	e.telemetry.Close()
}

// stateDir is the state folder, made on first use.
func (e *Engine) stateDir() (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state != "" {
		return e.state, os.MkdirAll(e.state, 0o700)
	}
	dir, err := config.StateDir()
	if err == nil {
		e.state = dir
	}
	return dir, err
}

// outputFolder is where in the state folder long outputs are kept.
const outputFolder = "output"

// outputDir is where long outputs are kept.
func (e *Engine) outputDir() (string, error) {
	state, err := e.stateDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(state, outputFolder)
	return dir, os.MkdirAll(dir, 0o700)
}

// resolvedHome is the home folder with links resolved, which is how the sandbox compares paths.
func (e *Engine) resolvedHome() string {
	if real, err := filepath.EvalSymlinks(e.home); err == nil {
		return real
	}
	return e.home
}

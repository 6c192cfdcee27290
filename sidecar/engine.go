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
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"code.sidecar.dev/nix"
	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
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
	Log  *slog.Logger
	// Found is told what the audit of a large tree finds after its run was answered; nil is nobody.
	Found func(run string, f protocol.Finding)
}

// Engine runs code. It is safe for many callers at once.
type Engine struct {
	settings config.Settings
	getenv   func(string) string
	home     string
	*machinery
}

// machinery is what the engines of all clients have in common.
type machinery struct {
	host  sandbox.Host
	log   *slog.Logger
	found func(string, protocol.Finding)

	// argvMounts is set when the kernel turned out to give no capabilities inside a sandbox.
	argvMounts atomic.Bool

	mu      sync.Mutex
	state   string
	guards  map[guarded]*sharedGuard
	trimmer *time.Timer // trims the guards
	facts   map[learned]*facts
	bwrap   map[[2]string]string // where bubblewrap is, by workspace and PATH
	ledger  *hold.Ledger
	tidied  time.Time // when outputs were last pruned
	pending pendingFindings
	stores  map[string]*nix.Store // by what a client's settings say of Nix

	// life ends with Close, which waits for what goes on in the background.
	life       context.Context
	end        context.CancelFunc
	background sync.WaitGroup
}

// New makes an engine. It touches nothing yet.
func New(o Options) *Engine {
	m := &machinery{state: o.StateDir, log: o.Log, found: o.Found, guards: map[guarded]*sharedGuard{}, facts: map[learned]*facts{}, bwrap: map[[2]string]string{}, stores: map[string]*nix.Store{}}
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
	if e.log == nil {
		e.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	e.host = probe()
	if o.Host != nil {
		e.host = *o.Host
	}
	if o.Shim != "" {
		e.host.Shim = o.Shim
	}
	if e.found == nil {
		e.found = func(string, protocol.Finding) {}
	}
	return e
}

// For is an engine for another client of the same sidecar: with its settings and environment, and the guards,
// placeholders and probes of this one.
func (e *Engine) For(settings config.Settings, getenv func(string) string, home string) *Engine {
	return &Engine{settings: settings, getenv: getenv, home: home, machinery: e.machinery}
}

// Close ends the guards. Runs still going on are the caller's to cancel first.
func (e *Engine) Close() {
	e.end()
	e.closeGuards()
	e.background.Wait()
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

package nix

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

//go:embed expr/env.nix
var environmentExpression string

//go:embed expr/names.nix
var namesExpression string

// Store builds environments and finds them again. It may be used by many at once, and by many processes with
// one folder.
type Store struct {
	options   Options
	environ   []string
	building  flights[Built]
	resolving flights[Source]
	confined  confined
	mu        sync.Mutex
	tool      Tool
}

// folders of the cache.
var folders = []string{"records", "roots", "locks", "logs", "sources", "names", "home"}

// Open makes the folder of a Store. It starts nothing: nix is looked for when one is needed.
func Open(o Options) (*Store, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if err := os.MkdirAll(filepath.Join(o.Dir, folder), 0o700); err != nil {
			return nil, fmt.Errorf("the cache of environments: %w", err)
		}
	}
	info, err := os.Stat(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("the cache of environments: %w", err)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && (int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0) {
		return nil, fmt.Errorf("the cache of environments: others can write %q, and what is in it is executed\nchmod go-w it, or name another folder", o.Dir)
	}
	return &Store{options: o, environ: o.environment()}, nil
}

// Tool is the nix that the store uses. It is looked for once; an error is not remembered, so that a nix that
// is installed meanwhile is found.
func (s *Store) Tool(ctx context.Context) (Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tool.Program != "" {
		return s.tool, nil
	}
	tool, err := Find(ctx, Finding{Program: s.options.Program, Path: s.options.Path, Environ: s.environ})
	if err == nil {
		s.tool = tool
	}
	return tool, err
}

// target is what a Spec comes to: what to build, and its key.
type target struct {
	spec    Spec
	plan    plan
	nixpkgs Source
	key     string
}

// Cached is the environment of a Spec if it is built: no process is started, and the network is not asked. A
// nixpkgs that is not locked is the one that it was resolved to.
func (s *Store) Cached(spec Spec) (Built, bool) {
	if spec.Check() != nil {
		return Built{}, false
	}
	return s.cached(spec)
}

// cached is Cached for a Spec that is checked.
func (s *Store) cached(spec Spec) (Built, bool) {
	t, err := s.target(spec, s.known)
	if err != nil {
		return Built{}, false
	}
	return s.read(t.key)
}

// Build is the environment of a Spec: the cached one, or a new one. However many ask for it at once, also in
// several processes, it is built once; when the context of the last one ends, nix is ended. progress may be
// nil; it is called by one goroutine at a time, not after Build has returned, and should return soon.
//
// The error is a *SpecError, *DeniedError, *UnknownError, *RefusedError, *EvalError, *FetchError,
// *BuildError, *LimitError, *MissingError, *VersionError, *StoreError or the context's.
func (s *Store) Build(ctx context.Context, spec Spec, progress func(Progress)) (Built, error) {
	if err := spec.Check(); err != nil {
		return Built{}, err
	}
	if built, ok := s.cached(spec); ok {
		return built, nil
	}
	t, err := s.target(spec, func(source Source) (Source, error) {
		// A flake's own output is built from what the reference is now; nixpkgs stays what it was.
		if source.Ref != "" && source.Ref == spec.Output.Flake {
			return s.Refresh(ctx, source, progress)
		}
		return s.Resolve(ctx, source, progress)
	})
	if err != nil {
		return Built{}, err
	}
	return s.building.do(ctx, t.key, progress, func(ctx context.Context, report func(Progress)) (Built, error) {
		built, err := s.build(ctx, t, report)
		return built, s.suggest(ctx, t, err)
	})
}

// target finds out what a Spec comes to, with its sources locked by lock.
func (s *Store) target(spec Spec, lock func(Source) (Source, error)) (t target, err error) {
	t.spec = spec
	if !spec.Output.isSet() || spec.Nixpkgs != (Source{}) {
		if t.nixpkgs, err = lock(spec.Nixpkgs); err != nil {
			return t, err
		}
	}
	if spec.Output.isSet() {
		var flake Source
		if spec.Output.Folder() == "" {
			if flake, err = lock(Source{Ref: spec.Output.Flake}); err != nil {
				return t, err
			}
		}
		t.key = keyOf(spec.Output.key(spec.system(), flake), t.nixpkgs.NarHash)
		return t, nil
	}
	if t.plan, err = spec.plan(); err == nil {
		t.key = t.plan.key(t.nixpkgs)
	}
	return t, err
}

// build makes an environment, its root and its record, while no other process does.
func (s *Store) build(ctx context.Context, t target, report func(Progress)) (Built, error) {
	unlock, err := s.lock(ctx, t.key, func() { report(Progress{Stage: "waiting"}) })
	if err != nil {
		return Built{}, err
	}
	defer unlock()
	if built, ok := s.read(t.key); ok {
		return built, nil
	}
	// Nix replaces no link but its own.
	if err := os.Remove(s.rootLink(t.key)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return Built{}, fmt.Errorf("the root of an environment: %w", err)
	}
	report(Progress{Stage: "evaluating"})
	built := Built{Key: t.key, Spec: t.spec, Nixpkgs: t.nixpkgs, At: time.Now().Round(0), root: s.options.Root}
	job := job{what: t.String(), nixpkgs: t.nixpkgs, log: t.key, report: report}
	tool, err := s.Tool(ctx)
	if err != nil {
		return Built{}, err
	}
	t.spec.Output, job.dir = t.spec.Output.readAs(tool.Version)
	if t.spec.Output.Shell {
		err = s.makeShell(ctx, t, job, &built)
	} else {
		built.Out, err = s.buildLink(ctx, job, t.key, t.arguments()...)
	}
	if err != nil {
		return Built{}, err
	}
	if built.Closure, err = s.closure(ctx, job, built.Out); err != nil {
		return Built{}, err
	}
	return built, s.write(built)
}

// String names a target for people.
func (t target) String() string {
	if o := t.spec.Output; o.isSet() {
		return o.String()
	}
	names := append([]string{}, t.spec.Packages...)
	if t.spec.Interpreter != "" {
		names = append([]string{t.spec.Interpreter}, names...)
	}
	if len(names) == 0 {
		names = Base
	}
	return "an environment of " + strings.Join(names, ", ")
}

// arguments are what nix build is to build.
func (t target) arguments() []string {
	if t.spec.Output.isSet() {
		return t.output()
	}
	return []string{"--option", "allow-import-from-derivation", "false", "--expr", environmentExpression, "--argstr", "spec", t.plan.request(t.nixpkgs)}
}

// output is an Output as arguments. Its lock file is never written, and <nixpkgs> is the chosen one.
func (t target) output() []string {
	args := []string{"--no-write-lock-file"}
	if t.nixpkgs.Path != "" {
		args = append(args, "--include", "nixpkgs="+t.nixpkgs.Path)
	}
	if o := t.spec.Output; o.Restricted && o.File != "" {
		// Only what is among the places of <…> is readable then.
		args = append(args, "--option", "restrict-eval", "true", "--option", "allowed-uris", strings.Join(o.Fetched, " "), "--include", "the-project="+o.Folder())
	}
	return append(args, t.spec.Output.installable()...)
}

// buildLink builds something and makes the root of a key a link to it.
func (s *Store) buildLink(ctx context.Context, job job, key string, args ...string) (string, error) {
	out, err := s.nix(ctx, job, append([]string{"build", "--json", "--out-link", s.rootLink(key)}, args...)...)
	if err != nil {
		return "", err
	}
	// nix build --json lists what it built; a store path of its own has no derivation.
	var results []struct{ Outputs map[string]string }
	if err := json.Unmarshal(out, &results); err != nil || len(results) != 1 || len(results[0].Outputs) == 0 {
		return s.linked(key)
	}
	path := results[0].Outputs["out"]
	if path == "" { // a package in parts, whose link has the part's name
		for _, name := range sorted(results[0].Outputs) {
			path = results[0].Outputs[name]
			break
		}
		return path, s.keep(ctx, job, path, s.rootLink(key))
	}
	return path, nil
}

// linked is what the root of a key leads to.
func (s *Store) linked(key string) (string, error) {
	path, err := os.Readlink(s.rootLink(key))
	if err != nil {
		return "", fmt.Errorf("the root of an environment: %w", err)
	}
	return path, nil
}

// closure is a store path and all that it refers to.
func (s *Store) closure(ctx context.Context, job job, path string) ([]string, error) {
	tool, err := s.Tool(ctx)
	if err != nil {
		return nil, err
	}
	job.log, job.report, job.dir = "", nil, ""
	out, err := s.tell(ctx, job, tool.Store, append(s.storeFlags(), "--query", "--requisites", path))
	if err != nil {
		return nil, err
	}
	paths := strings.Fields(string(out))
	if len(paths) == 0 {
		return nil, errors.New("bug: nix-store names no closure")
	}
	return paths, nil
}

// rootLink is the link that keeps an environment. Nix knows it by its name: it may not be moved.
func (s *Store) rootLink(key string) string {
	return filepath.Join(s.options.Dir, "roots", key)
}

// openLog makes a log file anew; a log that cannot be written is no reason not to build.
func (s *Store) openLog(key string) (*os.File, string) {
	if key == "" {
		return nil, ""
	}
	name := filepath.Join(s.options.Dir, "logs", key+".log")
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, ""
	}
	return file, name
}

// Check says whether the store can be used at all: it puts a file of no bytes into it. The error is a *MissingError,
// *VersionError or *StoreError.
func (s *Store) Check(ctx context.Context) error {
	_, err := s.nix(ctx, job{what: "a probe of the store"}, "eval", "--expr", `builtins.toFile "sidecar-probe" ""`)
	var eval *EvalError
	if errors.As(err, &eval) {
		return &StoreError{Reason: eval.Reason, Hint: storeHint(eval.Reason)}
	}
	return err
}

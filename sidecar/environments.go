package sidecar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"code.sidecar.dev/nix"
	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/env/host"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace/plainfile"
)

// hostEnvironment is the id of the environment of this machine's own programs, nixEnvironment of that which Nix makes of
// a language and packages.
const (
	hostEnvironment = "host"
	nixEnvironment  = "nix"
)

// Environment is this machine's own programs, as runs in the workspace at root can use them.
func (e *Engine) Environment(root string) (env.Environment, error) {
	return host.Cached(e.machine(root)), nil
}

// Environments are all that runs in the workspace at root can ask for, the default first. Nothing is built.
func (e *Engine) Environments(root string) ([]protocol.Environment, error) {
	own, err := e.Environment(root)
	if err != nil {
		return nil, err
	}
	list := []protocol.Environment{env.List(own)}
	if e.settings.Nix.Use == "never" || !e.hasNix(root) {
		return list, nil
	}
	for _, p := range nix.Presets() {
		list = append(list, e.listed(root, p.Name, p.Spec(e.nixpkgs(root)), protocol.Environment{Summary: p.Summary, Packages: p.Packages,
			Languages: []protocol.Language{{Name: p.Language, Program: "in nixpkgs: " + p.Interpreter}}}))
	}
	flakes := e.flakes()
	for _, id := range slices.Sorted(maps.Keys(flakes)) {
		if err := output(flakes[id]).Output.Check(); err != nil {
			list = append(list, broken(id, err.Error()))
			continue
		}
		list = append(list, e.listed(root, id, output(flakes[id]), protocol.Environment{Summary: flakes[id], Languages: []protocol.Language{}}))
	}
	built := e.prebuilt()
	for _, id := range slices.Sorted(maps.Keys(built)) {
		if built[id].broken != "" {
			list = append(list, broken(id, built[id].broken+": build it anew, or remove it"))
			continue
		}
		list = append(list, e.listed(root, id, nix.Spec{Output: nix.Output{Path: built[id].path}}, protocol.Environment{Summary: built[id].path, Languages: []protocol.Language{}}))
	}
	if t, ok := e.trusted(root); ok || isFile(filepath.Join(root, "flake.nix")) || isFile(filepath.Join(root, "shell.nix")) {
		about := protocol.Environment{Summary: "the project's own dev shell; project#NAME and project#packages.NAME are its others", Languages: []protocol.Language{}}
		if !ok {
			about.Summary += ", which a person has to trust first (sidecar trust)"
		}
		if spec, has := e.projectShell(root, projectEnvironment, t); has {
			list = append(list, e.listed(root, projectEnvironment, spec, about))
		}
	}
	if e.settings.Nix.Use == "always" {
		list = append(list[1:], list[0])
	}
	return list, nil
}

// broken is an environment that somebody meant there to be, and that cannot be had.
func broken(id, why string) protocol.Environment {
	return protocol.Environment{ID: id, Provider: "nix", Summary: "broken: " + why, Languages: []protocol.Language{}}
}

// flakes are the person's own environments by their ids, each a flake and its output: those of the settings, and those of
// the variable NIX_SANDBOX_ENVS (a list with commas), which are called as their output, or as the last part of the flake.
func (e *Engine) flakes() map[string]string {
	out := map[string]string{}
	for _, ref := range strings.Split(e.getenv("NIX_SANDBOX_ENVS"), ",") {
		if ref = strings.TrimSpace(ref); ref != "" {
			flake, attr, _ := strings.Cut(ref, "#")
			id := attr[strings.LastIndexByte(attr, '.')+1:]
			if id == "" || id == "default" {
				id = path.Base(strings.TrimRight(flake, "/"))
			}
			out[id] = ref
		}
	}
	maps.Copy(out, e.settings.Nix.Environments)
	return out
}

// output is an environment of a flake. Dev shells have variables, too.
func output(ref string) nix.Spec {
	flake, attr, _ := strings.Cut(ref, "#")
	return nix.Spec{Output: nix.Output{Flake: flake, Attr: attr, Shell: strings.HasPrefix(attr, "devShells.")}}
}

// within says that a flake's folder is one of the workspace; "" is a flake from elsewhere.
func within(folder, root string) bool {
	if folder == "" {
		return false
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	return sandbox.Inside(filepath.Clean(folder), root)
}

// listed is an environment as clients see it: about says what is known of it also when it is not built.
func (e *Engine) listed(root, id string, spec nix.Spec, about protocol.Environment) protocol.Environment {
	out := about
	out.ID, out.Provider, out.NotBuilt = id, "nix", true
	store, err := e.store(root)
	if err != nil {
		return out
	}
	built, ok := store.Cached(e.allowed(spec))
	if !ok {
		return out
	}
	made := env.List(fromNix(id, built, e.settings.Nix.Store))
	out.NotBuilt, out.Languages, out.Path = false, made.Languages, made.Path
	return out
}

// wanted is what of Nix a request needs; ok is false for one that this machine's own programs serve.
func (e *Engine) wanted(root string, own env.Environment, p protocol.RunParams) (id string, spec nix.Spec, ok bool, err error) {
	use := e.settings.Nix.Use
	lang, langErr := env.Lookup(p.Language)
	if p.Language != "" && langErr != nil {
		return "", spec, false, bad("", "%v", langErr)
	}
	var preset *nix.Preset
	for _, candidate := range nix.Presets() {
		if candidate.Name == p.Environment {
			preset = &candidate
		}
	}
	switch {
	case p.Environment == hostEnvironment && len(p.Packages) > 0:
		return "", spec, false, bad("leave the environment out, so that Nix makes one", "packages cannot be added to the environment host: its programs are those of this machine")
	case p.Environment == hostEnvironment, p.Environment == "" && len(p.Packages) == 0 && use == "never":
		return "", spec, false, nil
	case use != "never" && p.Environment != "":
		if spec, ok, err = e.personal(root, p.Environment, len(p.Packages) > 0); ok {
			return p.Environment, spec, err == nil, err
		}
	}
	switch {
	case p.Environment != "" && p.Environment != nixEnvironment && preset == nil && !nix.IsStorePath(p.Environment):
		return "", spec, false, e.unknown(p.Environment)
	case use == "never":
		return "", spec, false, &protocol.Error{Kind: protocol.Denied, Message: "environments from Nix are off", Hint: e.settings.SetBy("nix.use") + " has nix.use at never: set it to auto there"}
	case preset != nil:
		return preset.Name, preset.Spec(e.nixpkgs(root), p.Packages...), true, nil
	case p.Environment == "" && len(p.Packages) == 0 && use == "auto" && (p.Language == "" || has(own, lang) || !e.hasNix(root)):
		return "", spec, false, nil
	}
	return nixEnvironment, nix.Spec{Nixpkgs: e.nixpkgs(root), Interpreter: lang.Attr, Packages: slices.Concat(beside(lang), p.Packages)}, true, nil
}

// personal is an environment that is not made of packages, and takes none: one that was built before, the project's dev
// shell, or one of the person's flakes; ok is false for another id. A folder is read for it, so only requests that name
// an environment come here.
func (e *Engine) personal(root, id string, packages bool) (spec nix.Spec, ok bool, err error) {
	refused := func(to string) error { return bad("leave one of them out", "packages cannot be added to %s", to) }
	before := e.prebuilt()[id]
	if err := before.error(id); err != nil {
		return spec, true, err
	}
	path := before.path
	if nix.IsStorePath(id) { // only a person's own programs come here with one
		path = id
	}
	if path != "" {
		if packages {
			return spec, true, refused("the environment " + id + ": it was built before")
		}
		return nix.Spec{Output: nix.Output{Path: path}}, true, nil
	}
	if _, _, own := projectAttr(id); own {
		if packages {
			return spec, true, refused("the project's own dev shell")
		}
		spec, err = e.project(root, id)
		return spec, true, err
	}
	ref := e.flakes()[id]
	spec = output(ref)
	switch {
	case ref == "":
		return spec, false, nil
	case packages:
		return spec, true, refused("the environment " + id + ": it is what its flake makes it")
	case within(spec.Output.Folder(), root):
		return spec, true, &protocol.Error{Kind: protocol.Denied, Message: fmt.Sprintf("the flake of the environment %s lies in the project, where runs can change it, and is evaluated outside of the sandbox", id),
			Hint: "use the environment project, after `sidecar trust`, or a copy of the flake elsewhere"}
	}
	return spec, true, nil
}

// beside are packages that a language needs beside its interpreter, as its preset has them.
func beside(lang env.Language) []string {
	for _, p := range nix.Presets() {
		if p.Name == lang.Name {
			return p.Packages
		}
	}
	return nil
}

func has(e env.Environment, lang env.Language) bool {
	_, ok := e.Interpreters[lang.Name]
	return ok
}

func (e *Engine) unknown(id string) error {
	known := []env.Environment{{ID: hostEnvironment}, {ID: nixEnvironment}, {ID: projectEnvironment}}
	for _, p := range nix.Presets() {
		known = append(known, env.Environment{ID: p.Name})
	}
	for name := range e.prebuilt() {
		known = append(known, env.Environment{ID: name})
	}
	for name := range e.flakes() {
		known = append(known, env.Environment{ID: name})
	}
	_, err := env.Named(id, known)
	return &protocol.Error{Kind: protocol.UnknownEnvironment, Message: err.Error(), Hint: "ask `sidecar envs` (list_envs) for those that there are", Err: err}
}

// environment is what a request runs in; what is not built yet is built, and building is told how far that is.
func (e *Engine) environment(ctx context.Context, root string, p protocol.RunParams, building func(protocol.Building)) (env.Environment, error) {
	own, err := e.Environment(root)
	if err != nil {
		return own, err
	}
	id, spec, ok, err := e.wanted(root, own, p)
	if err != nil {
		return own, err
	}
	if !ok {
		return e.withNix(ctx, root, own, building)
	}
	built, err := e.build(ctx, root, spec, building)
	if _, _, own := projectAttr(id); err != nil && own {
		err = onlyTrusted(err, spec.Output.Folder(), root)
	}
	if err != nil {
		return own, e.orInstalled(err, own, p)
	}
	return e.withNix(ctx, root, fromNix(id, built, e.settings.Nix.Store), building)
}

// orInstalled also says how this machine can have a language for which Nix was only asked because it lacks it.
func (e *Engine) orInstalled(err error, own env.Environment, p protocol.RunParams) error {
	known := *protocol.AsError(err)
	if p.Environment != "" || len(p.Packages) > 0 || e.settings.Nix.Use != "auto" || known.Kind == protocol.Cancelled {
		return err
	}
	lang, _ := env.Lookup(p.Language)
	for _, m := range own.Missing {
		if m.Language.Name == lang.Name {
			known.Hint = strings.TrimLeft(known.Hint+"\nor have "+lang.Name+" on this machine: "+m.Hint, "\n")
		}
	}
	return &known
}

// build is what a request comes to, the cached one or a new one; building is told how far that is.
func (e *Engine) build(ctx context.Context, root string, spec nix.Spec, building func(protocol.Building)) (nix.Built, error) {
	store, err := e.store(root)
	if err != nil {
		return nix.Built{}, nixError(err)
	}
	name := described(spec)
	built, err := store.Build(ctx, e.allowed(spec), func(n nix.Progress) {
		if building != nil {
			building(protocol.Building{Environment: name, Stage: n.Stage, Name: n.Name, Done: n.Built + n.Fetched, Total: n.ToBuild + n.ToFetch})
		}
	})
	if err != nil {
		return built, nixError(err)
	}
	return built, nil
}

// described says for people what is built.
func described(s nix.Spec) string {
	text := strings.Join(s.Packages, ", ")
	switch {
	case s.Output.Name != "":
		return s.Output.Name
	case s.Output.Path != "":
		return s.Output.Path
	case s.Output.File != "":
		return s.Output.File
	case s.Output.Flake != "":
		return strings.TrimSuffix(s.Output.Flake+"#"+s.Output.Attr, "#")
	case s.Interpreter == "":
		return text
	case text == "":
		return s.Interpreter
	}
	return s.Interpreter + " with " + text
}

// allowed puts the person's settings into a request.
func (e *Engine) allowed(s nix.Spec) nix.Spec {
	n := e.settings.Nix
	s.Deny = n.PackageDenylist
	s.Allow = nix.Allow{Unfree: n.AllowUnfree, Broken: n.AllowBroken, Insecure: n.AllowInsecure}
	return s
}

// nixpkgs is where packages come from: what the settings name, what the project's flake.lock pins if they say so, or the
// default. A lock is the project's, and whoever writes it chooses what is evaluated and fetched on this machine: also where
// it names nixpkgs' own repository, since GitHub serves the commits of forks under its name.
func (e *Engine) nixpkgs(root string) nix.Source {
	if ref := e.settings.Nix.Nixpkgs; ref != "" {
		return nix.Source{Ref: ref}
	}
	if !e.settings.Nix.FollowLock {
		return nix.Source{Ref: nix.DefaultNixpkgs}
	}
	if lock, err := plainfile.Read(filepath.Join(root, "flake.lock")); err == nil {
		if pin, ok, err := nix.LockedNixpkgs(lock); err == nil && ok && pin.Official() {
			return pin
		}
	}
	return nix.Source{Ref: nix.DefaultNixpkgs}
}

// hasNix says whether there is a nix to be asked; whether it can do what is needed shows when it is.
func (e *Engine) hasNix(root string) bool { return e.nixProgram(root) != "" }

// nixProgram is the configured nix, or the first on PATH where no run can have put it.
func (e *Engine) nixProgram(root string) string {
	if set := e.settings.Nix.Program; set != "" {
		return set
	}
	file, _ := host.Tool(e.programs(root), "nix")
	return file
}

// store is the cache of environments with the client's settings. It is made once for each of them.
func (e *Engine) store(root string) (*nix.Store, error) {
	program := e.nixProgram(root)
	if program == "" {
		return nil, &nix.MissingError{Path: e.getenv("PATH")}
	}
	machine := e.programs(root)
	if set := e.settings.Nix.Program; set != "" {
		if err := refusedProgram(machine, "nix.program", set); err != nil {
			return nil, err
		}
	}
	cache, err := config.CacheDir()
	if err != nil {
		return nil, err
	}
	n := e.settings.Nix
	o := nix.Options{Dir: filepath.Join(cache, "nix"), Program: program, Path: host.SearchPath(machine), Root: n.Store, Substituters: n.Substituters,
		TrustedKeys: n.TrustedKeys, Builders: n.Builders, Offline: n.Offline, Limit: n.BuildTimeout}
	for _, name := range nix.Passed {
		if value := e.getenv(name); value != "" {
			o.Environ = append(o.Environ, name+"="+value)
		}
	}
	key := fmt.Sprintf("%q", []any{o.Dir, o.Program, o.Path, o.Root, o.Substituters, o.TrustedKeys, o.Builders, o.Offline, o.Limit, o.Environ})
	e.mu.Lock()
	defer e.mu.Unlock()
	if made := e.stores[key]; made != nil {
		return made, nil
	}
	made, err := nix.Open(o)
	if err != nil {
		return nil, err
	}
	if len(e.stores) >= maxStores { // each client's settings can differ, and be changed; none holds anything
		clear(e.stores)
	}
	e.stores[key] = made
	return made, nil
}

// maxStores is of how many settings a store is remembered.
const maxStores = 32

// fromNix is what Nix built, as an environment: each language whose program is in it.
func fromNix(id string, b nix.Built, root string) env.Environment {
	out := env.Environment{ID: id, Provider: "nix", Interpreters: map[string]env.Interpreter{}, Path: searchPath(b), Env: variables(b),
		Store: &env.Store{Folder: filepath.Join("/", root, env.StoreFolder), Out: b.Out, Shell: b.Bin() == "", Links: map[string]string{}}}
	for _, path := range b.Closure {
		out.Store.Names = append(out.Store.Names, filepath.Base(path))
	}
	aside := out // an environment may have what is linked outside of its PATH
	aside.Path = append(slices.Clone(out.Path), filepath.Join(b.Out, "libexec/sidecar"))
	for target, names := range map[string][]string{"/bin/sh": {"sh", "bash"}, "/usr/bin/env": {"env"}} {
		if program := programOf(aside, names...); program != "" {
			out.Store.Links[target] = program
		}
	}
	for _, lang := range env.Languages {
		for _, p := range lang.Programs {
			program := programOf(out, p.Name)
			if program == "" {
				continue
			}
			out.Interpreters[lang.Name] = env.Interpreter{Language: lang, Program: program, Argv: append([]string{program}, p.Args...), Via: "nixpkgs " + b.Nixpkgs.String()}
			break
		}
	}
	return out
}

// programOf is the first of the names that is in an environment's PATH.
func programOf(e env.Environment, names ...string) string {
	for _, name := range names {
		for _, dir := range e.Path {
			program := filepath.Join(dir, name)
			if _, err := os.Lstat(e.Real(program)); err == nil {
				return program
			}
		}
	}
	return ""
}

// searchPath is PATH in an environment: its folder of programs, or what of the store a dev shell has in its own.
func searchPath(b nix.Built) []string {
	if b.Bin() != "" {
		return []string{b.Bin()}
	}
	return slices.DeleteFunc(filepath.SplitList(b.Variables["PATH"]), func(dir string) bool { return !strings.HasPrefix(dir, env.StoreFolder+"/") })
}

// ours are variables that the sandbox sets by itself, whatever a dev shell says, or that only Nix's own builder needs.
var ours = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP", "TEMPDIR", "TERM", "TZ", "SHLVL", "_",
	"NIX_BUILD_TOP", "NIX_LOG_FD", "NIX_STORE", "out", "outputs", "builder", "shellHook"}

// variables are an environment's own: where its certificates are, or what a dev shell exports.
func variables(b nix.Built) []string {
	if b.Bin() != "" {
		bundle := b.Out + "/etc/ssl/certs/ca-bundle.crt"
		return append([]string{"SSL_CERT_FILE=" + bundle, "NIX_SSL_CERT_FILE=" + bundle}, setBy(noted(b))...)
	}
	return setBy(b.Variables)
}

// noted are the variables of an environment that lib.mkEnv made, which it notes in a file.
func noted(b nix.Built) map[string]string {
	var about struct {
		Env map[string]string `json:"env"`
	}
	link := filepath.Join(b.Real(b.Out), "share/sidecar/environment.json")
	if to, err := os.Readlink(link); err == nil {
		link = b.Real(to)
	}
	text, err := plainfile.Read(link)
	if err != nil || json.Unmarshal(text, &about) != nil {
		return nil
	}
	return about.Env
}

// setBy are variables as assignments, without those that are not an environment's to set.
func setBy(vars map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if variable.MatchString(name) && !slices.Contains(ours, name) && !strings.HasPrefix(name, "GIT_CONFIG") && !strings.HasPrefix(name, "SIDECAR") {
			out = append(out, name+"="+vars[name])
		}
	}
	return out
}

// nixError gives Nix's errors their kinds; each says by itself what to do, on its further lines.
func nixError(err error) error {
	var known *protocol.Error
	if errors.As(err, &known) {
		return known
	}
	message, hint, _ := strings.Cut(err.Error(), "\n")
	out := &protocol.Error{Kind: protocol.BuildFailed, Message: message, Hint: hint, Err: err}
	var failed *nix.BuildError
	if errors.As(err, &failed) {
		out.Log = failed.LogFile
	}
	switch err.(type) {
	case *nix.SpecError, *nix.UnknownError:
		out.Kind = protocol.BadRequest
	case *nix.DeniedError, *nix.RefusedError:
		out.Kind = protocol.Denied
	case *nix.MissingError:
		out.Kind, out.Message = protocol.BackendMissing, "packages and environments from Nix need Nix, and "+strings.TrimPrefix(message, "nix: ")
		out.Hint = "leave packages and environment out and use what is installed (`sidecar envs`, list_envs), or install Nix (https://nixos.org/download)"
	case *nix.VersionError, *nix.StoreError:
		out.Kind = protocol.BackendMissing
	default:
		if errors.Is(err, context.Canceled) {
			out.Kind, out.Message = protocol.Cancelled, "cancelled while its environment was built"
		}
	}
	return out
}

// Collected says what Collect did.
type Collected struct {
	Kept    int `json:"kept"`
	Dropped int `json:"dropped"`
}

// Collect lets go of the environments that have not been used for so long: Nix's own collector may then take them.
func (e *Engine) Collect(root string, unused time.Duration) (Collected, error) {
	store, err := e.store(root)
	if err != nil {
		return Collected{}, nixError(err)
	}
	done, err := store.Collect(unused)
	if err != nil {
		return Collected{}, nixError(err)
	}
	return Collected{Kept: done.Kept, Dropped: len(done.Environments)}, nil
}

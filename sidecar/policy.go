package sidecar

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/env/host"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/session"
	"code.sidecar.dev/workspace"
)

// job is everything that a run's policy is made of.
type job struct {
	ws       *workspace.Workspace
	env      env.Environment
	settings config.Settings
	account  account
	params   protocol.RunParams
	dir      string
	held     []workspace.Protected
	pins     []sandbox.Pin // of held, if they are made already
	sockets  []string
	git      gitSettings
	getenv   func(string) string
	machine  host.Machine
	granted  granted
	// borrowed are object stores outside that are shown.
	borrowed []string
	network  *network
	backend  sandbox.Backend
	hasInput bool
	Ask
}

// gitSettings are what git inside is told: the text of its global config, and settings by environment.
type gitSettings struct {
	global string
	keys   [][2]string
}

// policy is the run's policy, and the interpreter's path for the result.
func (j job) policy() (sandbox.Policy, string, error) {
	if err := j.locate(); err != nil {
		return sandbox.Policy{}, "", err
	}
	p := sandbox.Policy{UID: j.account.uid, GID: j.account.gid, Hostname: hostname, Dir: j.dir, Limits: limits(j.settings.Limits)}
	p.Limits.Time = timeout(j.params, j.settings.Limits)
	j.bounds(&p.Limits, j.params)
	j.granted.bounds(&p.Limits)
	p.Terminal = j.terminal()
	p.NoInput = p.Terminal == nil && !j.hasInput
	if j.env.Store != nil {
		j.closure(&p)
	} else {
		system(&p)
	}
	if j.env.Daemon != nil {
		j.daemon(&p)
	}
	if err := j.home(&p); err != nil {
		return p, "", err
	}
	j.scratch(&p)
	j.mounts(&p)
	varTmp(&p)
	if j.calls != "" {
		p.Mounts = append(p.Mounts, sandbox.Mount{Source: j.calls, Target: session.Place, Access: sandbox.ReadOnly})
	}
	p.Files = append(p.Files, j.account.files()...)
	p.Files = append(p.Files, sandbox.File{Target: gitConfig, Data: []byte(j.git.global), Mode: 0o444})
	if p.Pins = j.pins; p.Pins == nil {
		p.Pins = sandbox.BuildPins(writable(j.ws), pinsOf(j.held, j.sockets))
	}
	j.granted.mountsInto(&p)
	j.reach(&p)
	extra, program, err := j.command(&p)
	if err != nil {
		return p, "", err
	}
	if err := mountPoints(p, j.account.home); err != nil {
		return p, "", err
	}
	p.Env = j.environment(extra)
	j.seat(&p)
	return p, program, nil
}

func limits(l config.Limits) sandbox.Limits {
	return sandbox.Limits{Memory: int64(l.Memory), FileSize: int64(l.FileSize), Output: int64(l.Output), Processes: l.Processes, OpenFiles: l.OpenFiles}
}

// scratch are the private folders in memory.
func (j job) scratch(p *sandbox.Policy) {
	size := int64(j.settings.Limits.Scratch)
	p.Scratch = append(p.Scratch,
		sandbox.Scratch{Target: "/tmp", Size: size, Mode: 0o1777},
		sandbox.Scratch{Target: "/dev/shm", Size: size, Mode: 0o1777})
	if j.granted.profile.Home != "kept" {
		p.Scratch = append(p.Scratch, sandbox.Scratch{Target: j.account.home, Size: size, Mode: 0o700})
	}
}

// home is the home that a profile keeps, if it does.
func (j job) home(p *sandbox.Policy) error {
	if j.granted.profile.Home != "kept" {
		return nil
	}
	dir, err := config.HomeDir(cmp.Or(j.granted.name, "default"))
	if err != nil {
		return err
	}
	p.Bases = append(p.Bases, sandbox.Base{Source: dir, Target: j.account.home})
	return nil
}

// reach is the way out of a run that has one.
func (j job) reach(p *sandbox.Policy) {
	if j.network == nil {
		return
	}
	p.Sockets, p.Network = j.network.sockets(0), j.network.words
	for _, f := range j.network.files {
		p.Files = slices.DeleteFunc(p.Files, func(old sandbox.File) bool { return old.Target == f.Target })
		p.Files = append(p.Files, f)
	}
}

// varTmp makes /var/tmp the private /tmp, unless something visible lies below /var.
func varTmp(p *sandbox.Policy) {
	inVar := func(m sandbox.Mount) bool { return sandbox.Inside(m.Target, "/var") }
	if !slices.ContainsFunc(p.Mounts, inVar) && !slices.ContainsFunc(p.Scratch, func(s sandbox.Scratch) bool { return sandbox.Inside(s.Target, "/var") }) {
		p.Links = append(p.Links, sandbox.Link{Target: "/var/tmp", To: "/tmp"})
	}
}

// mounts are the workspace, at its own path, what git needs outside it, and the environment.
func (j job) mounts(p *sandbox.Policy) {
	access := sandbox.ReadWrite
	if j.settings.Workspace.Access == "read-only" {
		access = sandbox.ReadOnly
	}
	add := func(path string, access sandbox.Access, optional bool) {
		p.Mounts = append(p.Mounts, sandbox.Mount{Source: path, Target: path, Access: access, Optional: optional, Late: true})
	}
	add(j.ws.Root, access, false)
	for _, path := range j.ws.Writable() {
		add(path, access, false)
	}
	for _, path := range j.borrowed {
		add(path, sandbox.ReadOnly, true)
	}
	have := targets(*p)
	for _, m := range j.env.Mounts {
		seen := sandbox.Inside(m.Path, "/usr") || j.env.Daemon != nil && sandbox.Inside(m.Path, env.StoreFolder)
		if !have[m.Path] && !seen && !sandbox.Inside(m.Path, j.ws.Root) {
			p.Mounts = append(p.Mounts, sandbox.Mount{Source: m.Path, Target: m.Path, Optional: true})
		}
	}
}

// targets are the paths that the layout fills already.
func targets(p sandbox.Policy) map[string]bool {
	have := map[string]bool{}
	for _, m := range p.Mounts {
		have[m.Target] = true
	}
	for _, f := range p.Files {
		have[f.Target] = true
	}
	for _, l := range p.Links {
		have[l.Target] = true
	}
	return have
}

// writable are the folders that pins are needed in.
func writable(ws *workspace.Workspace) []string { return append([]string{ws.Root}, ws.Writable()...) }

// pinsOf are the protected paths that exist, placeholders included, and sockets of host programs.
func pinsOf(held []workspace.Protected, sockets []string) []sandbox.Pin {
	kinds := map[workspace.Hold]sandbox.PinKind{workspace.ReadOnly: sandbox.Frozen, workspace.Placeholder: sandbox.Frozen,
		workspace.Writable: sandbox.Thawed, workspace.Hidden: sandbox.Covered}
	var out []sandbox.Pin
	for _, h := range held {
		if kind, ok := kinds[h.Hold]; ok {
			out = append(out, sandbox.Pin{Path: h.Path, Kind: kind, Folder: h.Folder, Link: h.Link})
		}
	}
	for _, s := range sockets {
		out = append(out, sandbox.Pin{Path: s, Kind: sandbox.Covered})
	}
	return out
}

// command sets what to execute, and gives the variables it needs.
func (j job) command(p *sandbox.Policy) (vars []string, program string, err error) {
	if len(j.params.Command) > 0 {
		p.Argv = j.params.Command
		return nil, p.Argv[0], nil
	}
	lang, err := env.Lookup(j.params.Language)
	if err != nil {
		return nil, "", bad("", "%v", err)
	}
	interp, err := j.env.Interpreter(lang)
	if err != nil {
		message, hint, _ := strings.Cut(err.Error(), "\n")
		return nil, "", &protocol.Error{Kind: protocol.UnknownEnvironment, Message: message, Hint: hint, Err: err}
	}
	file := filepath.Join(codeDir, env.FileName(lang, j.params.Code))
	p.Files = append(p.Files, sandbox.File{Target: file, Data: []byte(env.Source(lang, j.params.Code)), Mode: 0o444, Late: true})
	argv, vars, links := env.Invocation(interp, file, j.dir, j.ws.Root, j.params.Args)
	for _, name := range slices.Sorted(maps.Keys(links)) {
		p.Links = append(p.Links, sandbox.Link{Target: filepath.Join(codeDir, name), To: links[name], Late: true})
	}
	p.Argv = argv
	return vars, interp.Program, nil
}

// locate finds a command's program as the sandbox will see it: execve(2) knows no PATH. It may add to the environment.
func (j *job) locate() error {
	if len(j.params.Command) == 0 {
		return nil
	}
	name := j.params.Command[0]
	program, err := j.find(name)
	j.params.Command = append([]string{program}, j.params.Command[1:]...)
	return err
}

func (j *job) find(name string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(j.dir, name)
		}
		if path, err := j.located(name); err == nil {
			return path, nil
		}
		return name, nil
	}
	for _, dir := range j.env.Path {
		file := filepath.Join(dir, name)
		if j.isProgram(file) {
			return file, nil
		}
	}
	path, err := j.located(name)
	if err == nil {
		return path, nil
	}
	missing := &protocol.Error{Kind: protocol.UnknownEnvironment, Message: "no program " + name + " in the sandbox's PATH",
		Hint: "its PATH is " + strings.Join(j.env.Path, ":") + "; name the program by its path, or " + j.howToGet()}
	if j.Session && !errors.Is(err, os.ErrNotExist) {
		missing.Message = fmt.Sprintf("the program %s cannot be had in the sandbox: %v", name, err)
	}
	return name, missing
}

// isProgram says whether a path of the sandbox is a program. In a store of one's own its links lead to where only the
// sandbox has them.
func (j job) isProgram(file string) bool {
	if j.env.Store != nil {
		_, err := os.Lstat(j.env.Real(file))
		return err == nil
	}
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// howToGet says how a program that is missing can be had.
func (j job) howToGet() string {
	if j.env.Store != nil {
		return "ask for its package"
	}
	return "install it under /usr"
}

// environment is the whole environment: a clean set, the configured variables, then the request's own.
func (j job) environment(extra []string) []string {
	vars := map[string]string{
		"HOME": j.account.home, "USER": j.account.name, "LOGNAME": j.account.name, "SHELL": "/bin/sh",
		"PATH": strings.Join(j.env.Path, ":"), "LANG": "C.UTF-8", "TERM": "dumb", "TMPDIR": "/tmp", "TZ": j.getenv("TZ"),
		"PWD": j.dir, "SIDECAR": "1", "SIDECAR_WORKSPACE": j.ws.Root,
		"GIT_CONFIG_GLOBAL": gitConfig, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "PAGER": "cat",
	}
	if vars["TZ"] == "" {
		delete(vars, "TZ")
	}
	if j.account.uid == 0 {
		// GNU tar run by root gives files to their owners of the archive, which in a sandbox of one user fails.
		vars["TAR_OPTIONS"] = "--no-same-owner"
	}
	for i, kv := range j.git.keys {
		vars["GIT_CONFIG_KEY_"+strconv.Itoa(i)], vars["GIT_CONFIG_VALUE_"+strconv.Itoa(i)] = kv[0], kv[1]
	}
	if n := len(j.git.keys); n > 0 {
		vars["GIT_CONFIG_COUNT"] = strconv.Itoa(n)
	}
	set := func(list []string) {
		for _, kv := range list {
			if name, value, ok := strings.Cut(kv, "="); ok {
				vars[name] = value
			}
		}
	}
	set(j.env.Env)
	if j.env.Daemon != nil {
		set(nixVariables(j.env.Daemon))
	}
	set(extra)
	if j.network != nil {
		set(j.network.env)
	}
	j.variables(vars, j.env)
	for _, name := range slices.Concat(j.settings.Env.Pass, j.granted.profile.Pass) {
		if v := j.getenv(name); v != "" {
			vars[name] = v
		}
	}
	maps.Copy(vars, j.settings.Env.Set)
	maps.Copy(vars, j.granted.env)
	maps.Copy(vars, j.params.Env)
	out := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		out = append(out, name+"="+vars[name])
	}
	return out
}

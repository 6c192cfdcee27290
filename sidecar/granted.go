package sidecar

import (
	"context"
	"maps"
	"slices"
	"strings"

	"code.sidecar.dev/nix"
	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/declared"
	"code.sidecar.dev/sidecar/env/host"
	"code.sidecar.dev/sidecar/protocol"
)

// granted is what a run may beyond its workspace, by the settings, a profile, and what a person gave it for this once.
type granted struct {
	// name is the profile's, "" for none.
	name    string
	profile config.Profile
	reach   config.Reach
	ports   config.Ports
	mounts  []declared.Mount
	// env are the profile's variables.
	env map[string]string
}

// profiled gives a request what its profile has and it does not name itself, and the engine that does it.
func (e *Engine) profiled(r Request) (*Engine, Request, error) {
	if r.Ask.Allow == nil {
		if nix.IsStorePath(r.Params.Environment) { // it may be any of the machine's, with whatever is in it
			return e, r, e.unknown(r.Params.Environment)
		}
		return e, r, nil
	}
	_, p, err := e.profileOf(*r.Ask.Allow)
	if err != nil {
		return e, r, err
	}
	if p.AllowNix || r.Ask.Allow.Nix {
		settings := e.settings
		settings.Nix.AllowNix = true
		e = e.For(settings, e.getenv, e.home)
	}
	r.Params.Command = commandOf(r.Params, p)
	if r.Params.Environment == "" {
		r.Params.Environment = p.Environment
	}
	r.Params.Packages = append(slices.Clone(p.Packages), r.Params.Packages...)
	return e, r, nil
}

// Command is what a request runs: its own command, or that of the profile that it names. A request with code has none.
func (e *Engine) Command(p protocol.RunParams, a Ask) []string {
	if a.Allow == nil {
		return p.Command
	}
	_, profile, err := e.profileOf(*a.Allow)
	if err != nil {
		return p.Command
	}
	return commandOf(p, profile)
}

func commandOf(p protocol.RunParams, profile config.Profile) []string {
	if len(p.Command) == 0 && p.Language == "" {
		return profile.Command
	}
	return p.Command
}

// profileOf is the profile that a person chose, and its name; "" for none.
func (e *Engine) profileOf(a protocol.Allowance) (string, config.Profile, error) {
	if err := checkWord("home", a.Home, "kept", "empty"); err != nil {
		return "", config.Profile{}, err
	}
	if err := checkWord("network", a.Network, "open", "none"); err != nil {
		return "", config.Profile{}, err
	}
	switch {
	case a.Policy != nil && a.Profile != "":
		return "", config.Profile{}, bad("give one of them", "both the profile %s and the policy %s", a.Profile, a.Policy.File)
	case a.Policy != nil:
		return config.ParsePolicy(a.Policy.File, a.Policy.Text)
	case a.Profile != "":
		p, err := e.settings.Profile(a.Profile)
		return a.Profile, p, err
	}
	return "", config.Profile{}, nil
}

// checkWord refuses what a profile could not have either.
func checkWord(what, have string, want ...string) error {
	if have == "" || slices.Contains(want, have) {
		return nil
	}
	return bad("", "%s: have %.60q, want %s", what, have, strings.Join(want, " or "))
}

// grant works out what a run may: what the request gives stands in the place of the profile's, and that in the place of
// the settings'.
func (e *Engine) grant(ctx context.Context, r Request, root string) (granted, error) {
	g := granted{}
	a := r.Ask.Allow
	if a == nil {
		a = &protocol.Allowance{}
	}
	var err error
	if g.name, g.profile, err = e.profileOf(*a); err != nil {
		return g, err
	}
	g.override(*a)
	use := config.UseRun
	if r.Ask.Session {
		use = config.UseExec
	}
	g.reach = e.settings.Reach(use, g.profile)
	g.ports = e.settings.Network.AllowedPorts
	if g.profile.AllowedPorts != nil {
		g.ports = *g.profile.AllowedPorts
	}
	if err = e.declare(ctx, &g, r, *a, root); err != nil || r.planned {
		return g, err
	}
	return g, e.noteWritten(append(g.writes(), root)...)
}

// writes are the folders of the host that a run may write beside its workspace.
func (g granted) writes() []string {
	var all []string
	for _, m := range g.mounts {
		if m.Write && m.Folder {
			all = append(all, m.Source)
		}
	}
	return all
}

// override puts what the request gives into the profile.
func (g *granted) override(a protocol.Allowance) {
	p := &g.profile
	if a.Home != "" {
		p.Home = a.Home
	}
	if a.Network != "" {
		p.Network, p.AllowedDomains = a.Network, nil
	}
	if a.AllowedDomains != nil {
		p.AllowedDomains = &config.Domains{}
		for _, name := range slices.Sorted(maps.Keys(a.AllowedDomains)) {
			p.AllowedDomains.Names = append(p.AllowedDomains.Names, config.Domain{Name: name, Methods: a.AllowedDomains[name]})
		}
	}
	if a.AllPorts || len(a.AllowedPorts) > 0 {
		p.AllowedPorts = &config.Ports{All: a.AllPorts, List: a.AllowedPorts}
	}
	p.AllowNix = p.AllowNix || a.Nix
}

// declare looks up the files, sockets and variables that are declared.
func (e *Engine) declare(ctx context.Context, g *granted, r Request, a protocol.Allowance, root string) error {
	own := config.Files{RWDirs: a.RWDirs, RWFiles: a.RWFiles, RODirs: a.RODirs, ROFiles: a.ROFiles}
	paths := slices.Concat(declared.Of(e.settings.Files), declared.OfProfile(g.name, g.profile), declared.OfFlags(own))
	sockets := slices.Concat(declared.OfSockets("network.sockets", e.settings.Network.Sockets),
		declared.OfSockets("profiles."+g.name+".sockets", g.profile.Sockets), declared.OfSockets("--allow-socket", a.Sockets))
	if len(paths)+len(sockets)+len(g.profile.Env)+len(r.Params.Files)+len(r.Params.WritableFiles) == 0 {
		return nil
	}
	ws, err := e.discover(root, nil)
	if err != nil {
		return err
	}
	h := declared.Host{Getenv: e.getenv, Home: e.home, Workspace: writable(ws), Own: e.ownFolders(), Written: e.written}
	mounts, err := declared.Resolve(paths, h)
	if err != nil {
		return err
	}
	listening, err := declared.Sockets(sockets, h, mounts)
	if err != nil {
		return err
	}
	// before a person is asked, which takes as long as it likes
	if mounts, err = declared.Held(mounts...); err == nil {
		listening, err = declared.Held(listening...)
	}
	if err != nil {
		return replaced(err.Error(), err)
	}
	asked, err := e.requested(ctx, r, h, mounts)
	if err != nil {
		return err
	}
	mounts = declared.Arrange(append(mounts, asked...))
	g.mounts = append(slices.Clone(mounts), listening...)
	g.env, err = declared.Environment(ctx, "profiles."+g.name+".env", g.profile.Env, h, mounts, declared.Exec(e.environ(root)))
	return err
}

// replaced is the error of what somebody put something else in the place of, after it was looked at.
func replaced(what string, err error) error {
	return &protocol.Error{Kind: protocol.Denied, Message: what + "; nothing was run", Hint: "see what replaces it, such as a run in that folder, and ask again", Err: err}
}

// environ is the person's environment as programs that are asked for a value have it. They may look for others on PATH.
func (e *Engine) environ(root string) []string {
	var out []string
	for _, name := range []string{"HOME", "PATH", "USER", "LOGNAME", "LANG", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "GNUPGHOME", "DISPLAY", "WAYLAND_DISPLAY"} {
		value := e.getenv(name)
		if name == "PATH" {
			value = host.SearchPath(e.programs(root))
		}
		if value != "" {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// mountsInto adds what is declared to a policy, and the folders between, which no run may rename.
func (g granted) mountsInto(p *sandbox.Policy) {
	for _, m := range g.mounts {
		access := sandbox.ReadOnly
		if m.Write {
			access = sandbox.ReadWrite
		}
		p.Mounts = append(p.Mounts, sandbox.Mount{Source: m.Source, Target: m.Target, Access: access, Late: true, Dev: m.Dev, Ino: m.Ino})
	}
	p.Pins = slices.Clip(p.Pins) // they may be those that all runs of the workspace share
	for _, path := range declared.Pins(g.mounts) {
		p.Pins = append(p.Pins, sandbox.Pin{Path: path, Kind: sandbox.Border, Folder: true})
	}
}

// bounds are limits of the profile's own.
func (g granted) bounds(l *sandbox.Limits) {
	if g.profile.Memory > 0 {
		l.Memory = int64(g.profile.Memory)
	}
	if g.profile.Processes > 0 {
		l.Processes = g.profile.Processes
	}
}

package sidecar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"code.sidecar.dev/nix"
	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/protocol"
)

// nixConf is where a run has its nix's settings, and with them a registry of flakes.
const nixConf = "/etc/nix"

// nixGap is what a run with nix.allow_nix cannot be promised.
const nixGap = "nix.allow_nix is on: Nix's daemon fetches for the run with this machine's network, its own services included, and builds outside of the run's limits; the whole store can be read"

// nixPrograms are what Nix needs in environments that it makes: flakes in a repository are read by git.
var nixPrograms = []string{"nix", "gitMinimal"}

// withNix gives an environment Nix itself, where the person's settings say so: the store, the daemon, and nix in PATH. It is
// an error if the daemon would do for a run what no run may.
func (e *Engine) withNix(ctx context.Context, root string, to env.Environment, building func(protocol.Building)) (env.Environment, error) {
	if !e.settings.Nix.AllowNix {
		return to, nil
	}
	socket, store, err := e.daemon(ctx, root)
	if err != nil {
		return to, err
	}
	bin, err := e.nixBin(ctx, root, to, building)
	if err != nil {
		return to, err
	}
	to.Path = slices.Clone(to.Path)
	if !slices.Contains(to.Path, bin) {
		to.Path = append(to.Path, bin)
	}
	to.Daemon = &env.Daemon{Socket: socket}
	nixpkgs, err := store.Resolve(ctx, e.nixpkgs(root), nil)
	switch {
	case err == nil:
		to.Daemon.Nixpkgs, to.Daemon.NixpkgsHash = nixpkgs.Path, nixpkgs.NarHash
	case ctx.Err() != nil:
		return to, nixError(err)
	default:
		to.Daemon.Notes = []string{"nix in this run knows no nixpkgs: " + strings.ReplaceAll(err.Error(), "\n", "; ")}
	}
	return to, nil
}

// daemon is where Nix's daemon listens, if it can be let into a run.
func (e *Engine) daemon(ctx context.Context, root string) (socket string, store *nix.Store, err error) {
	refused := func(err error) error {
		reason, hint, _ := strings.Cut(err.Error(), "\n")
		return &protocol.Error{Kind: protocol.Denied, Message: "nix.allow_nix is on, and " + reason, Hint: hint + "; or set nix.allow_nix to false", Err: err}
	}
	if own := e.settings.Nix.Store; own != "" {
		return "", nil, refused(fmt.Errorf("a store of one's own (nix.store: %s) has no daemon\nunset nix.store", own))
	}
	if store, err = e.store(root); err != nil {
		return "", nil, nixError(err)
	}
	socket = nix.SocketOf(e.getenv)
	var unsafe *nix.DaemonError
	if err = store.Confined(ctx, socket); errors.As(err, &unsafe) && ctx.Err() == nil {
		return "", nil, refused(err)
	} else if err != nil {
		return "", nil, nixError(context.Cause(ctx))
	}
	return socket, store, nil
}

// nixBin is the folder of a nix that a run in this environment can start: the machine's own with the machine's own
// programs, the environment's own, or else one of nixpkgs.
func (e *Engine) nixBin(ctx context.Context, root string, to env.Environment, building func(protocol.Building)) (string, error) {
	if to.Store == nil {
		program := e.nixProgram(root)
		if real, err := filepath.EvalSymlinks(program); err == nil && sandbox.Inside(real, env.StoreFolder) {
			program = real
		}
		if !sandbox.Inside(program, "/usr") && !sandbox.Inside(program, env.StoreFolder) {
			return "", &protocol.Error{Kind: protocol.Denied, Message: fmt.Sprintf("nix.allow_nix is on, and no run can see %s", program), Hint: "set nix.program to a nix below /usr or in the store"}
		}
		return filepath.Dir(program), nil
	}
	if own := programOf(to, "nix"); own != "" {
		return filepath.Dir(own), nil
	}
	built, err := e.build(ctx, root, nix.Spec{Nixpkgs: e.nixpkgs(root), Packages: nixPrograms}, building)
	return built.Bin(), err
}

// daemon shows a run the whole store, also what is built while it lasts, and of Nix's state the daemon's socket alone.
func (j job) daemon(p *sandbox.Policy) {
	d := j.env.Daemon
	p.Mounts = append(p.Mounts,
		sandbox.Mount{Source: env.StoreFolder, Target: env.StoreFolder},
		sandbox.Mount{Source: d.Socket, Target: nix.DaemonSocket})
	p.Files = append(p.Files,
		sandbox.File{Target: nixConf + "/nix.conf", Data: []byte(j.nixConf()), Mode: 0o444},
		sandbox.File{Target: nixConf + "/registry.json", Data: []byte(registry(d)), Mode: 0o444})
}

// nixConf is the text of a run's nix.conf. The daemon takes of it what it takes of people whom it does not trust.
func (j job) nixConf() string {
	lines := []string{"experimental-features = nix-command flakes", "flake-registry = " + nixConf + "/registry.json", "connect-timeout = 5", "warn-dirty = false"}
	switch n := j.settings.Nix; {
	case n.Offline:
		lines = append(lines, "substituters =")
	case n.Substituters != nil:
		lines = append(lines, "substituters = "+strings.Join(n.Substituters, " "))
	}
	return strings.Join(lines, "\n") + "\n"
}

// registry is a registry of flakes that has nixpkgs as it is in the store: a run has no network to fetch another with.
func registry(d *env.Daemon) string {
	type reference map[string]string
	flakes := []map[string]reference{}
	if d.Nixpkgs != "" {
		flakes = append(flakes, map[string]reference{"from": {"type": "indirect", "id": "nixpkgs"}, "to": {"type": "path", "path": d.Nixpkgs, "narHash": d.NixpkgsHash}})
	}
	text, err := json.Marshal(map[string]any{"version": 2, "flakes": flakes})
	if err != nil {
		return `{"version":2,"flakes":[]}`
	}
	return string(text)
}

// nixVariables are those of a run that has Nix.
func nixVariables(d *env.Daemon) []string {
	vars := []string{"NIX_REMOTE=daemon", "NIX_CONF_DIR=" + nixConf}
	if d.Nixpkgs != "" {
		vars = append(vars, "NIX_PATH=nixpkgs="+d.Nixpkgs)
	}
	return vars
}

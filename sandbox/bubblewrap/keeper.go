package bubblewrap

import (
	"errors"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/shim"
)

// Keeper plans a keeper (sandbox.Keep) of a pick: a sandbox that holds the pick and the shim, and nothing else of the
// machine. It takes mounts by the shim.
func Keeper(k sandbox.Pick, h sandbox.Host) (sandbox.Plan, error) {
	p := sandbox.Policy{Picks: []sandbox.Pick{k}, Hostname: "keeper", Dir: "/", Argv: []string{shim.Program}}
	if err := p.Check(); err != nil {
		return sandbox.Plan{}, err
	}
	if h.Mounts != sandbox.ByShim {
		return sandbox.Plan{}, errors.New("a keeper of mounts: this kernel grants no capability inside a sandbox")
	}
	h.Groups = "" // nothing runs in it
	b := builder{policy: p, host: h}
	b.namespaces()
	b.add("--as-pid-1")
	b.put(append(b.pick(0, k), b.shim()))
	b.add("--remount-ro", "/", "--chdir", "/")
	return b.started(shim.Plan{Picks: []shim.Pick{{From: pickFolder(0), To: k.Target, Names: k.Names}}, Keep: true}), nil
}

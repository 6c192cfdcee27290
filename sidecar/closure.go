package sidecar

import (
	"maps"
	"slices"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/env"
)

// closure is the read-only part of the layout of a run in an environment that Nix built: its store paths, and nothing of
// the machine's own system. Scripts count on two programs by their path.
func (j job) closure(p *sandbox.Policy) {
	store := j.env.Store
	if j.env.Daemon == nil {
		p.Picks = append(p.Picks, sandbox.Pick{Source: store.Folder, Target: env.StoreFolder, Names: store.Names})
	}
	for _, target := range slices.Sorted(maps.Keys(store.Links)) {
		p.Links = append(p.Links, sandbox.Link{Target: target, To: store.Links[target]})
	}
	p.Files = append(p.Files, sandbox.File{Target: "/etc/os-release", Data: []byte("ID=sidecar\nNAME=sidecar\nPRETTY_NAME=\"an environment of Nix\"\n"), Mode: 0o444})
}

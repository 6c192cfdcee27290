package sidecar

import (
	"os"

	"code.sidecar.dev/sidecar/env/host"
	"code.sidecar.dev/sidecar/protocol"
)

// askedBwrap is what bubblewrap is looked for by: the setting, or PATH; and what was known of folders that runs write.
type askedBwrap struct {
	root, path, set string
	record          int64
}

// bubblewrap is the configured bwrap, or the first on PATH where no run can have put it, for the workspace at root. It is
// remembered.
func (e *Engine) bubblewrap(root string) (string, error) {
	m, set := e.programs(root), e.settings.Sandbox.Bubblewrap
	asked := askedBwrap{root, m.Path, set, m.Record}
	e.mu.Lock()
	file := e.bwrap[asked]
	e.mu.Unlock()
	if file != "" {
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	if file = set; set != "" {
		if err := refusedProgram(m, "sandbox.bubblewrap", set); err != nil {
			return "", err
		}
	} else if file, _ = host.Tool(m, "bwrap"); file == "" {
		return "", e.noBubblewrap(m)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.bwrap) >= maxStores {
		clear(e.bwrap)
	}
	e.bwrap[asked] = file
	return file, nil
}

func (e *Engine) noBubblewrap(m host.Machine) error {
	if path, folder := host.PassedOver(m, "bwrap"); folder != "" {
		note, _ := e.writtenFile(folder)
		return &protocol.Error{Kind: protocol.BackendMissing, Message: path + " is not executed outside of a sandbox: runs could once write in " + folder,
			Hint: "have bubblewrap elsewhere on your PATH; or, if no run has left anything there, have that forgotten: rm " + note}
	}
	return &protocol.Error{Kind: protocol.BackendMissing, Message: "bubblewrap (bwrap) is not on PATH where no runs write, and nothing runs without a sandbox",
		Hint: "install it (apt-get install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap, apk add bubblewrap), then ask `sidecar doctor`"}
}

package sidecar

import (
	"os"

	"code.sidecar.dev/sidecar/env/host"
	"code.sidecar.dev/sidecar/protocol"
)

// bubblewrap is the configured bwrap, or the first on PATH outside the workspace at root, which is remembered.
func (e *Engine) bubblewrap(root string) (string, error) {
	if set := e.settings.Sandbox.Bubblewrap; set != "" {
		return set, nil
	}
	key := [2]string{root, e.getenv("PATH")}
	e.mu.Lock()
	defer e.mu.Unlock()
	if file := e.bwrap[key]; file != "" {
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	if file, ok := host.Tool(host.Machine{Path: key[1], Home: e.home, Getenv: e.getenv, Dir: root}, "bwrap"); ok {
		e.bwrap[key] = file
		return file, nil
	}
	return "", &protocol.Error{Kind: protocol.BackendMissing, Message: "bubblewrap (bwrap) is not on PATH, and nothing runs without a sandbox",
		Hint: "install it (apt-get install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap, apk add bubblewrap), then ask `sidecar doctor`"}
}

package sidecar

import (
	"os"
	"path/filepath"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/protocol"
)

// hostTool finds a program that sidecar itself executes on the host. Folders of PATH that are relative or
// lie in the workspace are passed over: a run could have put a program of that name there.
func hostTool(name, path, root string) (string, bool) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil || root != "/" && sandbox.Inside(file, root) {
			continue
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, true
		}
	}
	return "", false
}

// bubblewrap is the configured bwrap, or the first on PATH.
func (e *Engine) bubblewrap(root string) (string, error) {
	if set := e.settings.Sandbox.Bubblewrap; set != "" {
		return set, nil
	}
	if file, ok := hostTool("bwrap", e.getenv("PATH"), root); ok {
		return file, nil
	}
	return "", &protocol.Error{Kind: protocol.BackendMissing, Message: "bubblewrap (bwrap) is not on PATH, and nothing runs without a sandbox",
		Hint: "install it (apt-get install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap, apk add bubblewrap), then ask `sidecar doctor`"}
}

package sidecar

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/protocol"
)

// prebuilt is an environment that somebody built before: a link to a store path (nix build -o LINK).
type prebuilt struct {
	link, path string
	// broken says what is wrong with it.
	broken string
}

// prebuilt are those of the person's folder of environments, by their ids.
func (e *Engine) prebuilt() map[string]prebuilt {
	base := e.getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(e.home, ".config")
	}
	return prebuiltIn(filepath.Join(base, "sidecar", "environments"), filepath.Join("/", e.settings.Nix.Store))
}

// prebuiltIn reads a folder of environments whose store lies below root. Where a link leads that is none of a store path is
// not told: agents list environments, too.
func prebuiltIn(dir, root string) map[string]prebuilt {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	out := map[string]prebuilt{}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		p := prebuilt{link: filepath.Join(dir, entry.Name())}
		p.path, p.broken = leads(p.link, entry.Type(), root)
		out[entry.Name()] = p
	}
	return out
}

// leads is the store path that an entry leads to, or what is wrong with it.
func leads(link string, kind fs.FileMode, root string) (path, broken string) {
	if kind&fs.ModeSymlink == 0 {
		return "", "no link to a store path"
	}
	path, err := os.Readlink(link)
	switch {
	case err == nil && filepath.Dir(path) == env.StoreFolder:
		if _, err = os.Lstat(filepath.Join(root, path)); err == nil {
			return path, ""
		}
	case err == nil:
		if _, err = os.Stat(link); err == nil {
			return "", "a link that leads to no store path"
		}
	}
	return "", "leads to nothing"
}

// error says what to do about one that is broken.
func (p prebuilt) error(id string) error {
	if p.broken == "" {
		return nil
	}
	return &protocol.Error{Kind: protocol.UnknownEnvironment, Message: "the environment " + id + " is broken: " + p.link + ": " + p.broken,
		Hint: "build it anew (`nix build FLAKE#OUTPUT -o " + p.link + "`), or remove it"}
}

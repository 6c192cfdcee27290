//go:build unix

package guard

import (
	"strings"

	"golang.org/x/sys/unix"
)

// vcsFile is a file of another version control system whose content its program obeys.
type vcsFile struct {
	path string
	// plain judges one line that is no comment: harmless?
	plain func(line string) bool
}

func never(string) bool { return false }

// vcsFiles are the other systems' files, and what in them is harmless: an allow-list again.
var vcsFiles = map[string][]vcsFile{
	".hg":     {{"hgrc", hgLine}, {"hgrc-not-shared", hgLine}, {"sharedpath", never}},
	".jj":     {{"repo/config.toml", never}, {"workspace-config.toml", never}, {"repo/workspace-config.toml", never}},
	".sl":     {{"config", hgLine}, {"sharedpath", never}},
	".pijul":  {{"config", pijulLine}},
	"_darcs":  {{"prefs/defaults", never}, {"prefs/prefs", never}},
	".bzr":    {{"branch/branch.conf", bzrLine}},
	".fossil": nil,
}

func isVCS(name string) bool { return len(vcsFiles[name]) > 0 }

func hgLine(line string) bool {
	key, value, ok := strings.Cut(line, "=")
	if !ok {
		return line == "[paths]"
	}
	key = strings.TrimSpace(key)
	value = strings.TrimSpace(value)
	return (strings.HasPrefix(key, "default") || key == "origin") && !strings.Contains(key, ":") && plainURL(value)
}

func pijulLine(line string) bool {
	return line == "[hooks]" || line == "record = []" || strings.HasPrefix(line, "default_remote = ")
}

func bzrLine(line string) bool {
	key, _, ok := strings.Cut(line, "=")
	key = strings.TrimSpace(key)
	return ok && (strings.HasSuffix(key, "_location") || key == "bound" || key == "last_revision")
}

func (t *tree) judgeVCS(s *site) []*charge {
	_, name := split(s.path)
	var list []*charge
	for _, f := range vcsFiles[name] {
		if c := t.judgeVCSFile(s.path, f); c != nil {
			list = append(list, c)
		}
	}
	return list
}

func (t *tree) judgeVCSFile(top string, f vcsFile) *charge {
	dir, name, err := t.folderOf(join(top, f.path))
	if err != nil {
		return nil
	}
	defer unix.Close(dir)
	up, _ := split(join(top, f.path))
	c := &charge{dir: up, name: name, st: lookAt(dir, name), reason: "the version control program executes or obeys what it says"}
	c.fresh = c.st.ctime
	if !c.st.exists {
		return nil
	}
	text, _, err := readFile(dir, name)
	if err != nil || c.st.nlink > 1 {
		return c
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' && !f.plain(line) {
			return c
		}
	}
	return nil
}

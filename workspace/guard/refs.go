//go:build unix

package guard

import (
	"strings"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
)

// A reference can stand for another one, "ref: refs/heads/main" (gitrepository-layout(5)). git takes any name of its directory there:
// of "ref: commondir" in ORIG_HEAD the next "git reset" on the host makes a commondir, which holds the name of a commit, and the
// run has made a folder of that name, with a config. So is what stands for nothing below refs removed; git makes none.

// pseudoRefs are the references beside HEAD that git itself writes into its directory (gitglossary(7)); what is called ..._HEAD is
// one as well. Without a HEAD that leads into refs a folder is no repository at all, so that it needs no look.
var pseudoRefs = map[string]bool{"AUTO_MERGE": true, "BISECT_EXPECTED_REV": true, "MERGE_AUTOSTASH": true, "NOTES_MERGE_PARTIAL": true, "NOTES_MERGE_REF": true}

// isRef says that a file in a folder of that kind is a reference. None begins with a dot (git-check-ref-format(1)).
func isRef(k kind, name string) bool {
	if name[0] == '.' || strings.HasSuffix(name, ".lock") {
		return false
	}
	return k&refs != 0 || k&(gitDir|admin) != 0 && (strings.HasSuffix(name, "_HEAD") || pseudoRefs[name])
}

// oddRef takes note of a reference that leads out of refs. What it says is looked at each time that it is written.
func (t *tree) oddRef(n *node, name string, how origin) {
	if len(t.runs) == 0 || !isRef(n.kind, name) {
		return
	}
	if path := join(n.path(), name); t.leadsOut(path) != "" {
		t.noteOdd(path, odd{made: how == byEvent, what: oddRef})
	}
}

// leadsOut is what a reference stands for, if that is none below refs; "" otherwise.
func (t *tree) leadsOut(path string) string {
	dir, name, err := t.folderOf(path)
	if err != nil {
		return ""
	}
	defer locked.Close(dir)
	if text, _, err := readFile(dir, name); err == nil { // of one that is locked, too
		return refOut(string(text))
	}
	return refOut(readHead(dir, name))
}

// refHead is how much is read of a reference that is too long for any, in bytes: where it begins with as much white space, it is odd.
const refHead = 4096

func readHead(dir int, name string) string {
	fd, err := unix.Openat(dir, name, fileFlags, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	b := make([]byte, refHead)
	n, _ := unix.Read(fd, b)
	return string(b[:max(n, 0)])
}

// refOut reads the head of a reference as git does (refs/files-backend.c, read_ref_contents).
func refOut(text string) string {
	to, symbolic := strings.CutPrefix(text, "ref:")
	if !symbolic {
		return ""
	}
	to = strings.TrimLeft(to, " \t\n\v\f\r")
	own := strings.TrimPrefix(to, "main-worktree/")
	if worktree, ok := strings.CutPrefix(to, "worktrees/"); ok {
		_, own, _ = strings.Cut(worktree, "/")
	}
	if strings.HasPrefix(own, "refs/") {
		return ""
	}
	to, _, _ = strings.Cut(to, "\n")
	return "ref: " + clip(to)
}

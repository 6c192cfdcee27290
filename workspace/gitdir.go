package workspace

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"syscall"

	"code.sidecar.dev/workspace/looks"
)

var errNoPointer = errors.New(`is not a ".git" file: it does not begin with "gitdir: "`)

// isGitDir tells whether git takes dir for a git directory (is_git_directory in setup.c): a HEAD that could be
// one, and objects and refs there or where "commondir" says.
func isGitDir(l *looks.Looks, dir string) bool {
	if !validHead(l, filepath.Join(dir, "HEAD")) {
		return false
	}
	common := commonDir(l, dir)
	return isFolder(l, filepath.Join(common, "objects")) && isFolder(l, filepath.Join(common, "refs"))
}

// validHead is git's validate_headref.
func validHead(l *looks.Looks, path string) bool {
	if target, err := readLinkOf(l, path); err == nil {
		return strings.HasPrefix(target, "refs/")
	}
	data, err := l.ReadHead(path, 255) // as much as git: the file may be of any size
	if err != nil {
		return false
	}
	if rest, ok := bytes.CutPrefix(data, []byte("ref:")); ok {
		return bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("refs/"))
	}
	return isObjectID(data)
}

// readLinkOf reads a link; what is none is an error, after one look.
func readLinkOf(l *looks.Looks, path string) (string, error) {
	if kind, err := l.Kind(path); err != nil || kind != syscall.S_IFLNK {
		return "", syscall.EINVAL
	}
	return l.Readlink(path)
}

// isObjectID tells whether data begins with a SHA-1 or SHA-256 in hex.
func isObjectID(data []byte) bool {
	n := 0
	for n < len(data) && strings.IndexByte("0123456789abcdefABCDEF", data[n]) >= 0 {
		n++
	}
	return n >= 40
}

// headBranch is the branch that a HEAD names; "" when it names none.
func headBranch(l *looks.Looks, gitDir string) string {
	path := filepath.Join(gitDir, "HEAD")
	target, err := readLinkOf(l, path)
	if err != nil {
		data, err := l.Read(path)
		if err != nil {
			return ""
		}
		rest, ok := strings.CutPrefix(string(data), "ref:")
		if !ok {
			return ""
		}
		target = strings.TrimSpace(rest)
	}
	branch, ok := strings.CutPrefix(target, "refs/heads/")
	if !ok || branch == ".invalid" { // what reftable repositories have in place of a HEAD
		return ""
	}
	return branch
}

// commonDir is where a git directory's shared files are (gitrepository-layout(5), "commondir"; get_common_dir
// in setup.c). Git obeys the file in any git directory, linked or not.
func commonDir(l *looks.Looks, gitDir string) string {
	data, err := l.ReadThrough(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return gitDir
	}
	line, _, _ := strings.Cut(strings.TrimRight(string(data), "\r\n"), "\x00")
	return realPath(l, absolute(line, gitDir))
}

func isFolder(l *looks.Looks, path string) bool {
	st, err := l.Stat(path)
	return err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR
}

func exists(l *looks.Looks, path string) bool {
	_, err := l.Kind(path)
	return err == nil
}

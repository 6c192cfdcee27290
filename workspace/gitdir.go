package workspace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"code.sidecar.dev/workspace/plainfile"
)

var errNoPointer = errors.New(`is not a ".git" file: it does not begin with "gitdir: "`)

// isGitDir tells whether git takes dir for a git directory (is_git_directory in setup.c): a HEAD that could be
// one, and objects and refs there or where "commondir" says.
func isGitDir(dir string) bool {
	if !validHead(filepath.Join(dir, "HEAD")) {
		return false
	}
	common := commonDir(dir)
	return isFolder(filepath.Join(common, "objects")) && isFolder(filepath.Join(common, "refs"))
}

// validHead is git's validate_headref.
func validHead(path string) bool {
	if target, err := os.Readlink(path); err == nil {
		return strings.HasPrefix(target, "refs/")
	}
	data, err := plainfile.Read(path)
	if err != nil {
		return false
	}
	if rest, ok := bytes.CutPrefix(data, []byte("ref:")); ok {
		return bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("refs/"))
	}
	return isObjectID(data)
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
func headBranch(gitDir string) string {
	path := filepath.Join(gitDir, "HEAD")
	target, err := os.Readlink(path)
	if err != nil {
		data, err := plainfile.Read(path)
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
func commonDir(gitDir string) string {
	data, err := plainfile.ReadThrough(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return gitDir
	}
	line, _, _ := strings.Cut(strings.TrimRight(string(data), "\r\n"), "\x00")
	return realPath(absolute(line, gitDir))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

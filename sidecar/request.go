package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
)

// bad is a request that cannot be served as it is.
func bad(hint, format string, args ...any) *protocol.Error {
	return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf(format, args...), Hint: hint}
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// checkRequest refuses what no sandbox could carry out, before anything is touched.
func checkRequest(p protocol.RunParams, l config.Limits) error {
	switch {
	case p.Language == "" && len(p.Command) == 0:
		return bad("name a language, or give a command", "nothing to run: neither a language with code nor a command")
	case p.Language != "" && len(p.Command) > 0:
		return bad("give one of them", "both a language and a command")
	case len(p.Command) > 0 && p.Command[0] == "":
		return bad("give the program's name or path", "the command's first word is empty")
	case int64(len(p.Code)) > int64(l.Code):
		return bad("put it into a file of the workspace and run that, or raise limits.code", "the code has %d bytes, the limit is %d (limits.code)", len(p.Code), l.Code)
	case p.Timeout < 0:
		return bad("leave it out for the default", "the timeout %v is negative", p.Timeout)
	case l.TimeoutMax > 0 && time.Duration(p.Timeout) > l.TimeoutMax:
		return bad("ask for less, or raise limits.timeout_max in the user's config", "the timeout %v is over the configured maximum %v (limits.timeout_max)", p.Timeout, l.TimeoutMax)
	}
	return checkTexts(p)
}

func checkTexts(p protocol.RunParams) error {
	if i := strings.IndexByte(p.Code, 0); i >= 0 {
		return bad("code is text; write binary data as escapes, or read it from a file", "the code has a NUL byte at offset %d", i)
	}
	if !utf8.ValidString(p.Code) {
		return bad("send the code as UTF-8", "the code is no valid UTF-8")
	}
	for _, s := range slices.Concat(p.Command, p.Args, []string{p.Cwd}) {
		if strings.IndexByte(s, 0) >= 0 {
			return bad("leave it out", "%q has a NUL byte", s)
		}
	}
	for _, path := range slices.Concat(p.Files, p.WritableFiles) {
		if err := checkPath(path); err != nil {
			return err
		}
	}
	for name, value := range p.Env {
		if !variable.MatchString(name) {
			return bad("use letters, digits and _", "%q is no name for an environment variable", name)
		}
		if strings.IndexByte(value, 0) >= 0 {
			return bad("leave it out", "the environment variable %s has a NUL byte", name)
		}
	}
	return checkLengths(p)
}

// longestText is how long an argument or a variable with its name may be (MAX_ARG_STRLEN, execve(2)), and inFile what to do.
const (
	longestText = 128<<10 - 1
	inFile      = "hand it over on standard input, or in a file of the workspace"
)

// checkLengths refuses texts that the kernel starts no program with. A session's calls start none.
func checkLengths(p protocol.RunParams) error {
	if p.SessionName != "" {
		return nil
	}
	for i, arg := range slices.Concat(p.Command, p.Args) {
		if len(arg) > longestText {
			return bad(inFile, "argument %d has %d bytes, and a program starts with at most %d in one", i+1-min(len(p.Command), 1), len(arg), longestText)
		}
	}
	for name, value := range p.Env {
		if n := len(name) + len("=") + len(value); n > longestText {
			return bad(inFile, "the environment variable %s has %d bytes with its name, and a program starts with at most %d in one", name, n, longestText)
		}
	}
	return nil
}

// checkPath refuses what is no path of a file as it stands. Nothing in it is expanded: an answer would tell a variable's value.
func checkPath(path string) error {
	const hint = "give an absolute path, or one from the workspace's root"
	switch {
	case path == "":
		return bad(hint, "an empty path in files or writable_files")
	case path[0] == '~' || path[0] == '$':
		return bad(hint+` ("./$x" where a name begins so)`, "the path %q begins with %q, which stands for nothing here", path, path[:1])
	case strings.IndexByte(path, 0) >= 0:
		return bad("leave it out", "the path %q has a NUL byte", path)
	}
	return nil
}

// workingDir resolves a request's cwd, which must be an existing folder of the workspace.
func workingDir(root, cwd string) (string, error) {
	const hint = "give a folder of the workspace, absolute or relative to its root"
	dir := cwd
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	switch {
	case err == nil && sandbox.Inside(real, root):
		return real, nil
	case err == nil || leadsOut(root, dir): // what is there, if anything, the request is not told
		return "", bad(hint, "the working folder %q is outside the workspace %q", cwd, root)
	}
	return "", bad(hint, "the working folder %q: %v", cwd, err)
}

// leadsOut says whether a path that cannot be followed to its end leaves the workspace, by itself or by a link.
func leadsOut(root, path string) bool {
	in, err := os.OpenRoot(root)
	if err != nil {
		return false
	}
	defer func() { _ = in.Close() }()
	rel, err := filepath.Rel(root, path)
	if err == nil {
		_, err = in.Stat(rel)
	}
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

// timeout is how long the run may last.
func timeout(p protocol.RunParams, l config.Limits) time.Duration {
	if p.Timeout > 0 {
		return time.Duration(p.Timeout)
	}
	return l.Timeout
}

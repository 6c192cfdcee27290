package workspace

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"code.sidecar.dev/workspace/looks"
)

// found is a repository as the search met it, before anything in it is read.
type found struct {
	// top is the folder with the ".git", or the bare repository itself.
	top    string
	dotGit string
	kind   DotGitKind
	// gitDir is "" for a pointer that leads nowhere; target is then where it leads, if it says so.
	gitDir string
	target string
	bare   bool
	// fromEnv says that GIT_DIR named it; workTree is then what GIT_WORK_TREE named, or "".
	fromEnv  bool
	workTree string
}

// entry is the path whose owner matters.
func (f *found) entry() string {
	if f.dotGit != "" {
		return f.dotGit
	}
	return f.top
}

// walkUp looks for a repository in dir and the folders above it, in the order and with the borders of git's
// setup_git_directory_gently_1: a ceiling (GIT_CEILING_DIRECTORIES, git(1)) and a file system's edge.
func (ws *Workspace) walkUp(dir string) *found {
	ceilings := ws.ceilings()
	device := deviceOf(ws.looks, dir)
	for {
		if f := ws.look(dir); f != nil {
			return f
		}
		parent := filepath.Dir(dir)
		if parent == dir || slices.Contains(ceilings, parent) {
			return nil
		}
		if deviceOf(ws.looks, parent) != device && ws.env("GIT_DISCOVERY_ACROSS_FILESYSTEM") == "" {
			return nil
		}
		dir = parent
	}
}

// look tells what dir itself is to git.
func (ws *Workspace) look(dir string) *found {
	f := &found{top: dir, dotGit: filepath.Join(dir, ".git")}
	kind, err := ws.looks.Kind(f.dotGit)
	if err != nil {
		return bareAt(ws.looks, dir)
	}
	target := f.dotGit
	switch kind {
	case syscall.S_IFLNK:
		f.kind = DotGitLink
		if target, err = ws.looks.Real(f.dotGit); err != nil {
			ws.note("%s is a symbolic link that leads nowhere: git does not see it", f.dotGit)
			return bareAt(ws.looks, dir)
		}
		if kind, err = ws.looks.Kind(target); err != nil {
			return bareAt(ws.looks, dir)
		}
		if kind != syscall.S_IFDIR {
			return ws.followPointer(f, target)
		}
		f.gitDir = target
	case syscall.S_IFDIR:
		f.kind, f.gitDir = DotGitFolder, target
	default:
		f.kind = DotGitFile
		return ws.followPointer(f, target)
	}
	if !isGitDir(ws.looks, f.gitDir) {
		ws.note("%s is not a git directory: git does not see it", f.dotGit)
		return bareAt(ws.looks, dir)
	}
	return f
}

// followPointer reads the ".git" file at path. Git stops with an error at one that leads nowhere, so the
// search stops too.
func (ws *Workspace) followPointer(f *found, path string) *found {
	var target string
	data, err := ws.looks.Read(path)
	if err == nil {
		target, err = parsePointer(data, f.top) // not where a link leads: git knows the file by the link's name
	}
	if err != nil {
		ws.note("%s: %v", f.dotGit, err)
		return f
	}
	if real := ws.real(target); isGitDir(ws.looks, real) {
		f.gitDir = real
		return f
	}
	f.target = target
	ws.note("%s points to %s, which is no git directory: git stops there with an error; repair it with \"git worktree repair\" or remove it", f.dotGit, target)
	return f
}

// bareAt returns dir as a bare repository if it is one. A ".git" folder that was asked about from inside is
// not: the folder above it has it as its own.
func bareAt(l *looks.Looks, dir string) *found {
	if filepath.Base(dir) == ".git" || !isGitDir(l, dir) {
		return nil
	}
	return &found{top: dir, gitDir: dir, bare: true}
}

// fromEnv takes GIT_DIR and GIT_WORK_TREE as git(1) tells: without GIT_WORK_TREE and core.worktree the folder
// one is in is the top.
func (ws *Workspace) fromEnv(dir string) *found {
	gitDir := ws.env("GIT_DIR")
	if gitDir == "" {
		return nil
	}
	path := absolute(gitDir, dir)
	if target, err := readPointer(ws.looks, path); err == nil {
		path = target
	}
	path = ws.real(path)
	if !isGitDir(ws.looks, path) {
		ws.note("GIT_DIR is %q, which is no git directory: it is not used", gitDir)
		return nil
	}
	f := &found{top: dir, gitDir: path, fromEnv: true}
	if tree := ws.env("GIT_WORK_TREE"); tree != "" {
		f.workTree = ws.real(absolute(tree, dir))
		if inside(dir, f.workTree) && f.workTree != "/" {
			f.top = f.workTree
		}
	}
	if entry := filepath.Join(f.top, ".git"); ws.real(entry) == path {
		f.dotGit, f.kind = entry, kindOf(ws.looks, entry)
	}
	return f
}

func kindOf(l *looks.Looks, path string) DotGitKind {
	kind, err := l.Kind(path)
	switch {
	case err != nil:
		return DotGitNone
	case kind == syscall.S_IFDIR:
		return DotGitFolder
	case kind == syscall.S_IFLNK:
		return DotGitLink
	}
	return DotGitFile
}

// ceilings are the folders that the search does not enter from below; entries after an empty one are not to
// be resolved, by git(1).
func (ws *Workspace) ceilings() []string {
	var out []string
	resolve := true
	for _, c := range filepath.SplitList(ws.env("GIT_CEILING_DIRECTORIES")) {
		switch {
		case c == "":
			resolve = false
		case !filepath.IsAbs(c):
		case resolve:
			out = append(out, ws.real(c))
		default:
			out = append(out, filepath.Clean(c))
		}
	}
	return out
}

func deviceOf(l *looks.Looks, dir string) uint64 {
	st, err := l.Stat(dir)
	if err != nil {
		return 0
	}
	return uint64(st.Dev)
}

func absolute(path, base string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// readPointer returns what a ".git" file points to: "gitdir: PATH", relative to the file's folder
// (gitrepository-layout(5); read_gitfile_gently in git's setup.c).
func readPointer(l *looks.Looks, path string) (string, error) {
	data, err := l.Read(path)
	if err != nil {
		return "", err
	}
	return parsePointer(data, filepath.Dir(path))
}

func parsePointer(data []byte, base string) (string, error) {
	rest, ok := strings.CutPrefix(string(data), "gitdir: ")
	if !ok {
		return "", errNoPointer
	}
	rest, _, _ = strings.Cut(strings.TrimRight(rest, "\r\n"), "\x00")
	if rest == "" {
		return "", errNoPointer
	}
	return absolute(rest, base), nil
}

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shape is a Workspace as far as the tables compare it.
type shape struct {
	Root, Marker, Tree, DotGit, GitDir, CommonDir, Branch string
	Kind                                                  DotGitKind
	Linked, Bare, Suspect                                 bool
	Worktrees, Submodules                                 []string
}

func (l *lab) shape(ws *Workspace) shape {
	s := shape{Root: l.rel(ws.Root), Marker: ws.Marker}
	r := ws.Repo
	if r == nil {
		return s
	}
	s.Tree, s.DotGit, s.GitDir, s.CommonDir = l.rel(r.WorkTree), l.rel(r.DotGit), l.rel(r.GitDir), l.rel(r.CommonDir)
	s.Kind, s.Linked, s.Bare, s.Branch, s.Suspect = r.DotGitKind, r.Linked, r.Bare, r.Branch, r.Suspect != ""
	for _, w := range r.Worktrees {
		s.Worktrees = append(s.Worktrees, w.Name+" "+l.rel(w.Path))
	}
	for _, m := range r.Submodules {
		s.Submodules = append(s.Submodules, m.Name+" "+l.rel(m.GitDir)+" "+l.rel(m.DotGit))
	}
	return s
}

func plainShape(root string) shape {
	git := root + "/.git"
	return shape{Root: root, Marker: ".git", Tree: root, DotGit: git, GitDir: git, CommonDir: git, Kind: DotGitFolder, Branch: "main"}
}

func TestDiscover(t *testing.T) {
	with := func(s shape, change func(*shape)) shape {
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		make func(*lab)
		ask  string
		want shape
		note string
	}{
		"plain":                                {func(l *lab) { l.repo("p") }, "p", plainShape("p"), ""},
		"subfolder":                            {func(l *lab) { l.repo("p"); l.mkdir("p/a/b") }, "p/a/b", plainShape("p"), ""},
		"inside .git":                          {func(l *lab) { l.repo("p") }, "p/.git/refs", plainShape("p"), ""},
		"through a link":                       {func(l *lab) { l.repo("p"); l.mkdir("p/a"); l.link("p/a", "q") }, "q", plainShape("p"), ""},
		"detached":                             {func(l *lab) { l.repo("p"); l.git("p", "checkout", "-q", "--detach") }, "p", with(plainShape("p"), func(s *shape) { s.Branch = "" }), ""},
		"branch with a slash":                  {func(l *lab) { l.repo("p"); l.git("p", "checkout", "-qb", "x/y") }, "p", with(plainShape("p"), func(s *shape) { s.Branch = "x/y" }), ""},
		"no commit yet":                        {func(l *lab) { l.mkdir("p"); l.git("p", "init", "-qb", "main") }, "p", plainShape("p"), ""},
		"worktreeConfig, which go-git refuses": {func(l *lab) { l.repo("p"); l.git("p", "config", "extensions.worktreeConfig", "true") }, "p", plainShape("p"), ""},
		"sha256, which go-git refuses":         {func(l *lab) { l.mkdir("p"); l.git("p", "init", "-qb", "main", "--object-format=sha256") }, "p", plainShape("p"), ""},
		"HEAD as a link":                       {func(l *lab) { l.repo("p"); l.remove("p/.git/HEAD"); l.link("refs/heads/main", "p/.git/HEAD") }, "p", plainShape("p"), ""},
		"pointer, relative": {func(l *lab) {
			l.repo("p")
			l.git("p", "init", "-q", "--separate-git-dir", "../store")
			l.write("p/.git", "gitdir: ../store\n")
		}, "p",
			with(plainShape("p"), func(s *shape) { s.GitDir, s.CommonDir, s.Kind = "store", "store", DotGitFile }), ""},
		"pointer, absolute": {func(l *lab) { l.repo("p"); l.git("p", "init", "-q", "--separate-git-dir", "../store") }, "p",
			with(plainShape("p"), func(s *shape) { s.GitDir, s.CommonDir, s.Kind = "store", "store", DotGitFile }), ""},
		"pointer to another's .git": {func(l *lab) { l.repo("q"); l.write("p/.git", "gitdir: ../q/.git\n") }, "p",
			with(plainShape("p"), func(s *shape) { s.GitDir, s.CommonDir, s.Kind, s.Suspect = "q/.git", "q/.git", DotGitFile, true }), "it is the repository of"},
		"pointer to a bare repository": {func(l *lab) { l.git(".", "init", "-qb", "main", "--bare", "b"); l.write("p/.git", "gitdir: ../b\n") }, "p",
			with(plainShape("p"), func(s *shape) {
				s.Tree, s.GitDir, s.CommonDir, s.Kind, s.Suspect, s.Bare = "", "b", "b", DotGitFile, true, true
			}), "bare repository of its own"},
		"bare folder inside, as worktree users have it": {func(l *lab) {
			l.mkdir("p")
			l.git("p", "init", "-qb", "main", "--bare", ".bare")
			l.write("p/.git", "gitdir: ./.bare\n")
		}, "p",
			with(plainShape("p"), func(s *shape) {
				s.Tree, s.GitDir, s.CommonDir, s.Kind, s.Bare = "", "p/.bare", "p/.bare", DotGitFile, true
			}), ""},
		"dangling pointer":     {func(l *lab) { l.repo("."); l.write("p/.git", "gitdir: ../nowhere\n"); l.mkdir("p/a") }, "p/a", shape{Root: "p", Marker: ".git"}, "no git directory"},
		"pointer to /":         {func(l *lab) { l.write("p/.git", "gitdir: /\n") }, "p", shape{Root: "p", Marker: ".git"}, "no git directory"},
		"pointer that is none": {func(l *lab) { l.write("p/.git", "hello\n") }, "p", shape{Root: "p", Marker: ".git"}, "does not begin with"},
		"link to a folder": {func(l *lab) { l.repo("p"); mv(l, "p/.git", "store"); l.link("../store", "p/.git") }, "p",
			with(plainShape("p"), func(s *shape) { s.GitDir, s.CommonDir, s.Kind = "store", "store", DotGitLink }), ""},
		"link to a pointer": {func(l *lab) {
			l.repo("p")
			mv(l, "p/.git", "p/store")
			l.write("p/ptr", "gitdir: store\n")
			l.link("ptr", "p/.git")
		}, "p",
			with(plainShape("p"), func(s *shape) { s.GitDir, s.CommonDir, s.Kind = "p/store", "p/store", DotGitLink }), ""},
		"link to a pointer elsewhere": {func(l *lab) {
			l.repo("p")
			mv(l, "p/.git", "p/store")
			l.mkdir("p/x/store")
			l.write("p/x/ptr", "gitdir: store\n")
			l.link("x/ptr", "p/.git")
		}, "p",
			with(plainShape("p"), func(s *shape) { s.GitDir, s.CommonDir, s.Kind = "p/store", "p/store", DotGitLink }), ""},
		"long HEAD": {func(l *lab) {
			l.repo("p")
			l.write("p/.git/HEAD", "ref: refs/heads/main\n"+strings.Repeat("\n", 2<<20))
		}, "p", with(plainShape("p"), func(s *shape) { s.Branch = "" }), ""},
		"link that leads nowhere":       {func(l *lab) { l.link("nowhere", "p/.git") }, "p", shape{Root: "p"}, "leads nowhere"},
		"link loop":                     {func(l *lab) { l.link(".git", "p/.git") }, "p", shape{Root: "p"}, "leads nowhere"},
		"empty .git below a repository": {func(l *lab) { l.repo("p"); l.mkdir("p/a/.git") }, "p/a", plainShape("p"), "not a git directory"},
		"bare": {func(l *lab) { l.git(".", "init", "-qb", "main", "--bare", "b") }, "b/refs",
			shape{Root: "b", Marker: ".git", GitDir: "b", CommonDir: "b", Bare: true, Branch: "main"}, ""},
		"core.worktree elsewhere does not widen": {func(l *lab) { l.repo("p"); l.git("p", "config", "core.worktree", l.dir) }, "p",
			with(plainShape("p"), func(s *shape) { s.Tree = "." }), "the workspace stays"},
		"planted commondir": {func(l *lab) { l.repo("p"); l.repo("q"); l.write("p/.git/commondir", "../../q/.git\n") }, "p",
			with(plainShape("p"), func(s *shape) { s.CommonDir, s.Suspect = "q/.git", true }), "no linked worktree"},
		"stand-in commondir":            {func(l *lab) { l.repo("p"); l.write("p/.git/commondir", ".\n") }, "p", plainShape("p"), ""},
		"home is a repository":          {func(l *lab) { l.repo("home"); l.mkdir("home/x/y") }, "home/x/y", shape{Root: "home/x/y"}, "covers your whole home"},
		"home itself":                   {func(l *lab) { l.repo("home") }, "home", plainShape("home"), ""},
		"no repository":                 {func(l *lab) { l.mkdir("home/x/y") }, "home/x/y", shape{Root: "home/x/y"}, ""},
		"marker":                        {func(l *lab) { l.write("home/x/go.mod", ""); l.mkdir("home/x/y/z"); l.write("home/package.json", "") }, "home/x/y/z", shape{Root: "home/x", Marker: "go.mod"}, ""},
		"marker by suffix":              {func(l *lab) { l.write("home/x/my.cabal", ""); l.mkdir("home/x/y") }, "home/x/y", shape{Root: "home/x", Marker: "my.cabal"}, ""},
		"marker in home does not count": {func(l *lab) { l.write("home/package.json", ""); l.mkdir("home/x") }, "home/x", shape{Root: "home/x"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			c.make(l)
			ws := l.discover(c.ask)
			if diff := cmp.Diff(c.want, l.shape(ws)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if notes := strings.Join(ws.Notes, "\n"); !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
				t.Errorf("notes are %q", notes)
			}
		})
	}
}

func mv(l *lab, from, to string) {
	l.t.Helper()
	if err := os.Rename(l.at(from), l.at(to)); err != nil {
		l.t.Fatal(err)
	}
}

func TestDiscoverLinked(t *testing.T) {
	l := newLab(t)
	l.repo("main")
	l.git("main", "worktree", "add", "-q", "../wt")
	l.git("main", "worktree", "add", "-q", "../sib")
	want := shape{Root: "wt", Marker: ".git", Tree: "wt", DotGit: "wt/.git", GitDir: "main/.git/worktrees/wt", CommonDir: "main/.git", Kind: DotGitFile,
		Linked: true, Branch: "wt", Worktrees: []string{"sib sib", "wt wt"}}
	if diff := cmp.Diff(want, l.shape(l.discover("wt"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := l.discover("wt").Writable(); !cmp.Equal(got, []string{l.at("main/.git")}) {
		t.Errorf("writable: %q", got)
	}

	l.write("main/.git/worktrees/wt/gitdir", "../../../../wt/.git\n") // as worktree.useRelativePaths writes it
	l.write("wt/.git", "gitdir: ../main/.git/worktrees/wt\n")
	if diff := cmp.Diff(want, l.shape(l.discover("wt"))); diff != "" {
		t.Errorf("relative (-want +got):\n%s", diff)
	}

	l.write("forged/.git", "gitdir: ../main/.git/worktrees/wt\n")
	ws := l.discover("forged")
	if ws.Repo.Suspect == "" || len(ws.Writable()) != 0 || len(ws.ReadableOutside(anyStore)) != 0 {
		t.Errorf("a forged pointer is granted: %q, %q", ws.Repo.Suspect, ws.Writable())
	}
	l.remove("main/.git/worktrees/wt/gitdir")
	if ws := l.discover("wt"); ws.Repo.Suspect == "" {
		t.Error("a worktree without a back pointer is not suspect")
	}
}

func TestDiscoverSubmodules(t *testing.T) {
	l := newLab(t)
	l.repo("leaf")
	l.repo("lib")
	l.git("lib", "submodule", "--quiet", "add", l.at("leaf"), "deps/leaf")
	l.git("lib", "commit", "-qm", "sub")
	l.repo("p")
	l.git("p", "submodule", "--quiet", "add", l.at("lib"), "vendor/lib")
	l.git("p", "submodule", "--quiet", "add", "--name", "named/with slash", l.at("leaf"), "other")
	l.git("p", "submodule", "--quiet", "update", "--init", "--recursive")
	l.repo("p/embedded") // its git dir in its own work tree, as before git 1.7.8
	l.git("p", "config", "-f", ".gitmodules", "submodule.emb.path", "embedded")
	l.git("p", "commit", "-qam", "subs")
	want := plainShape("p")
	want.Submodules = []string{
		"named/with slash p/.git/modules/named/with slash p/other/.git",
		"vendor/lib p/.git/modules/vendor/lib p/vendor/lib/.git",
		"deps/leaf p/.git/modules/vendor/lib/modules/deps/leaf p/vendor/lib/deps/leaf/.git",
		"emb p/embedded/.git p/embedded/.git",
	}
	if diff := cmp.Diff(want, l.shape(l.discover("p"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	l.git("p", "worktree", "add", "-q", "../wt")
	l.git("wt", "submodule", "--quiet", "update", "--init", "vendor/lib")
	got := l.shape(l.discover("wt")).Submodules
	if diff := cmp.Diff([]string{"vendor/lib p/.git/worktrees/wt/modules/vendor/lib wt/vendor/lib/.git"}, got); diff != "" {
		t.Errorf("linked worktree (-want +got):\n%s", diff)
	}

	ws := l.discover("p/vendor/lib")
	if ws.Root != l.at("p/vendor/lib") || !cmp.Equal(ws.Writable(), []string{l.at("p/.git/modules/vendor/lib")}) {
		t.Errorf("a submodule as root: %s, writable %q", ws.Root, ws.Writable())
	}
}

func TestDiscoverHostileModules(t *testing.T) {
	l := newLab(t)
	l.repo("p")
	l.repo("victim")
	l.write("p/.gitmodules", "[submodule \"../x\"]\npath = a\n[submodule \"b\"]\npath = ../victim\n[submodule \"c\"]\npath = out\n[submodule \"d\"]\npath = self\n")
	l.link(l.at("victim"), "p/out")
	l.link(".", "p/self")
	l.mkdir("p/.git/modules/" + strings.Repeat("d/", 100))
	l.link("..", "p/.git/modules/up")
	if got := l.discover("p").Repo.Submodules; len(got) != 0 {
		t.Errorf("submodules: %+v", got)
	}
}

func TestDiscoverEnvironment(t *testing.T) {
	l := newLab(t)
	l.repo("p")
	l.mkdir("p/a/b")
	l.mkdir("tree/sub")
	ask := func(dir string, env ...string) shape {
		t.Helper()
		vars := map[string]string{"HOME": l.env["HOME"], "GIT_CONFIG_NOSYSTEM": "1"}
		for i := 0; i < len(env); i += 2 {
			vars[env[i]] = env[i+1]
		}
		ws, err := Discover(l.at(dir), Options{Env: func(k string) string { return vars[k] }})
		if err != nil {
			t.Fatal(err)
		}
		return l.shape(ws)
	}
	if got := ask("p/a/b", "GIT_CEILING_DIRECTORIES", l.at("p/a")); got.Root != "p/a/b" || got.GitDir != "" {
		t.Errorf("ceiling: %+v", got)
	}
	if got := ask("p/a/b", "GIT_CEILING_DIRECTORIES", l.at("p/a/b")); got.Root != "p" {
		t.Errorf("a ceiling on the folder itself does not count: %+v", got)
	}
	if got := ask("tree/sub", "GIT_DIR", l.at("p/.git")); got.Root != "tree/sub" || got.GitDir != "p/.git" || got.Kind != DotGitNone || got.Suspect {
		t.Errorf("GIT_DIR: %+v", got)
	}
	if got := ask("tree/sub", "GIT_DIR", l.at("p/.git"), "GIT_WORK_TREE", ".."); got.Root != "tree" || got.Tree != "tree" {
		t.Errorf("GIT_WORK_TREE: %+v", got)
	}
	if got := ask("p", "GIT_DIR", ".git"); got.Root != "p" || got.Kind != DotGitFolder || got.DotGit != "p/.git" {
		t.Errorf("GIT_DIR of its own: %+v", got)
	}
	if got := ask("p/a", "GIT_DIR", "/nowhere"); got.Root != "p" {
		t.Errorf("GIT_DIR that is none: %+v", got)
	}
}

func TestDiscoverErrors(t *testing.T) {
	l := newLab(t)
	l.write("file", "")
	l.mkdir("shut")
	for path, kind := range map[string]error{"none": ErrNotExist, "file": ErrNotFolder, "file/below": ErrNotFolder} {
		_, err := Discover(l.at(path), Options{Env: l.getenv})
		var folder *FolderError
		if !errors.Is(err, kind) || !errors.As(err, &folder) || folder.Hint == "" {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Discover("", Options{}); !errors.Is(err, ErrNotExist) {
		t.Errorf("empty: %v", err)
	}
	if err := os.Chmod(l.at("shut"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Discover(l.at("shut"), Options{}); os.Geteuid() != 0 && !errors.Is(err, ErrNotReadable) {
		t.Errorf("shut: %v", err)
	}
}

func TestDiscoverOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to give files away")
	}
	t.Setenv("SUDO_UID", "")
	l := newLab(t)
	l.repo("p")
	l.mkdir("p/a")
	if err := os.Chown(l.at("p/.git"), 4242, 4242); err != nil {
		t.Fatal(err)
	}
	if ws := l.discover("p"); ws.Repo == nil || len(ws.Notes) == 0 {
		t.Errorf("asked for by name: %v, notes %q", ws.Repo, ws.Notes)
	}
	if ws := l.discover("p/a"); ws.Root != l.at("p/a") || ws.Repo != nil || len(ws.Notes) == 0 {
		t.Errorf("found above: root %s, notes %q", ws.Root, ws.Notes)
	}
}

// TestDiscoverHostileFiles puts what could hang or bloat a reader in place of each file that is read.
func TestDiscoverHostileFiles(t *testing.T) {
	makers := map[string]func(*lab, string){
		"fifo": func(l *lab, path string) {
			l.mkdir(filepath.Dir(path))
			if err := syscall.Mkfifo(l.at(path), 0o644); err != nil {
				l.t.Fatal(err)
			}
		},
		"loop":   func(l *lab, path string) { l.link(filepath.Base(path), path) },
		"device": func(l *lab, path string) { l.link("/dev/zero", path) },
		"folder": func(l *lab, path string) { l.mkdir(path) },
		"huge": func(l *lab, path string) {
			l.write(path, "")
			if err := os.Truncate(l.at(path), 1<<40); err != nil {
				l.t.Fatal(err)
			}
		},
		"binary": func(l *lab, path string) { l.write(path, "\x00\xff\x00[[[") },
	}
	files := []string{"p/.git/HEAD", "p/.git/config", "p/.git/commondir", "p/.git/config.worktree", "p/.gitmodules", "p/.envrc", "p/.git/hooks/pre-commit",
		"p/.git/objects/info/alternates", "p/.git/worktrees/w/gitdir", "p/.git/modules/m/config", "p/.git/modules/m/HEAD", "p/sub/.git", "p/.git", "p/inc", "home/.gitconfig"}
	for kind, replace := range makers {
		t.Run(kind, func(t *testing.T) {
			l := newLab(t)
			for _, file := range files {
				l.remove("p")
				l.remove("home/.gitconfig")
				l.repo("p")
				l.git("p", "config", "include.path", "../inc")
				l.git("p", "config", "extensions.worktreeConfig", "true")
				l.write("p/.gitmodules", "[submodule \"s\"]\npath = sub\n")
				l.mkdir("p/.git/worktrees/w")
				l.mkdir("p/sub")
				l.remove(file)
				replace(l, file)
				start := time.Now()
				ws := l.discover("p")
				ws.AddNested([]string{l.at("p/sub/.git")})
				ws.Protected(DefaultRules())
				HarmlessGlobal(ws, l.getenv)
				RunSettings(ws)
				ws.ReadableOutside(anyStore)
				if took := time.Since(start); took > 30*time.Second {
					t.Errorf("%s: took %v", file, took)
				}
			}
		})
	}
}

func FuzzPointer(f *testing.F) {
	for _, s := range []string{"gitdir: /a\n", "gitdir: a/../b\r\n", "gitdir: ", "gitdir:x", "gitdir: a\x00b", "gitdir: a\nb\n", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path, err := parsePointer(data, "/base/dir")
		if err == nil && (!filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0)) {
			t.Errorf("%q gives %q", data, path)
		}
	})
}

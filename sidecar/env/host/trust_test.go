package host

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wrote are the folders that runs could write.
func wrote(folders ...string) func(string) bool {
	return func(folder string) bool { return slices.Contains(folders, folder) }
}

// What sidecar executes itself is in no folder that a run was ever let write, whichever project's.
func TestTool(t *testing.T) {
	const system = "x /usr/bin/bwrap\n"
	for name, tc := range map[string]struct {
		tree, path, want string
		written          []string
		vars             []string
	}{
		"the first":                        {"x /opt/a/bin/bwrap", "/opt/a/bin", "/opt/a/bin/bwrap", nil, nil},
		"in the workspace":                 {"x /home/me/ws/bin/bwrap", "/home/me/ws/bin", "/usr/bin/bwrap", nil, nil},
		"in another project":               {"x /home/me/other/.venv/bin/bwrap", "/home/me/other/.venv/bin", "/usr/bin/bwrap", []string{"/home/me/other"}, nil},
		"where no run was":                 {"x /home/me/other/bin/bwrap", "/home/me/other/bin", "/home/me/other/bin/bwrap", []string{"/home/me/others"}, nil},
		"a linked folder":                  {"x /home/me/other/bin/bwrap\nl /home/me/bin other/bin", "/home/me/bin", "/usr/bin/bwrap", []string{"/home/me/other"}, nil},
		"a linked program":                 {"x /home/me/other/x\nl /home/me/bin/bwrap ../other/x", "/home/me/bin", "/usr/bin/bwrap", []string{"/home/me/other"}, nil},
		"a link through it":                {"x /opt/a/bwrap\nl /home/me/other/out /opt/a\nl /home/me/bin/bwrap ../other/out/bwrap", "/home/me/bin", "/usr/bin/bwrap", []string{"/home/me/other"}, nil},
		"a link that the way hides":        {"x /opt/a/b/bwrap\nl /home/me/other/out /opt/a/b\nl /home/me/bin/bwrap ../other/out/../../a/b/bwrap", "/home/me/bin", "/usr/bin/bwrap", []string{"/home/me/other"}, nil},
		"leads out of it":                  {"x /opt/a/bwrap\nl /home/me/other/bin/bwrap /opt/a/bwrap", "/home/me/other/bin", "/usr/bin/bwrap", []string{"/home/me/other"}, nil},
		"the repository around":            {"d /home/me/.x\nd /home/me/ws/.git\nx /home/me/ws/bin/bwrap", "/home/me/ws/bin", "/usr/bin/bwrap", nil, nil},
		"the main checkout":                {"f /home/me/ws/.git gitdir: /srv/main/.git/worktrees/ws\nf /srv/main/.git/worktrees/ws/commondir ../..\nx /srv/main/.venv/bin/bwrap", "/srv/main/.venv/bin", "/usr/bin/bwrap", nil, nil},
		"another worktree":                 {"f /home/me/ws/.git gitdir: /srv/main/.git/worktrees/ws\nf /srv/main/.git/worktrees/ws/commondir ../..\nf /srv/main/.git/worktrees/fix/gitdir /srv/fix/.git\nx /srv/fix/bin/bwrap", "/srv/fix/bin", "/usr/bin/bwrap", nil, nil},
		"another worktree, from the first": {"f /home/me/ws/.git/worktrees/fix/gitdir /srv/fix/.git\nx /srv/fix/bin/bwrap", "/srv/fix/bin", "/usr/bin/bwrap", nil, nil},
		"a worktree that is the system":    {"f /home/me/ws/.git/worktrees/fix/gitdir /usr/.git", "/usr/bin", "/usr/bin/bwrap", nil, nil},
		"a worktree that holds the home":   {"f /home/me/ws/.git/worktrees/fix/gitdir /home/.git\nx /home/me/bin/bwrap", "/home/me/bin", "/home/me/bin/bwrap", nil, nil},
		"a home in git":                    {"d /home/me/.git\nx /home/me/bin/bwrap", "/home/me/bin", "/home/me/bin/bwrap", nil, nil},
		"the activated environment":        {"x /srv/py/bin/bwrap", "/srv/py/bin", "/usr/bin/bwrap", nil, []string{"VIRTUAL_ENV=/srv/py"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := fake(t, system+tc.tree, tc.path+":/usr/bin", tc.vars...)
			m.Written = wrote(tc.written...)
			if got, _ := Tool(m, "bwrap"); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// What another user can replace is no program of ours.
func TestToolOfOthers(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"a folder for everybody":  func(dir string) error { return os.Chmod(dir, 0o777) },
		"a program for everybody": func(dir string) error { return os.Chmod(filepath.Join(dir, "bwrap"), 0o777) },
		"another's folder":        func(dir string) error { return os.Lchown(dir, 4711, -1) },
		"another's program":       func(dir string) error { return os.Lchown(filepath.Join(dir, "bwrap"), 4711, -1) },
		"a shared folder":         func(dir string) error { return os.Chmod(dir, 0o777|os.ModeSticky) },
	} {
		t.Run(name, func(t *testing.T) {
			if os.Geteuid() != 0 && strings.HasPrefix(name, "another") {
				t.Skip("only root gives files away")
			}
			m := fake(t, "x /opt/a/bin/bwrap\nx /usr/bin/bwrap", "/opt/a/bin:/usr/bin")
			if err := change(filepath.Join(m.Root, "opt/a/bin")); err != nil {
				t.Fatal(err)
			}
			want := "/usr/bin/bwrap"
			if name == "a shared folder" { // where the program is ours
				want = "/opt/a/bin/bwrap"
			}
			if got, _ := Tool(m, "bwrap"); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// What a run of another project planted chooses nothing that is shown here.
func TestOtherProjectsInterpreters(t *testing.T) {
	const tree = "d /home/me/secret/lib\nx /home/me/secret/bin/python3.11\nx /usr/bin/python3.11\nd /home/me/other/.venv/lib\n"
	const venv = tree + "f /home/me/other/.venv/pyvenv.cfg home = /usr/bin\n"
	for name, tc := range map[string]struct{ tree, written, want string }{
		"a planted link":           {tree + "l /home/me/other/.venv/bin/python3 /home/me/secret/bin/python3.11", "/home/me/other", ""},
		"the person's":             {tree + "l /home/me/other/.venv/bin/python3 /home/me/secret/bin/python3.11", "/none", "/home/me/secret/bin/python3.11, via PATH, bin /home/me/secret/bin, mount /home/me/secret"},
		"an environment's link":    {venv + "l /home/me/other/.venv/bin/python3 /home/me/secret/bin/python3.11", "/home/me/other", ""},
		"an environment's setting": {tree + "f /home/me/other/.venv/pyvenv.cfg home = /home/me/secret/bin\nl /home/me/other/.venv/bin/python3 /usr/bin/python3.11", "/home/me/other", ""},
		"a planted folder":         {tree + "l /home/me/other/.venv/bin /home/me/secret/bin\nl /home/me/secret/bin/python3 python3.11", "/home/me/other", ""},
		"a folder beside":          {tree + "l /home/me/other/.venv/bin ../src/bin\nx /home/me/other/src/bin/python3\nd /home/me/other/src/lib", "/home/me/other", ""},
		"an environment as it is":  {venv + "l /home/me/other/.venv/bin/python3 /usr/bin/python3.11", "/home/me/other", "/home/me/other/.venv/bin/python3, via virtual environment /home/me/other/.venv, bin /home/me/other/.venv/bin, mount /home/me/other/.venv"},
		"a home that runs wrote":   {venv + "l /home/me/other/.venv/bin/python3 /usr/bin/python3.11", "/home/me", "/home/me/other/.venv/bin/python3, via virtual environment /home/me/other/.venv, bin /home/me/other/.venv/bin, mount /home/me/other/.venv"},
	} {
		t.Run(name, func(t *testing.T) {
			m := fake(t, tc.tree, "/home/me/other/.venv/bin:/usr/bin")
			m.Written = wrote(tc.written)
			got := summary(Find(m), "python")
			if tc.want == "" && !strings.HasPrefix(got, "missing:") || tc.want != "" && got != tc.want {
				t.Errorf("got %s\nwant %s", got, tc.want)
			}
			if p, err := Locate(m, "python3"); tc.want == "" && err == nil && len(p.Mounts) > 0 {
				t.Errorf("a session has %+v", p)
			}
		})
	}
}

// A remembered answer is asked again when another folder is noted.
func TestCacheAsksTheRecord(t *testing.T) {
	var c Cache
	m := fake(t, "d /home/me/secret/lib\nx /home/me/secret/bin/python3\nl /home/me/other/bin/python3 ../../secret/bin/python3", "/home/me/other/bin")
	if got := summary(c.Find(m), "python"); strings.HasPrefix(got, "missing:") {
		t.Fatal(got)
	}
	m.Written, m.Record = wrote("/home/me/other"), 1
	if got := summary(c.Find(m), "python"); !strings.HasPrefix(got, "missing:") {
		t.Error(got)
	}
}

// A PATH for programs that look for others has no folder of another project's, either.
func TestSearchPathOfOtherProjects(t *testing.T) {
	m := fake(t, "d /home/me/other/bin\nl /home/me/bin other/bin\nd /opt/a/bin\nd /usr/bin", "/home/me/other/bin:/home/me/bin:/opt/a/bin:/usr/bin")
	m.Written = wrote("/home/me/other")
	if got, want := SearchPath(m), "/opt/a/bin:/usr/bin"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPassedOver(t *testing.T) {
	for name, tc := range map[string]struct {
		tree, path   string
		written      []string
		want, folder string
	}{
		"none":                   {"d /opt", "/opt", nil, "", ""},
		"one that is taken":      {"x /opt/bwrap", "/opt", nil, "", ""},
		"in a folder of runs":    {"x /opt/a/bin/bwrap", "/opt/a/bin", []string{"/opt"}, "/opt/a/bin/bwrap", "/opt"},
		"linked from such a one": {"x /opt/bwrap\nl /srv/bwrap /opt/bwrap", "/srv", []string{"/opt"}, "/srv/bwrap", "/opt"},
		"in the workspace":       {"x /home/me/ws/bin/bwrap", "/home/me/ws/bin", nil, "/home/me/ws/bin/bwrap", ""},
		"the second folder":      {"d /opt\nx /srv/bwrap", "/opt:/srv", []string{"/srv"}, "/srv/bwrap", "/srv"},
	} {
		m := fake(t, tc.tree, tc.path)
		m.Written = wrote(tc.written...)
		if path, folder := PassedOver(m, "bwrap"); path != tc.want || folder != tc.folder {
			t.Errorf("%s: %q, %q, want %q, %q", name, path, folder, tc.want, tc.folder)
		}
	}
}

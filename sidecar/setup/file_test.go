package setup

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// found is what is at a path, and what it leads to.
type found struct {
	Text, Link string
	Mode       fs.FileMode
}

func look(t *testing.T, path string) found {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	link, _ := os.Readlink(path)
	return found{read(t, path), link, info.Mode().Perm()}
}

func TestReplace(t *testing.T) {
	for _, test := range []struct {
		name  string
		make  func(t *testing.T, dir string)
		want  found
		other found
	}{
		{"a file with its mode", func(t *testing.T, dir string) { write(t, dir+"/a.json", "old", 0o640) }, found{"new", "", 0o640}, found{}},
		{"a link into another folder", func(t *testing.T, dir string) {
			write(t, dir+"/dot/a.json", "old", 0o644)
			link(t, "dot/a.json", dir+"/a.json")
		}, found{"new", "dot/a.json", 0o644}, found{"new", "", 0o644}},
		{"a link whose target is not there yet", func(t *testing.T, dir string) {
			link(t, "dot/a.json", dir+"/a.json")
		}, found{"new", "dot/a.json", 0o600}, found{"new", "", 0o600}},
		{"no file and no folder", func(*testing.T, string) {}, found{"new", "", 0o600}, found{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			top := filepath.Join(dir, "home")
			test.make(t, top)
			if err := os.MkdirAll(top, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := open(t, top+"/a.json").Replace([]byte("new"), 0o600); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, look(t, top+"/a.json")); diff != "" {
				t.Error(diff)
			}
			if test.other != (found{}) {
				if diff := cmp.Diff(test.other, look(t, top+"/dot/a.json")); diff != "" {
					t.Error(diff)
				}
			}
			if left, _ := filepath.Glob(top + "/*/.sidecar-*"); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

func TestReplaceLeavesWhatItMust(t *testing.T) {
	for _, test := range []struct {
		name, want string
		spoil      func(t *testing.T, path string)
		early      bool
	}{
		{"changed meanwhile", "was changed meanwhile", func(t *testing.T, path string) { write(t, path, "theirs", 0o600) }, false},
		{"two names", "has 2 names (hard links)", func(t *testing.T, path string) {
			if err := os.Link(path, path+"2"); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.json")
			write(t, path, "old", 0o600)
			if test.early {
				test.spoil(t, path)
			}
			f := open(t, path)
			if !test.early {
				test.spoil(t, path)
			}
			before := read(t, path)
			err := f.Replace([]byte("new"), 0o600)
			if err == nil || !strings.Contains(err.Error(), test.want) || read(t, path) != before {
				t.Errorf("%v; now it is %q", err, read(t, path))
			}
		})
	}
}

func TestWithin(t *testing.T) {
	top := t.TempDir()
	if err := os.MkdirAll(top+"/p/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, top+"/p/in.json", "{}", 0o600)
	link(t, "in.json", top+"/p/link.json")
	link(t, "../out.json", top+"/p/away.json")
	link(t, "..", top+"/p/.cursor")
	got := map[string]bool{}
	for _, name := range []string{"in.json", "link.json", "away.json", ".cursor/mcp.json", ".new/mcp.json", "sub/a.json"} {
		got[name] = open(t, top+"/p/"+name).Within(top + "/p")
	}
	want := map[string]bool{"in.json": true, "link.json": true, "away.json": false, ".cursor/mcp.json": false, ".new/mcp.json": true, "sub/a.json": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	release, err := Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan error)
	go func() {
		release, err := Hold(path)
		if err == nil {
			release()
		}
		second <- err
	}()
	select {
	case err := <-second:
		t.Fatalf("it was held twice (%v)", err)
	case <-time.After(100 * time.Millisecond):
	}
	release()
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	// one that was left behind
	if err := os.Mkdir(path+".lock", 0o755); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path+".lock", old, old); err != nil {
		t.Fatal(err)
	}
	if release, err = Hold(path); err != nil {
		t.Fatal(err)
	}
	release()
}

//go:build unix

package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestFoldersThatAreReadOnce: whether there is something of a name is known as a look at each would show it, however a folder
// and what is in it are called.
func TestFoldersThatAreReadOnce(t *testing.T) {
	many := make([]string, mostNames+10)
	for i := range many {
		many[i] = fmt.Sprintf("file%03d", i)
	}
	for name, c := range map[string]struct{ entries, there, missing []string }{
		"a small folder":          {[]string{".envrc", "Makefile"}, []string{".envrc", "Makefile"}, []string{"makefile", ".envrc2", ".env", "x/.envrc"}},
		"an empty folder":         {nil, nil, []string{".envrc", "a/b/c"}},
		"more names than read":    {many, []string{"file000", "file150", "file209"}, []string{"file210", ".envrc"}},
		"other letters":           {[]string{"straße", ".envrc", "\u212aeep"}, []string{"straße", ".envrc"}, []string{"STRASSE", "keep"}}, // U+212A is a K, where it makes no difference
		"folders and what is not": {[]string{"a/b", "f"}, []string{"a", "a/b", "f"}, []string{"a/c", "f/x", "f/x/y"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			for _, entry := range c.entries {
				path := filepath.Join(p.root, entry)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			tr, err := newTree(p.root, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tr.close() }()
			near := tr.openFolders()
			defer near.close()
			for _, entry := range c.there {
				if !near.has(filepath.Join(p.root, entry)) {
					t.Errorf("%q is there", entry)
				}
			}
			for _, entry := range c.missing {
				if near.has(filepath.Join(p.root, entry)) {
					t.Errorf("%q is not there", entry)
				}
			}
		})
	}
}

// TestForgotten: a run that never began is nobody's: what happens afterwards is not its doing.
func TestForgotten(t *testing.T) {
	p := newPlace(t)
	w := p.guard(Options{Obeyed: obeyedNames}, BeginOptions{})
	if found := w.Forget(); len(found) > 0 {
		t.Errorf("%v", found)
	}
	p.sh("git init -q sub && echo '[core]\n\tfsmonitor = touch x' >> sub/.git/config")
	p.g.Known()
	if _, err := os.Lstat(filepath.Join(p.root, "sub/.git/config")); err != nil {
		t.Errorf("the host's own: %v", err)
	}
}

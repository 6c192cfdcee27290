//go:build unix

package guard

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

// fill makes a tree of folders with a hundred files each.
func fill(tb testing.TB, root string, folders int) {
	tb.Helper()
	for i := range folders {
		dir := fmt.Sprintf("%s/a%d/b%d", root, i/30, i)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(fmt.Sprintf("%s/file%d.go", dir, j), nil, 0o644); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

// oneShot is a whole run of a process of its own: open, begin, walk, end.
func oneShot(b *testing.B, root string, o Options) {
	o.Obeyed = obeyedNames
	g, err := Open(root, o)
	if err != nil {
		b.Fatal(err)
	}
	w := g.Begin(BeginOptions{RunID: "R"})
	if rep := w.End(context.Background()); len(rep.Findings) > 0 || rep.Degraded != "" && !o.NoNotify {
		b.Fatal(rep)
	}
	g.Close()
}

func BenchmarkOneShot(b *testing.B) {
	for name, folders := range map[string]int{"100files": 1, "100kfiles": 1000} {
		root := b.TempDir()
		fill(b, root, folders)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				oneShot(b, root, Options{})
			}
		})
		b.Run(name+"/walks", func(b *testing.B) {
			for b.Loop() {
				oneShot(b, root, Options{NoNotify: true})
			}
		})
	}
}

// BenchmarkBeginEnd is what a run costs a guard that lives on.
func BenchmarkBeginEnd(b *testing.B) {
	root := b.TempDir()
	fill(b, root, 1000)
	g, err := Open(root, Options{Obeyed: obeyedNames})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	g.Ready(context.Background())
	for b.Loop() {
		if rep := g.Begin(BeginOptions{RunID: "R"}).End(context.Background()); rep.Rest != nil {
			b.Fatal("not done")
		}
	}
}

// BenchmarkChurn is what the making of files below a watched folder costs, per file.
func BenchmarkChurn(b *testing.B) {
	root := b.TempDir()
	g, err := Open(root, Options{Obeyed: obeyedNames})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	w := g.Begin(BeginOptions{RunID: "R"})
	n := 0
	for b.Loop() {
		n++
		name := fmt.Sprintf("%s/f%d", root, n%1000)
		os.WriteFile(name, nil, 0o644)
		os.Remove(name)
	}
	w.End(context.Background())
}

// TestLargeTree holds the promise that nothing in a run's path grows with the tree: Open and Begin return
// before the walk has ended.
func TestLargeTree(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 100,000 files")
	}
	p := newPlace(t)
	fill(t, p.root, 1000)
	began := time.Now()
	g, err := Open(p.root, Options{Obeyed: obeyedNames})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	w := g.Begin(BeginOptions{RunID: "R"})
	opened := time.Since(began)
	p.sh("git init -q a3/b100/s; " + armIt + "a3/b100/s/.git/config")
	p.want(p.end(w), "disarmed a3/b100/s/.git/config")
	t.Logf("open and begin %v", opened)
}

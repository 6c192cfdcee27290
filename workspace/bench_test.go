package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// crowd makes a work tree of 100,000 files, once for all that is measured in it.
func crowd(b *testing.B) *lab {
	b.Helper()
	l := newLab(b)
	l.repo("p")
	l.repo("template")
	for dir := range 1000 {
		l.mkdir(fmt.Sprintf("p/d%d", dir))
		for file := range 100 {
			if err := os.WriteFile(l.at(fmt.Sprintf("p/d%d/f%d", dir, file)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	return l
}

// addSubmodules makes submodules by hand, from one up to another number: git would take minutes.
func addSubmodules(l *lab, from, to int) {
	l.t.Helper()
	for i := from; i < to; i++ {
		name := fmt.Sprintf("vendor/lib%d", i)
		gitDir := "p/.git/modules/" + name
		l.mkdir(filepath.Dir(l.at(gitDir)))
		if err := os.CopyFS(l.at(gitDir), os.DirFS(l.at("template/.git"))); err != nil {
			l.t.Fatal(err)
		}
		l.write(gitDir+"/config", fmt.Sprintf("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tworktree = ../../../../%s\n"+
			"[remote \"origin\"]\n\turl = https://example.invalid/%s\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n", name, name))
		l.write("p/"+name+"/.git", "gitdir: ../../.git/modules/"+name+"\n")
		for file := range 20 {
			l.write(fmt.Sprintf("p/%s/f%d", name, file), "")
		}
		l.write("p/.gitmodules", l.read("p/.gitmodules")+fmt.Sprintf("[submodule %q]\n\tpath = %s\n\turl = ../x\n", name, name))
	}
}

// BenchmarkWorkspace measures what a run pays for the look at its workspace: 100,000 files, 0 to 200 submodules.
func BenchmarkWorkspace(b *testing.B) {
	l := crowd(b)
	have := 0
	for _, n := range []int{0, 20, 200} {
		addSubmodules(l, have, n)
		have = n
		b.Run(fmt.Sprintf("discover/%d", n), func(b *testing.B) {
			for b.Loop() {
				look(b, l, n)
			}
		})
		b.Run(fmt.Sprintf("protected/%d", n), func(b *testing.B) {
			for b.Loop() {
				look(b, l, n).Protected(DefaultRules())
			}
		})
	}
}

func look(b *testing.B, l *lab, submodules int) *Workspace {
	ws, err := Discover(l.at("p"), Options{Env: l.getenv})
	if err != nil || len(ws.Repo.Submodules) != submodules {
		b.Fatal(err, len(ws.Repo.Submodules))
	}
	return ws
}

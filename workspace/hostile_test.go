package workspace

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestDiscoverBounded makes repositories that cost a reader as much as they can: what is looked at is bounded, whatever
// they hold, and so is what a run would have to hold of them.
func TestDiscoverBounded(t *testing.T) {
	const many, mostHeld = 5_000, 25_000
	stores := func(l *lab, n int) {
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, "%s\n", l.at(fmt.Sprintf("p/s%d/objects", i)))
		}
		for i := range n {
			l.mkdir(fmt.Sprintf("p/s%d/objects/pack", i))
			l.write(fmt.Sprintf("p/s%d/objects/info/alternates", i), all.String())
		}
		l.write("p/.git/objects/info/alternates", all.String())
	}
	for _, test := range []struct {
		name string
		make func(l *lab)
	}{
		{"object stores that all borrow from each other", func(l *lab) { stores(l, 30) }},
		{"a config that is included many times", func(l *lab) {
			l.write("p/big", strings.Repeat("[a]\nb\n", 1<<20/6))
			l.write("p/.git/config", strings.Repeat("[include]\npath = ../big\n", 1000))
		}},
		{"configs that include each other in every order", func(l *lab) {
			var all strings.Builder
			for i := range 200 {
				fmt.Fprintf(&all, "[include]\npath = %s\n", l.at(fmt.Sprintf("p/c%d", i)))
			}
			for i := range 200 {
				l.write(fmt.Sprintf("p/c%d", i), all.String())
			}
			l.write("p/.git/config", all.String())
		}},
		{"a config whose commands name many files", func(l *lab) {
			var all strings.Builder
			all.WriteString("[alias]\n")
			for i := 0; all.Len() < 1<<20-100; i++ {
				fmt.Fprintf(&all, "a%d = !./x/%d.sh y/%d.py\n", i, i, i)
			}
			l.write("p/.git/config", all.String())
		}},
		{"many hooks that name many scripts", func(l *lab) {
			for i := range 200 {
				var all strings.Builder
				for j := 0; all.Len() < maxScript; j++ {
					fmt.Fprintf(&all, "./s/%d/%d.sh\n", i, j)
				}
				l.write(fmt.Sprintf("p/.git/hooks/h%d", i), all.String())
			}
		}},
		{"an .envrc that sources many files", func(l *lab) {
			var all strings.Builder
			for i := 0; all.Len() < 1<<20-100; i++ {
				fmt.Fprintf(&all, ". s%d\n", i)
			}
			l.write("p/.envrc", all.String())
		}},
		{"many submodules", func(l *lab) {
			var all strings.Builder
			for i := range many {
				fmt.Fprintf(&all, "[submodule %q]\npath = m%d\n", fmt.Sprint("m", i), i)
				git := fmt.Sprintf("p/.git/modules/d%d/m%d", i/4000, i)
				l.mkdir(git)
				os.Link(l.at("p/.git/HEAD"), l.at(git+"/HEAD"))
			}
			l.write("p/.gitmodules", all.String())
		}},
		{"many worktrees", func(l *lab) {
			for i := range many {
				l.write(fmt.Sprintf("p/.git/worktrees/w%d/gitdir", i), fmt.Sprintf("/nowhere/w%d/.git\n", i))
			}
		}},
		{"a long chain of links", func(l *lab) {
			l.write("p/end", "[core]\nhooksPath = l0/hooks\n")
			for i := range 200 {
				l.link(fmt.Sprintf("l%d/../l%d", i+1, i+1), fmt.Sprintf("p/l%d", i))
			}
			l.write("p/.git/config", "[include]\npath = ../l0\n[core]\nhooksPath = l0\n")
		}},
		{"paths that are longer than the system takes", func(l *lab) {
			long := strings.Repeat("d/", 40_000)
			l.write("p/.git/config", "[include]\npath = "+long+"x\n[core]\nhooksPath = "+long+"\nworktree = "+long+"\n[alias]\na = !"+long+"x.sh\n")
			l.write("p/.gitmodules", "[submodule \"a\"]\npath = "+long+"\n")
			l.write("p/.git/objects/info/alternates", "/"+long+"objects\n")
			l.write("p/.git/commondir", long)
			l.write("p/.envrc", "source "+long+"x\n")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t)
			l.bones("p")
			test.make(l)
			done := make(chan int, 1)
			go func() {
				ws := l.discover("p")
				held := ws.Protected(DefaultRules())
				HarmlessGlobal(ws, l.getenv)
				RunSettings(ws)
				ws.ReadableOutside(anyStore)
				done <- len(held)
			}()
			select {
			case held := <-done:
				if held > mostHeld {
					t.Errorf("%d paths are protected", held)
				}
			case <-time.After(2 * time.Minute): // a busy machine's; it takes a second
				t.Fatal("it does not end")
			}
		})
	}
}

// bones makes what git takes for a repository, without git.
func (l *lab) bones(name string) {
	l.write(name+"/.git/HEAD", "ref: refs/heads/main\n")
	l.write(name+"/.git/config", "[core]\n\trepositoryformatversion = 0\n")
	l.mkdir(name + "/.git/objects/pack")
	l.mkdir(name + "/.git/refs/heads")
}

// TestDiscoverPointersOutside has each pointer of a repository lead to where it must not: nothing there becomes writable or
// readable for a run, and nothing hangs.
func TestDiscoverPointersOutside(t *testing.T) {
	outside := []string{"/", "/proc/self/root", "/proc/self/cwd/.git", "/proc/self/fd/0", "/dev/stdin", "/dev/zero", "/proc/self/mem", "/etc", "VICTIM/.git", "VICTIM/.git/objects"}
	for _, test := range []struct {
		name string
		make func(l *lab, to string)
	}{
		{"a .git file", func(l *lab, to string) { l.remove("p/.git"); l.write("p/.git", "gitdir: "+to+"\n") }},
		{"a .git link", func(l *lab, to string) { l.remove("p/.git"); l.link(to, "p/.git") }},
		{"commondir", func(l *lab, to string) { l.write("p/.git/commondir", to+"\n") }},
		{"core.worktree", func(l *lab, to string) { l.write("p/.git/config", "[core]\nworktree = "+to+"\n") }},
		{"core.hooksPath", func(l *lab, to string) { l.write("p/.git/config", "[core]\nhooksPath = "+to+"\n") }},
		{"include", func(l *lab, to string) { l.write("p/.git/config", "[include]\npath = "+to+"\n") }},
		{"a linked worktree's pointers", func(l *lab, to string) {
			l.write("p/.git/worktrees/w/gitdir", to+"\n")
			l.write("p/.git/worktrees/w/commondir", to+"\n")
		}},
		{"a submodule's", func(l *lab, to string) {
			l.write("p/.gitmodules", "[submodule \"s\"]\npath = sub\n")
			l.write("p/sub/.git", "gitdir: "+to+"\n")
		}},
		{"a link to a submodule", func(l *lab, to string) {
			l.write("p/.gitmodules", "[submodule \"s\"]\npath = sub\n")
			l.link(to, "p/sub")
		}},
		{"HEAD, index, refs and modules", func(l *lab, to string) {
			for _, name := range []string{"HEAD", "index", "refs", "modules"} {
				l.remove("p/.git/" + name)
				l.link(to, "p/.git/"+name)
			}
		}},
		{".envrc, .gitmodules", func(l *lab, to string) { l.link(to, "p/.envrc"); l.link(to, "p/.gitmodules") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, to := range outside {
				l := newLab(t)
				l.bones("victim")
				l.bones("p")
				test.make(l, strings.ReplaceAll(to, "VICTIM", l.at("victim")))
				ws := l.discover("p")
				ws.AddNested([]string{l.at("p/sub/.git"), l.at("p/sub")})
				held := ws.Protected(DefaultRules())
				if ws.Root != l.at("p") || len(held) == 0 {
					t.Errorf("to %s: the root is %s, %d paths are protected", to, ws.Root, len(held))
				}
				if out := append(ws.Writable(), ws.ReadableOutside(anyStore)...); len(out) > 0 {
					t.Errorf("to %s: a run is given %q", to, out)
				}
				for _, h := range held {
					if !inside(h.Path, ws.Root) {
						t.Errorf("to %s: %s is held, outside of the workspace", to, h.Path)
					}
				}
			}
		})
	}
}

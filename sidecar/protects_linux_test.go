package sidecar

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace"
	"code.sidecar.dev/workspace/oddtree"
)

// attack tries to change each path of a list, each after a NUL: by writing, making, removing and replacing it, and by carrying
// off every folder above it.
const attack = `
import os, shutil, sys
here = os.fsencode(os.getcwd())
def put(path, how):
    with open(path, how) as f: f.write("evil")
def replace(path):
    put(here + b"/.new", "w")
    os.rename(here + b"/.new", path)
def carry(above, path):
    os.rename(above, above + b".moved")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    put(path, "w")
for path in sys.stdin.buffer.read().split(b"\0")[:-1]:
    ways = [lambda: replace(path), lambda: os.chmod(path, 0o777), lambda: os.link(path, here + b"/.link"), lambda: put(here + b"/.link", "a")]
    for to in (path, path + b"/x"):
        ways += [lambda to=to: put(to, "a"), lambda to=to: put(to, "w"), lambda to=to: os.truncate(to, 0), lambda to=to: os.utime(to, (0, 0)), lambda to=to: os.rename(to, to + b".moved"),
            lambda to=to: shutil.rmtree(to), lambda to=to: os.unlink(to), lambda to=to: os.rmdir(to), lambda to=to: os.makedirs(to), lambda to=to: os.symlink("/tmp", to), lambda to=to: os.mkfifo(to)]
    above = os.path.dirname(path)
    while above.startswith(here + b"/"):
        ways.append(lambda above=above: carry(above, path))
        above = os.path.dirname(above)
    for way in ways:
        try: way()
        except OSError: pass
    for name in (b"/.new", b"/.link"):
        try: os.unlink(here + name)
        except OSError: pass
print("done")
`

// asSeen is what is at a path and below it, as the host sees it: kinds, links' targets and contents.
func asSeen(path string) string {
	var b strings.Builder
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // absent
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		fmt.Fprintf(&b, "%s %s", p, info.Mode())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(p)
			b.WriteString(" -> " + target)
		case info.Mode().IsRegular():
			text, _ := os.ReadFile(p)
			fmt.Fprintf(&b, " %q", text)
		}
		b.WriteByte('\n')
		return nil
	})
	return b.String()
}

// Whatever a workspace looks like, a real run that attacks every protected path changes none: not what is there, and not
// what is not.
func FuzzProtectedInASandbox(f *testing.F) {
	for _, s := range oddtree.Seeds {
		f.Add(s)
	}
	engine := New(Options{StateDir: f.TempDir(), Getenv: os.Getenv})
	f.Cleanup(engine.Close)
	f.Fuzz(func(t *testing.T, text string) {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := oddtree.Make(root, text); err != nil {
			t.Fatal(err)
		}
		ws, err := engine.discover(root, nil)
		if err != nil || ws.Root != root {
			t.Skip(err)
		}
		plain := root + "/not protected" // which shows that the attack works
		if err := os.WriteFile(plain, nil, 0o600); err != nil {
			t.Skip(err)
		}
		before := map[string]string{}
		var list strings.Builder
		list.WriteString(plain + "\x00")
		for _, p := range ws.Protected(engine.rules()) {
			if p.Hold != workspace.Watch { // of those the guard leaves what is harmless
				before[p.Path] = asSeen(p.Path)
				list.WriteString(p.Path + "\x00")
			}
		}
		r, err := engine.Do(t.Context(), Request{Dir: root, Params: protocol.RunParams{Language: "python", Code: attack}, Stdin: strings.NewReader(list.String())})
		if err != nil {
			t.Fatal(err)
		}
		if r.Stdout.Text != "done\n" {
			t.Errorf("the attack ended with %+v", r)
		}
		if info, err := os.Lstat(plain); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			t.Error("the attack changes nothing")
		}
		for path, was := range before {
			if is := asSeen(path); is != was {
				t.Errorf("%s was\n%s and is\n%s", path, was, is)
			}
		}
	})
}

// A run that makes what programs of the host obey, again and again, is ended and told why.
func TestARunThatArmsWithoutEndIsToldWhyItEnds(t *testing.T) {
	e, dir := project(t)
	r, err := e.Do(t.Context(), Request{Dir: dir, Params: protocol.RunParams{Language: "bash", Code: "while :; do echo evil >.envrc; done 2>/dev/null"}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Cancelled || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "ended because it made what programs of the host execute or obey") {
		t.Errorf("got %+v, %q", r.Cancelled, r.Notes)
	}
}

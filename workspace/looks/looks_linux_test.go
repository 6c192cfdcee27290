package looks_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/looks"
)

// scene is a folder with files that have been left alone for long enough to be relied upon.
type scene struct {
	t   *testing.T
	dir string
}

func newScene(t *testing.T) scene {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := scene{t, dir}
	for _, d := range []string{"a/in", "b/in", "empty"} {
		s.must(os.MkdirAll(s.at(d), 0o755))
	}
	s.must(os.WriteFile(s.at("a/in/file"), []byte("old text"), 0o644))
	s.must(os.WriteFile(s.at("b/in/file"), []byte("bad text"), 0o644))
	s.must(os.Symlink("a", s.at("link")))
	s.must(os.Link(s.at("a/in/file"), s.at("other")))
	time.Sleep(50 * time.Millisecond)
	return s
}

func (s scene) at(name string) string { return filepath.Join(s.dir, name) }

func (s scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// look looks at everything, in each of the ways.
func (s scene) look() *looks.Looks {
	s.t.Helper()
	l := looks.New(os.Getenv)
	if _, err := l.Read(s.at("a/in/file")); err != nil {
		s.t.Fatal(err)
	}
	if real, err := l.Real(s.at("link/in")); err != nil || real != s.at("a/in") {
		s.t.Fatal(real, err)
	}
	_, _ = l.Read(s.at("absent"))
	_, _ = l.Kind(s.at("empty/absent"))
	_, _ = l.LstatAll(s.at("empty"))
	_, _ = l.Lstat(s.at("b"))
	l.Getenv("LOOKS_TEST")
	return l
}

func TestWhatIsTheSame(t *testing.T) {
	s := newScene(t)
	l := s.look()
	s.must(os.WriteFile(s.at("new"), nil, 0o644)) // nobody looked at the folder's entries
	s.must(os.WriteFile(s.at("b/new"), nil, 0o644))
	for range 3 {
		if !l.Same(os.Getenv) {
			t.Fatal("nothing has changed, and it is not the same")
		}
	}
}

func TestEveryChangeIsSeen(t *testing.T) {
	changes := map[string]func(s scene) error{
		"written": func(s scene) error { return os.WriteFile(s.at("a/in/file"), []byte("new text"), 0o644) },
		"written, times set back": func(s scene) error {
			old, err := os.Stat(s.at("a/in/file"))
			s.must(err)
			s.must(os.WriteFile(s.at("a/in/file"), []byte("new text"), 0o644))
			return os.Chtimes(s.at("a/in/file"), old.ModTime(), old.ModTime())
		},
		"written by another name": func(s scene) error { return os.WriteFile(s.at("other"), []byte("new text"), 0o644) },
		"written through a map":   func(s scene) error { return writeMapped(s.at("other")) },
		"another name more":       func(s scene) error { return os.Link(s.at("other"), s.at("more")) },
		"mode":                    func(s scene) error { return os.Chmod(s.at("a/in/file"), 0o755) },
		"file swapped":            func(s scene) error { return exchange(s.at("a/in/file"), s.at("b/in/file")) },
		"folder swapped":          func(s scene) error { return exchange(s.at("a/in"), s.at("b/in")) },
		"folder above swapped":    func(s scene) error { return exchange(s.at("a"), s.at("b")) },
		"file gone":               func(s scene) error { return os.Remove(s.at("a/in/file")) },
		"appeared":                func(s scene) error { return os.WriteFile(s.at("absent"), nil, 0o644) },
		"appeared as a link":      func(s scene) error { return os.Symlink("nowhere", s.at("absent")) },
		"appeared in a folder":    func(s scene) error { return os.Mkdir(s.at("empty/absent"), 0o755) },
		"link swapped": func(s scene) error {
			s.must(os.Symlink("b", s.at("second")))
			return os.Rename(s.at("second"), s.at("link"))
		},
		"folder become a link": func(s scene) error {
			s.must(os.Rename(s.at("a"), s.at("moved")))
			return os.Symlink("b", s.at("a"))
		},
		"mode of a folder": func(s scene) error { return os.Chmod(s.at("b"), 0o700) },
		"environment":      func(s scene) error { return os.Setenv("LOOKS_TEST", "other") },
	}
	for name, change := range changes {
		// Seen at the first comparison, and after some where nothing had changed.
		for _, compared := range []int{0, 3} {
			t.Run(name, func(t *testing.T) {
				t.Setenv("LOOKS_TEST", "")
				s := newScene(t)
				l := s.look()
				for range compared {
					if !l.Same(os.Getenv) {
						t.Fatal("nothing has changed yet, and it is not the same")
					}
				}
				s.must(change(s))
				if l.Same(os.Getenv) {
					t.Error("is the same")
				}
			})
		}
	}
}

func TestWhatJustChangedIsNotReliedUpon(t *testing.T) {
	s := newScene(t)
	s.must(os.WriteFile(s.at("a/in/file"), []byte("new text"), 0o644))
	if s.look().Same(os.Getenv) {
		t.Error("a file that changed in the very moment of the look is relied upon")
	}
}

func TestWhatCannotBeReadIsNotReliedUpon(t *testing.T) {
	s := newScene(t)
	s.must(unix.Mkfifo(s.at("fifo"), 0o600))
	l := s.look()
	l.NotOpened(s.at("a/in/file"), os.ErrPermission)
	if l.Same(os.Getenv) {
		t.Error("what could not be opened is relied upon")
	}
}

func TestProcIsNotReliedUpon(t *testing.T) {
	l := looks.New(os.Getenv)
	if _, err := l.Read("/proc/self/status"); err != nil {
		t.Fatal(err)
	}
	if l.Same(os.Getenv) {
		t.Error("a file of proc is relied upon")
	}
}

func TestNilLooks(t *testing.T) {
	s := newScene(t)
	var l *looks.Looks
	text, err := l.ReadThrough(s.at("link/in/file"))
	if real, _ := l.Real(s.at("link")); err != nil || string(text) != "old text" || real != s.at("a") {
		t.Error(text, err, real)
	}
}

func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

func writeMapped(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, 8, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	copy(m, "new text")
	return unix.Munmap(m)
}

// Who makes and removes entries of a folder by itself leaves them out, and sees all others.
func TestWhatIsLeftOut(t *testing.T) {
	changes := map[string]struct {
		change func(s scene) error
		same   bool
	}{
		"nothing":           {func(scene) error { return nil }, true},
		"its own, made":     {func(s scene) error { return os.WriteFile(s.at("a/own"), nil, 0o644) }, true},
		"its own, a folder": {func(s scene) error { return os.Mkdir(s.at("a/own"), 0o755) }, true},
		"another one":       {func(s scene) error { return os.WriteFile(s.at("a/other"), nil, 0o644) }, false},
		"one is gone":       {func(s scene) error { return os.RemoveAll(s.at("a/in")) }, false},
		"of another kind": {func(s scene) error {
			s.must(os.RemoveAll(s.at("a/in")))
			return os.WriteFile(s.at("a/in"), nil, 0o644)
		}, false},
		"another folder with the same entries": {func(s scene) error { return exchange(s.at("a"), s.at("b")) }, false},
		"a link to the folder": {func(s scene) error {
			s.must(os.Rename(s.at("a"), s.at("moved")))
			return os.Symlink("moved", s.at("a"))
		}, false},
		"its mode": {func(s scene) error { return os.Chmod(s.at("a"), 0o700) }, false},
	}
	for name, c := range changes {
		for _, compared := range []int{0, 2} {
			t.Run(name, func(t *testing.T) {
				s := newScene(t)
				s.must(os.WriteFile(s.at("a/own"), nil, 0o644)) // in this very moment, as a run's end does it
				s.must(os.Remove(s.at("a/own")))
				l := looks.New(os.Getenv)
				list := func() []string {
					f, err := os.Open(s.at("a"))
					s.must(err)
					defer f.Close()
					l.Opened(s.at("a"), int(f.Fd()))
					entries, err := f.ReadDir(0)
					s.must(err)
					var names []string
					for _, e := range entries {
						names = append(names, e.Name()+e.Type().String())
					}
					return names
				}
				was := list()
				l.Listed(s.at("a"), func(but []string) bool {
					entries, err := os.ReadDir(s.at("a"))
					var names []string
					for _, e := range entries {
						if !slices.Contains(but, e.Name()) {
							names = append(names, e.Name()+e.Type().String())
						}
					}
					return err == nil && slices.Equal(names, was)
				})
				_, _ = l.Kind(s.at("a/in"))
				if !l.Leave([]string{s.at("a/own"), s.at("b/own")}) {
					t.Fatal("it cannot be left out")
				}
				for range compared {
					if !l.Same(os.Getenv) {
						t.Fatal("nothing has changed yet, and it is not the same")
					}
				}
				s.must(c.change(s))
				if l.Same(os.Getenv) != c.same {
					t.Errorf("the same: %v, want %v", !c.same, c.same)
				}
			})
		}
	}
}

func TestAFolderThatIsNotListedAgainIsNotLeft(t *testing.T) {
	s := newScene(t)
	l := s.look()
	if l.Leave([]string{s.at("empty/own")}) {
		t.Error("its times alone tell what is in it, and they are to be left out")
	}
}

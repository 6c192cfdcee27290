package locked

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/oddtree"
)

// owner says that the test is to go on: its process is its files' owner and no more.
func owner(t *testing.T) bool {
	t.Helper()
	done, err := oddtree.AsOwner(t.Name())
	if err != nil {
		t.Fatal(err)
	}
	return !done
}

// place is an opened folder for a test.
func place(t *testing.T) (string, int) {
	t.Helper()
	dir := t.TempDir()
	fd, err := unix.Open(dir, stepFlags, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Close(fd)
		_ = filepath.Walk(dir, func(path string, info os.FileInfo, _ error) error {
			if info != nil && info.IsDir() {
				return os.Chmod(path, 0o700)
			}
			return nil
		})
		if len(loans) != 0 || len(byFD) != 0 || open.Load() != 0 {
			t.Errorf("something is lent still: %v %v", loans, byFD)
		}
	})
	return dir, fd
}

func (m modes) check(t *testing.T, dir string) {
	t.Helper()
	for name, want := range m {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has the mode %04o, want %04o", name, info.Mode().Perm(), want)
		}
	}
}

type modes map[string]os.FileMode

func TestFolderIsAsItWas(t *testing.T) {
	if !owner(t) {
		return
	}
	for _, mode := range []os.FileMode{0, 0o100, 0o200, 0o311, 0o400, 0o500, 0o600, 0o711} {
		t.Run(fmt.Sprintf("%04o", mode), func(t *testing.T) {
			dir, fd := place(t)
			must(t, os.MkdirAll(dir+"/a/b", 0o755), os.WriteFile(dir+"/a/b/f", nil, 0o600), os.Chmod(dir+"/a/b", mode), os.Chmod(dir+"/a", mode))
			in, err := Folder(fd, "./a/b")
			if err != nil {
				t.Fatal(err)
			}
			modes{"a": mode}.check(t, dir)
			var st unix.Stat_t
			must(t, unix.Fstatat(in, "f", &st, 0), unix.Renameat(in, "f", in, "g"))
			if n, err := unix.Getdents(in, make([]byte, 1000)); n <= 0 {
				t.Errorf("listed %d, %v", n, err)
			}
			Close(in)
			must(t, os.Chmod(dir+"/a", 0o700))
			modes{"a/b": mode}.check(t, dir)
		})
	}
}

func TestTheFirstToEndLocksNobodyOut(t *testing.T) {
	if !owner(t) {
		return
	}
	dir, fd := place(t)
	must(t, os.Mkdir(dir+"/a", 0))
	one, err := Folder(fd, "a")
	must(t, err)
	two, err := unix.Openat(fd, "a", folderFlags, 0)
	must(t, err)
	Join(two)
	Close(one)
	var st unix.Stat_t
	if err := unix.Fstatat(two, "f", &st, 0); err != unix.ENOENT {
		t.Error(err)
	}
	Close(two)
	modes{"a": 0}.check(t, dir)
}

func TestWhoChangesTheModeMeanwhileIsRight(t *testing.T) {
	if !owner(t) {
		return
	}
	dir, fd := place(t)
	must(t, os.Mkdir(dir+"/a", 0))
	in, err := Folder(fd, "a")
	must(t, err, os.Chmod(dir+"/a", 0o750))
	Close(in)
	modes{"a": 0o750}.check(t, dir)
}

func TestNothingIsOpenedByALink(t *testing.T) {
	if !owner(t) {
		return
	}
	dir, fd := place(t)
	must(t, os.MkdirAll(dir+"/out/in", 0o755), os.Chmod(dir+"/out/in", 0), os.WriteFile(dir+"/secret", nil, 0), os.Mkdir(dir+"/ws", 0o755),
		os.Symlink("../out", dir+"/ws/l"), os.Symlink("../secret", dir+"/ws/f"), os.Link(dir+"/secret", dir+"/ws/h"))
	for _, rel := range []string{"ws/l", "ws/l/in", "ws/../out/in", "ws//l", "ws/f"} {
		if in, err := Folder(fd, rel); err == nil {
			t.Errorf("%s was opened", rel)
			Close(in)
		}
	}
	for _, name := range []string{"ws/f", "ws/h"} {
		if in, err := File(fd, name, unix.O_RDONLY|unix.O_NOFOLLOW); err == nil {
			t.Errorf("%s was opened", name)
			unix.Close(in)
		}
	}
	modes{"out/in": 0, "secret": 0}.check(t, dir)
}

func TestFileIsAsItWas(t *testing.T) {
	if !owner(t) {
		return
	}
	dir, fd := place(t)
	must(t, os.WriteFile(dir+"/f", []byte("text"), 0o644), os.Chmod(dir+"/f", 0o211), unix.Mkfifo(dir+"/p", 0))
	in, err := File(fd, "f", unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK)
	must(t, err)
	buf := make([]byte, 10)
	if n, _ := unix.Read(in, buf); string(buf[:n]) != "text" {
		t.Errorf("read %q", buf[:n])
	}
	unix.Close(in)
	if _, err := File(fd, "p", unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK); !Refused(err) {
		t.Errorf("a pipe: %v", err)
	}
	modes{"f": 0o211, "p": 0}.check(t, dir)
}

func TestChange(t *testing.T) {
	if !owner(t) {
		return
	}
	dir, fd := place(t)
	must(t, os.Mkdir(dir+"/a", 0o755), os.WriteFile(dir+"/a/f", nil, 0o600), os.Chmod(dir+"/a", 0o555))
	in, err := Folder(fd, "a")
	must(t, err)
	must(t, Change(in, func() error { return unix.Renameat(in, "f", in, "g") }))
	Close(in)
	modes{"a": 0o555}.check(t, dir)
	list, err := List(dir + "/a")
	must(t, err, os.Chmod(dir+"/a", 0))
	unix.Close(list)
	list, err = List(dir + "/a")
	must(t, err)
	modes{"a": 0}.check(t, dir)
	if n, err := unix.Getdents(list, make([]byte, 1000)); n <= 0 {
		t.Errorf("listed %d, %v", n, err)
	}
	unix.Close(list)
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

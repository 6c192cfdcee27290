package declared

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Runs could write in home/ws, in before, and in before/sub.
func TestOpen(t *testing.T) {
	for name, tt := range map[string]struct {
		files      []string
		path, fail string
	}{
		"a file":                          {[]string{"home/ws/a"}, "home/ws/a", ""},
		"a file elsewhere":                {[]string{"home/a"}, "home/a", ""},
		"nothing":                         {nil, "home/ws/a", "no such file"},
		"a folder":                        {[]string{"home/ws/a/"}, "home/ws/a", "no regular file"},
		"a link inside":                   {[]string{"home/ws/b", "home/ws/d/a -> ../b"}, "home/ws/d/a", ""},
		"an absolute link inside":         {[]string{"home/ws/b", "home/ws/a -> ROOT/home/ws/b"}, "home/ws/a", ""},
		"a link out":                      {[]string{"home/b", "home/ws/a -> ../b"}, "home/ws/a", "which a run may have made"},
		"an absolute link out":            {[]string{"home/b", "home/ws/a -> ROOT/home/b"}, "home/ws/a", "which a run may have made"},
		"a folder that is a link out":     {[]string{"home/b/a", "home/ws/d -> ../b"}, "home/ws/d/a", "which a run may have made"},
		"a link out and in again":         {[]string{"home/ws/b", "home/ws/a -> ../ws/b"}, "home/ws/a", ""},
		"two links out":                   {[]string{"home/b", "home/ws/a -> c", "home/ws/c -> ../b"}, "home/ws/a", "which a run may have made"},
		"a link out, and the person's ..": {[]string{"home/a", "home/x/y/", "home/ws/d -> ../x/y"}, "home/ws/d/../../a", "which a run may have made"},
		"a loop":                          {[]string{"home/ws/a -> a"}, "home/ws/a", "more than 40"},
		"a person's link":                 {[]string{"home/b", "home/a -> b"}, "home/a", ""},
		"a person's link to a run's":      {[]string{"home/b", "home/a -> ws/a", "home/ws/a -> ../b"}, "home/a", "which a run may have made"},
		"a run's of another project":      {[]string{"home/b", "before/a -> ../home/b"}, "before/a", "which a run may have made"},
		"inside of another project":       {[]string{"before/b", "before/a -> b"}, "before/a", ""},
		"out of a project in another one": {[]string{"before/b", "before/sub/a -> ../b"}, "before/sub/a", "which a run may have made"},
		"a file of a project in another":  {[]string{"before/sub/a"}, "before/sub/a", ""},
		"a person's ..":                   {[]string{"home/a"}, "home/ws/../a", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h, root := machine(t, append(tt.files, "before/sub/")...)
			h.Written = func(folder string) bool { return folder == root+"/before" || folder == root+"/before/sub" }
			for _, open := range []func(string) (*os.File, error){h.Open, h.OpenStream} {
				f, err := open(root + "/" + tt.path)
				if err == nil {
					defer f.Close()
				}
				if tt.fail == "" && err != nil || tt.fail != "" && (err == nil || !strings.Contains(err.Error(), tt.fail)) {
					t.Errorf("%v, want %q", err, tt.fail)
				}
				if planted := strings.Contains(tt.fail, "run"); errors.Is(err, ErrLeadsOut) != planted {
					t.Errorf("%v is not told apart", err)
				}
			}
		})
	}
}

// What is replaced by a link after it was looked at is not followed out.
func TestOpenAReplacedFile(t *testing.T) {
	h, root := machine(t, "home/key", "home/ws/a", "before/sub/a", "elsewhere/a")
	h.Written = func(folder string) bool { return folder == root+"/before" || folder == root+"/before/sub" }
	for _, at := range []struct{ path, replaced, by string }{{"home/ws/a", "home/ws/a", "home/key"}, {"before/sub/a", "before/sub", "elsewhere"}} {
		h.Lstat = func(path string) (fs.FileInfo, error) {
			info, err := os.Lstat(path)
			if path == filepath.Join(root, at.path) {
				_ = os.Rename(filepath.Join(root, at.replaced), filepath.Join(root, at.replaced+".was"))
				_ = os.Symlink(filepath.Join(root, at.by), filepath.Join(root, at.replaced))
			}
			return info, err
		}
		if f, err := h.Open(filepath.Join(root, at.path)); err == nil {
			f.Close()
			t.Errorf("%s was followed to %s", at.replaced, at.by)
		}
	}
}

// What is written stays where it is meant to, too.
func TestCreate(t *testing.T) {
	for name, tt := range map[string]struct {
		files          []string
		path, at, fail string
	}{
		"a new file":             {nil, "home/ws/a", "home/ws/a", ""},
		"a file":                 {[]string{"home/ws/a"}, "home/ws/a", "home/ws/a", ""},
		"a new file elsewhere":   {nil, "home/a", "home/a", ""},
		"a link inside":          {[]string{"home/ws/a -> ROOT/home/ws/b"}, "home/ws/a", "home/ws/b", ""},
		"a link out":             {[]string{"home/ws/a -> ../b", "home/b"}, "home/ws/a", "home/b", "which a run may have made"},
		"a link out to nothing":  {[]string{"home/ws/a -> ../b"}, "home/ws/a", "home/b", "which a run may have made"},
		"in a folder out":        {[]string{"home/ws/d -> ../x", "home/x/"}, "home/ws/d/a", "home/x/a", "which a run may have made"},
		"a person's to nothing":  {[]string{"home/a -> ws/a"}, "home/a", "home/ws/a", ""},
		"in a folder of nothing": {nil, "home/ws/d/a", "home/ws/d", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			h, root := machine(t, tt.files...)
			before, _ := os.ReadFile(filepath.Join(root, tt.at))
			f, err := h.Create(root + "/" + tt.path)
			if err == nil {
				_, err = f.WriteString("new")
				f.Close()
			}
			if tt.fail == "" {
				before = []byte("new")
			}
			if tt.fail == "" && err != nil || tt.fail != "" && (err == nil || !strings.Contains(err.Error(), tt.fail)) {
				t.Errorf("%v, want %q", err, tt.fail)
			}
			if now, _ := os.ReadFile(filepath.Join(root, tt.at)); string(now) != string(before) {
				t.Errorf("%s has %q, want %q", tt.at, now, before)
			}
		})
	}
}

// A pipe that a run can have made is waited for by none; a person's own is read.
func TestOpenAPipe(t *testing.T) {
	h, root := machine(t)
	for _, at := range []string{"home/ws/pipe", "home/pipe"} {
		if err := syscall.Mkfifo(filepath.Join(root, at), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(open func(string) (*os.File, error), at string) {
		t.Helper()
		done := make(chan error, 1)
		go func() {
			_, err := open(filepath.Join(root, at))
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s was opened", at)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s is waited for", at)
		}
	}
	refused(h.Open, "home/ws/pipe")
	refused(h.OpenStream, "home/ws/pipe")
	refused(h.Open, "home/pipe")
	go func() { _ = os.WriteFile(root+"/home/pipe", []byte("code"), 0o600) }()
	f, err := h.OpenStream(root + "/home/pipe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); string(b) != "code" {
		t.Errorf("%q, %v", b, err)
	}
}

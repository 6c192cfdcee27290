package plainfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(at("plain"), []byte("text"), 0o600))
	must(os.WriteFile(at("empty"), nil, 0o600))
	must(os.WriteFile(at("full"), []byte(strings.Repeat("x", Limit)), 0o600))
	must(os.WriteFile(at("big"), []byte(strings.Repeat("x", Limit+1)), 0o600))
	must(os.Symlink("plain", at("link")))
	must(os.Symlink("loop", at("loop")))
	must(syscall.Mkfifo(at("fifo"), 0o600))
	for _, c := range []struct {
		name string
		size int
		err  error
	}{
		{"plain", 4, nil}, {"empty", 0, nil}, {"full", Limit, nil}, {"big", 0, ErrTooLarge}, {"link", 0, syscall.ELOOP}, {"loop", 0, syscall.ELOOP},
		{"fifo", 0, ErrNotRegular}, {".", 0, ErrNotRegular}, {"none", 0, fs.ErrNotExist},
	} {
		data, err := Read(at(c.name))
		if !errors.Is(err, c.err) || len(data) != c.size {
			t.Errorf("Read(%s): %d bytes, %v", c.name, len(data), err)
		}
		f, err := Open(at(c.name))
		if !errors.Is(err, c.err) {
			t.Errorf("Open(%s): %v", c.name, err)
		}
		if err == nil {
			f.Close()
		}
	}
	if data, err := ReadThrough(at("link")); err != nil || string(data) != "text" {
		t.Errorf("ReadThrough(link): %q, %v", data, err)
	}
	if _, err := ReadThrough(at("loop")); err == nil {
		t.Error("ReadThrough(loop): no error")
	}
	if data, err := ReadHead(at("big"), 10); err != nil || len(data) != 10 {
		t.Errorf("ReadHead(big): %d bytes, %v", len(data), err)
	}
	if _, err := ReadHead(at("fifo"), 10); !errors.Is(err, ErrNotRegular) {
		t.Errorf("ReadHead(fifo): %v", err)
	}
}

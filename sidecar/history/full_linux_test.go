package history

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sidecar/protocol"
)

func init() { roles["full"] = inSmallSpace }

// TestFullDisk has a process of its own fill a small file system of its own, in namespaces of its own.
func TestFullDisk(t *testing.T) {
	cmd := exec.Command(os.Args[0], t.TempDir(), "")
	cmd.Env = append(os.Environ(), role+"=full")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
	out, err := cmd.CombinedOutput()
	switch {
	case bytes.Contains(out, []byte("no mounts here")) || cmd.ProcessState == nil:
		if os.Getenv("CI") != "" {
			t.Fatalf("a file system of its own: %v %s", err, out)
		}
		t.Skipf("a file system of its own: %v %s", err, out)
	case err != nil || strings.TrimSpace(string(out)) != "done":
		t.Errorf("%v\n%s", err, out)
	}
}

// inSmallSpace is that process. It says done, or what is wrong.
func inSmallSpace(dir, _ string) {
	wrong := func(format string, args ...any) {
		fmt.Printf(format+"\n", args...)
		os.Exit(1)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=400k"); err != nil {
		wrong("no mounts here: %v", err)
	}
	said := new(log)
	s := Open(Options{Dir: dir, Log: slog.New(slog.NewTextHandler(said, nil))})
	<-s.Write(ended(beginning("before", 0), 0))
	fill(filepath.Join(dir, "filler"))
	large := beginning("large", 1)
	large.Request.Code = strings.Repeat("large ", 20_000)
	<-s.Write(large)
	<-s.Write(ended(large, 0))
	if n := strings.Count(said.String(), "cannot be written"); n != 1 {
		wrong("said %d times that the disk is full: %s", n, said.String())
	}
	runs, err := s.List(context.Background(), "", protocol.RunsParams{})
	if err != nil || len(runs) != 1 || runs[0].ID != "before" {
		wrong("what was written before: %v, %v", runs, err)
	}
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		wrong("%v", err)
	}
	<-s.Write(ended(beginning("after", 2), 0))
	runs, err = s.List(context.Background(), "", protocol.RunsParams{})
	if err != nil || len(runs) != 3 || runs[1].ID != "large" || runs[1].End == nil {
		wrong("after there is room again: %+v, %v; said %s", runs, err, said.String())
	}
	if !strings.Contains(said.String(), "can be written again") || len(s.Damaged()) > 0 {
		wrong("said %s, set aside %v", said.String(), s.Damaged())
	}
	s.Close()
	fmt.Println("done")
}

// fill takes all the room that there is.
func fill(name string) {
	f, err := os.Create(name)
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	_ = f.Close()
}

package hold

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFullDiskAndReadOnlyFolder(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	if os.Getuid() != 0 {
		t.Skip("mounting a small tmpfs needs root")
	}
	if err := unix.Mount("tmpfs", repo, "tmpfs", 0, "size=4k"); err != nil {
		t.Skip("no mounts here:", err)
	}
	t.Cleanup(func() { unix.Unmount(repo, unix.MNT_DETACH) })
	os.WriteFile(repo+"/filler", []byte(strings.Repeat("x", 4096)), 0o644)
	_, err := l.Acquire("r1", "", append([]Placeholder{{Path: repo + "/hooks", Folder: true}}, commondirs(repo+"/commondir")...))
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("full disk: %v", err)
	}
	wantListing(t, repo, "filler\n")
	unix.Mount("", repo, "", unix.MS_REMOUNT|unix.MS_RDONLY, "")
	if _, err = l.Acquire("r1", "", commondirs(repo+"/commondir")); !errors.Is(err, unix.EROFS) {
		t.Fatalf("read-only folder: %v", err)
	}
	wantListing(t, l.dir, "lock\n")
}

package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestOwnFolder(t *testing.T) {
	const v2, v1 = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n", "30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	for name, tt := range map[string]struct {
		mounts, groups, dir string
		mounted             bool
	}{
		"v2":                 {v2, "0::/user.slice/a.scope\n", "/sys/fs/cgroup/user.slice/a.scope", true},
		"at the top":         {v2, "0::/\n", "/sys/fs/cgroup", true},
		"v1":                 {v1, "4:memory:/a\n", "", false},
		"both":               {v1 + "31 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", "4:memory:/a\n0::/b\n", "/sys/fs/cgroup/unified/b", true},
		"of another place":   {v2, "0::/../../elsewhere\n", "", true},
		"a part is mounted":  {"30 24 0:26 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n", "0::/docker/x/init\n", "/sys/fs/cgroup/init", true},
		"a part without us":  {"30 24 0:26 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n", "0::/docker/xy\n", "", true},
		"nothing is told":    {v2, "", "", true},
		"nothing is mounted": {"", "0::/a\n", "", false},
	} {
		if dir, mounted := ownFolder(tt.mounts, tt.groups); dir != tt.dir || mounted != tt.mounted {
			t.Errorf("%s: %q %v", name, dir, mounted)
		}
	}
}

// fake is a folder with files as the kernel would have them; what it would do with them is tried by test/cgroups/run.
func fake(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestLook(t *testing.T) {
	self := strconv.Itoa(os.Getpid()) + "\n"
	files := map[string]string{
		"proc/self/mountinfo": "30 24 0:26 / /cg rw - cgroup2 cgroup2 rw\n", "proc/self/cgroup": "0::/above/own\n",
		"cg/above/cgroup.procs": "", "cg/above/cgroup.subtree_control": "memory pids\n", "cg/above/cgroup.controllers": "cpu memory pids\n",
		"cg/above/own/cgroup.procs": self, "cg/above/own/cgroup.subtree_control": "", "cg/above/own/cgroup.controllers": "memory pids\n", "cg/above/own/cgroup.type": "domain\n",
	}
	want := Facts{Mounted: true, Dir: "/cg/above/own", Own: Node{Writable: true, Controllers: []string{"memory", "pids"}},
		Above: Node{Writable: true, Controllers: both, Enabled: []string{"memory", "pids"}}}
	if diff := cmp.Diff(want, Look(fake(t, files)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	files["cg/above/own/cgroup.procs"] = "1\n" + self
	delete(files, "cg/above/own/cgroup.type")
	want.Others, want.Root = true, true
	if diff := cmp.Diff(want, Look(fake(t, files)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWhatAGroupIsTold(t *testing.T) {
	dir := fake(t, map[string]string{"memory.max": "", "memory.swap.max": "", "pids.max": "",
		"memory.peak": "4096\n", "memory.events": "low 0\noom 2\noom_kill 3\noom_group_kill 1\n", "pids.events": "max 7\n"})
	g := &Group{dir: dir}
	for _, tt := range []struct {
		limits Limits
		want   [3]string
	}{
		{Limits{}, [3]string{"max", "max", "0"}},
		{Limits{Memory: 1 << 30, Processes: 40}, [3]string{"1073741824", "40", "0"}},
	} {
		for _, name := range []string{"memory.max", "pids.max"} { // the kernel's hold what was written last
			_ = os.Truncate(filepath.Join(dir, name), 0)
		}
		if err := g.Set(tt.limits); err != nil {
			t.Fatal(err)
		}
		got := [3]string{read(filepath.Join(dir, "memory.max")), read(filepath.Join(dir, "pids.max")), read(filepath.Join(dir, "memory.swap.max"))}
		if got != tt.want {
			t.Errorf("%+v: %q", tt.limits, got)
		}
	}
	if got, want := g.Use(), (Use{Peak: 4096, Killed: true, Refused: 7}); got != want {
		t.Errorf("%+v", got)
	}
	if err := os.Remove(filepath.Join(dir, "memory.swap.max")); err != nil || g.Set(Limits{}) != nil {
		t.Error("a kernel without swap is no reason to fail")
	}
	if err := os.Remove(filepath.Join(dir, "pids.max")); err != nil || g.Set(Limits{}) == nil {
		t.Error("a limit that cannot be set is an error")
	}
}

// A tree whose process lives is left alone, whatever its runs do.
func TestSweep(t *testing.T) {
	base := fake(t, map[string]string{"sidecar-1/serve/cgroup.events": "populated 1\nfrozen 0\n", "other/cgroup.events": "populated 0\n"})
	for _, dir := range []string{"sidecar-1/run-1", "sidecar-2/serve", "sidecar-2/run-1", "sidecar-2/run-2", "sidecar-3"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sweep(base)
	left, err := filepath.Glob(base + "/*")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{base + "/other", base + "/sidecar-1"}; !cmp.Equal(left, want) {
		t.Errorf("left: %q", left)
	}
	if _, err := os.Stat(base + "/sidecar-1/run-1"); err != nil {
		t.Error(err)
	}
}

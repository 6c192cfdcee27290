package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"code.sidecar.dev/sandbox/cgroup"
	"code.sidecar.dev/sidecar/env/host"
	"github.com/adrg/xdg"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// tree makes files in a folder of the test.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestMachine(t *testing.T) {
	root := tree(t, map[string]string{
		"etc/os-release":                    "PRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\nNAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE='debian'\n# comment\n",
		"proc/sys/kernel/osrelease":         "6.8.0-45-generic\n",
		"proc/version":                      "Linux version 6.8.0-45-generic (buildd@x)\n",
		"proc/self/cgroup":                  "0::/user.slice/app.scope\n",
		"proc/sys/user/max_user_namespaces": "127234\n",
		"proc/sys/kernel/apparmor_restrict_unprivileged_userns":   "1\n",
		"proc/sys/fs/inotify/max_user_watches":                    "65536\n",
		"sys/module/apparmor/parameters/enabled":                  "Y\n",
		"sys/fs/cgroup/cgroup.controllers":                        "cpu memory pids io\n",
		"sys/fs/cgroup/user.slice/app.scope/cgroup.controllers":   "memory pids\n",
		"sys/fs/cgroup/user.slice/app.scope/cgroup.procs":         "1\n",
		"sys/fs/cgroup/user.slice/app.scope/cgroup.type":          "domain\n",
		"proc/self/mountinfo":                                     "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
		"usr/share/apparmor/extra-profiles/bwrap-userns-restrict": "profile\n",
	})
	want := Machine{
		OS: "linux", UID: os.Geteuid(), Distribution: "ubuntu", Like: "debian", Pretty: "Ubuntu 24.04.1 LTS",
		Kernel: "6.8.0-45-generic", Banner: "Linux version 6.8.0-45-generic (buildd@x)",
		Sysctls: map[string]string{"kernel.apparmor_restrict_unprivileged_userns": "1", "user.max_user_namespaces": "127234",
			"fs.inotify.max_user_watches": "65536"},
		AppArmor: true, Extra: restrictExtra, SessionDir: "/run/user/1",
		Cgroup: Cgroup{Version: 2, Facts: cgroup.Facts{Mounted: true, Dir: "/sys/fs/cgroup/user.slice/app.scope",
			Own: cgroup.Node{Controllers: []string{"memory", "pids"}}, Others: true}},
	}
	env := map[string]string{"XDG_RUNTIME_DIR": "/run/user/1"}
	got := system{root, func(name string) string { return env[name] }}.machine()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Machine{}, "OS"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestContainer(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		env   string
		want  string
	}{
		"none":                {nil, "", ""},
		"docker":              {map[string]string{".dockerenv": ""}, "", "docker"},
		"podman":              {map[string]string{"run/.containerenv": "", ".dockerenv": ""}, "", "podman"},
		"kubernetes, by env":  {map[string]string{".dockerenv": ""}, "10.0.0.1", "kubernetes"},
		"kubernetes, by file": {map[string]string{"var/run/secrets/kubernetes.io/serviceaccount/token": ""}, "", "kubernetes"},
		"lxc, by systemd":     {map[string]string{"run/systemd/container": "lxc\n"}, "", "lxc"},
		"nspawn, by init":     {map[string]string{"proc/1/environ": "A=b\x00container=systemd-nspawn\x00"}, "", "systemd-nspawn"},
		"wsl is none":         {map[string]string{"run/systemd/container": "wsl\n", "proc/1/environ": "container=wsl\x00"}, "", ""},
		"by cgroup":           {map[string]string{"proc/1/cgroup": "12:pids:/docker/0123456789ab\n"}, "", "docker"},
		"by kubepods":         {map[string]string{"proc/self/cgroup": "0::/kubepods/besteffort/pod1\n"}, "", "kubernetes"},
		"by a host's cgroup":  {map[string]string{"proc/self/cgroup": "0::/system.slice/ssh.service\n"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			env := func(name string) string {
				return map[string]string{"KUBERNETES_SERVICE_HOST": tc.env}[name]
			}
			if got := (system{tree(t, tc.files), env}).container(); got != tc.want {
				t.Errorf("have %q, want %q", got, tc.want)
			}
		})
	}
}

func TestCgroups(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  Cgroup
	}{
		"none":   {nil, Cgroup{}},
		"v1":     {map[string]string{"sys/fs/cgroup/memory/tasks": ""}, Cgroup{Version: 1}},
		"hybrid": {map[string]string{"sys/fs/cgroup/unified/cgroup.controllers": ""}, Cgroup{Version: 1}},
		"v2, whose group is not seen": {map[string]string{"sys/fs/cgroup/cgroup.controllers": "cpu", "proc/self/cgroup": "0::/../../elsewhere\n",
			"proc/self/mountinfo": "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
			Cgroup{Version: 2, Facts: cgroup.Facts{Mounted: true, Others: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := system{tree(t, tc.files), os.Getenv}.cgroup()
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestFind: no way leads to a program of the workspace.
func TestFind(t *testing.T) {
	root := tree(t, map[string]string{"ws/bin/bwrap": "#!/bin/sh\n", "host/bwrap": "#!/bin/sh\n", "text/bwrap": "", "folder/bwrap/x": ""})
	ws, outside := filepath.Join(root, "ws"), filepath.Join(root, "host")
	for from, to := range map[string]string{
		"linked/bwrap": ws + "/bin/bwrap", "twice/bwrap": root + "/linked/bwrap", "ok/bwrap": outside + "/bwrap",
		"dirlink": ws + "/bin", "wslink": ws, "ws/out": outside,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, from)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(root, "text/bwrap"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(ws, "bin"))
	for name, tc := range map[string]struct {
		path, workspace string
		want            Program
	}{
		"host":              {"host", ws, Program{Path: outside + "/bwrap", Link: outside + "/bwrap"}},
		"link to host":      {"ok", ws, Program{Path: outside + "/bwrap", Link: root + "/ok/bwrap"}},
		"workspace first":   {"ws/bin:host", ws, Program{Path: outside + "/bwrap", Link: outside + "/bwrap", Skipped: []string{ws + "/bin/bwrap"}}},
		"link to workspace": {"linked", ws, Program{Skipped: []string{root + "/linked/bwrap"}}},
		"link to a link":    {"twice", ws, Program{Skipped: []string{root + "/twice/bwrap"}}},
		"linked folder":     {"dirlink", ws, Program{Skipped: []string{root + "/dirlink/bwrap"}}},
		"linked workspace":  {"ws/bin", root + "/wslink", Program{Skipped: []string{ws + "/bin/bwrap"}}},
		"out of workspace":  {"ws/out", ws, Program{Skipped: []string{ws + "/out/bwrap"}}},
		"not executable":    {"text:folder:none", ws, Program{}},
		"no workspace":      {"ws/bin", "", Program{Path: ws + "/bin/bwrap", Link: ws + "/bin/bwrap"}},
	} {
		t.Run(name, func(t *testing.T) {
			var dirs []string
			for dir := range strings.SplitSeq(tc.path, ":") {
				dirs = append(dirs, filepath.Join(root, dir))
			}
			got := find("bwrap", strings.Join(dirs, ":"), host.NewTools(host.Machine{Dir: tc.workspace}))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if got := find("bwrap", ".::bin", host.NewTools(host.Machine{})); got.Path != "" {
		t.Errorf("a relative PATH led to %s", got.Path)
	}
}

func TestNamed(t *testing.T) {
	root := tree(t, map[string]string{"ws/bwrap": "#!/bin/sh\n", "host/bwrap": "#!/bin/sh\n"})
	ws := filepath.Join(root, "ws")
	for path, want := range map[string]Program{
		root + "/host/bwrap": {Path: root + "/host/bwrap", Link: root + "/host/bwrap"},
		ws + "/bwrap":        {Problem: fmt.Sprintf("sandbox.bubblewrap names %q, which lies where runs write and is never run", ws+"/bwrap")},
		root + "/none":       {Problem: fmt.Sprintf("sandbox.bubblewrap names %q, which is no program", root+"/none")},
	} {
		if diff := cmp.Diff(want, named(path, host.NewTools(host.Machine{Dir: ws}))); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// fakePath is a PATH with programs that are shell scripts.
func fakePath(t *testing.T, scripts map[string]string) string {
	t.Helper()
	files := map[string]string{}
	for name, script := range scripts {
		files[name] = "#!/bin/sh\n" + script + "\n"
	}
	return tree(t, files)
}

// private keeps Gather from making folders in the home of whoever tests.
func private(t *testing.T) {
	t.Helper()
	t.Cleanup(xdg.Reload)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	xdg.Reload()
}

func TestGather(t *testing.T) {
	private(t)
	for name, tc := range map[string]struct {
		bwrap string
		want  Trial
	}{
		"works":  {`test "$1" = --version && echo bubblewrap 0.9.0; exit 0`, Trial{Ran: true, OK: true}},
		"fails":  {`test "$1" = --version && echo bubblewrap 0.9.0 && exit; echo bwrap: setting up uid map: Permission denied >&2; exit 1`, Trial{Ran: true, Stderr: uidMapDenied}},
		"silent": {`test "$1" = --version && echo bubblewrap 0.9.0 && exit; exit 3`, Trial{Ran: true, Stderr: "exit status 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := fakePath(t, map[string]string{"bwrap": tc.bwrap, "git": "echo git version 2.45.1"})
			m := Gather(t.Context(), Options{Path: path})
			if diff := cmp.Diff(tc.want, m.Trial, cmpopts.IgnoreFields(Trial{}, "Label")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if m.Bubblewrap.Version != "0.9.0" || m.Git.Version != "2.45.1" || m.Nix.Path != "" || m.StateDir.Problem != "" {
				t.Errorf("gathered %+v", m)
			}
		})
	}
}

// TestNeverExecutesTheWorkspace plants programs in every place that names them, and looks for what they would leave.
func TestNeverExecutesTheWorkspace(t *testing.T) {
	private(t)
	proof := filepath.Join(t.TempDir(), "executed")
	script := "touch " + proof
	ws := fakePath(t, map[string]string{"bwrap": script, "git": script, "nix": script, "true": script, "cat": script})
	t.Setenv("PATH", ws)
	for _, o := range []Options{{Workspace: ws}, {Workspace: ws, Path: ws}, {Workspace: ws, Bubblewrap: ws + "/bwrap"}} {
		m := Gather(t.Context(), o)
		if m.Bubblewrap.Path+m.Git.Path+m.Nix.Path != "" {
			t.Errorf("found %+v", m)
		}
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("a program of the workspace was executed")
	}
	// The positive control: the same programs do run when they are the host's.
	Gather(t.Context(), Options{Path: ws})
	if _, err := os.Stat(proof); err != nil {
		t.Error("the control did not run:", err)
	}
}

// TestExecuteEnds: a program that hangs and left a child behind is gone when its time is over.
func TestExecuteEnds(t *testing.T) {
	dir := fakePath(t, map[string]string{"hang": "sleep 1000 & echo $! >&2; wait"})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	a := execute(ctx, nil, dir+"/hang")
	if a.err != context.DeadlineExceeded {
		t.Errorf("ended with %v", a.err)
	}
	var pid int
	if _, err := fmt.Sscan(a.stderr, &pid); err != nil {
		t.Fatalf("%q: %v", a.stderr, err)
	}
	for range 100 {
		if syscall.Kill(pid, 0) == syscall.ESRCH || zombie(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("its child %d lives", pid)
}

// zombie says that a process ended and waits for a parent that may not reap it here.
func zombie(pid int) bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Contains(string(text), ") Z ")
}

func TestExecuteIsBounded(t *testing.T) {
	dir := fakePath(t, map[string]string{"loud": "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done"})
	if a := execute(t.Context(), nil, dir+"/loud"); a.err != nil || len(a.stdout) != 16<<10 {
		t.Errorf("kept %d bytes, %v", len(a.stdout), a.err)
	}
}

func TestExecuteIsClean(t *testing.T) {
	t.Setenv("GIT_CONFIG_COUNT", "1")
	dir := fakePath(t, map[string]string{"show": "pwd; env | cut -d= -f1 | sort | tr '\\n' ' '"})
	if a := execute(t.Context(), nil, dir+"/show"); a.stdout != "/\nHOME LC_ALL PATH PWD " && a.stdout != "/\nHOME LC_ALL OLDPWD PATH PWD _ " {
		t.Errorf("it saw %q", a.stdout)
	}
}

// TestHere looks at the machine that runs the tests: whatever it is, doctor ends, and says what to do.
func TestHere(t *testing.T) {
	private(t)
	r := Examine(Gather(t.Context(), Options{}))
	for _, c := range r.Checks {
		if c.Detail == "" || c.Status == Fail && c.Fix == "" && c.Name != "platform" {
			t.Errorf("%+v", c)
		}
	}
	t.Log("\n" + r.Text())
}

func BenchmarkFacts(b *testing.B) {
	for b.Loop() {
		Facts(Options{Workspace: "/nonexistent"})
	}
}

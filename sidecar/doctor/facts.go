package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"code.sidecar.dev/sandbox/cgroup"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/env/host"
)

// Options say what to look at.
type Options struct {
	// Workspace is the folder whose programs are never executed; empty is none.
	Workspace string
	// Path is where programs are looked up; empty is PATH of this process.
	Path string
	// Machine knows where runs write, whose programs are never executed, either; its folder is Workspace.
	Machine host.Machine
	// Bubblewrap is the program that the config names; empty is the first on Path.
	Bubblewrap string
	// Settings is what is wrong with sidecar's settings; empty is nothing.
	Settings string
}

// Facts gathers what can be read; it executes nothing and takes well under a millisecond.
func Facts(o Options) Machine {
	m := system{root: "/", env: os.Getenv}.machine()
	path := o.Path
	if path == "" {
		path = os.Getenv("PATH")
	}
	m.Workspace, m.Settings = o.Workspace, o.Settings
	o.Machine.Dir = o.Workspace
	tools := host.NewTools(o.Machine)
	m.Bubblewrap = find("bwrap", path, tools)
	if o.Bubblewrap != "" {
		m.Bubblewrap = named(o.Bubblewrap, tools)
	}
	m.Git, m.Nix = find("git", path, tools), find("nix", path, tools)
	return m
}

// system reads a machine's files below root, which tests replace.
type system struct {
	root string
	env  func(string) string
}

func (s system) machine() Machine {
	release := s.release()
	m := Machine{
		OS: runtime.GOOS, UID: os.Geteuid(),
		Distribution: release["ID"], Like: release["ID_LIKE"], Pretty: release["PRETTY_NAME"],
		Kernel: s.read("proc/sys/kernel/osrelease"), Banner: s.read("proc/version"),
		Container: s.container(),
		Sysctls:   s.sysctls(),
		AppArmor:  s.read("sys/module/apparmor/parameters/enabled") == "Y",
		Profile:   s.first(restrictPath, "/etc/apparmor.d/bwrap", "/etc/apparmor.d/usr.bin.bwrap"),
		Extra:     s.first(restrictExtra),
	}
	if m.OS == "darwin" {
		m.Mac = s.mac()
	}
	m.Cgroup = s.cgroup()
	m.Inside = s.env("SIDECAR") == "1"
	m.SessionDir = s.env("XDG_RUNTIME_DIR")
	return m
}

// read is a small file's text without the space around it; empty when it cannot be read.
func (s system) read(path string) string {
	const most = 64 << 10
	f, err := os.OpenFile(filepath.Join(s.root, path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	text := make([]byte, most)
	n, _ := f.Read(text)
	return string(bytes.TrimSpace(text[:n]))
}

func (s system) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(s.root, path))
	return err == nil
}

// first is the first of some absolute paths that exists.
func (s system) first(paths ...string) string {
	for _, p := range paths {
		if s.exists(p) {
			return p
		}
	}
	return ""
}

// release is /etc/os-release.
func (s system) release() map[string]string {
	text := s.read("etc/os-release")
	if text == "" {
		text = s.read("usr/lib/os-release")
	}
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			values[name] = strings.Trim(value, `"'`)
		}
	}
	return values
}

func (s system) sysctls() map[string]string {
	values := map[string]string{}
	for _, name := range []string{
		"kernel.unprivileged_userns_clone", "user.max_user_namespaces", "kernel.apparmor_restrict_unprivileged_userns",
		"fs.inotify.max_user_watches", "fs.inotify.max_user_instances",
	} {
		if text := s.read("proc/sys/" + strings.ReplaceAll(name, ".", "/")); text != "" {
			values[name] = text
		}
	}
	return values
}

// container names the container this is in. Files that say so by name come before hints in control groups.
func (s system) container() string {
	switch {
	case s.env("KUBERNETES_SERVICE_HOST") != "" || s.exists("var/run/secrets/kubernetes.io"):
		return "kubernetes"
	case s.exists("run/.containerenv"):
		return "podman"
	case s.exists(".dockerenv"):
		return "docker"
	}
	if name := s.read("run/systemd/container"); name != "" && name != "wsl" {
		return clean(name)
	}
	// Only root may read this one.
	for _, pair := range strings.Split(s.read("proc/1/environ"), "\x00") {
		if name, ok := strings.CutPrefix(pair, "container="); ok && name != "" && name != "wsl" {
			return clean(name)
		}
	}
	return containerHint(s.read("proc/1/cgroup") + "\n" + s.read("proc/self/cgroup"))
}

// containerHint finds a container's name in the paths of control groups.
func containerHint(cgroups string) string {
	for _, hint := range []struct{ part, name string }{
		{"kubepods", "kubernetes"}, {"libpod", "podman"}, {"/docker", "docker"}, {"/lxc", "lxc"},
	} {
		if strings.Contains(cgroups, hint.part) {
			return hint.name
		}
	}
	return ""
}

func (s system) cgroup() Cgroup {
	const top = "sys/fs/cgroup"
	if facts := cgroup.Look(s.root); facts.Mounted && s.exists(top+"/cgroup.controllers") {
		return Cgroup{Version: 2, Facts: facts.ForChild()}
	}
	if entries, _ := os.ReadDir(filepath.Join(s.root, top)); len(entries) > 0 {
		return Cgroup{Version: 1}
	}
	return Cgroup{}
}

// folders looks at sidecar's own folders, and makes them.
func folders(m *Machine) {
	m.StateDir = folder(config.StateDir())
	m.RuntimeDir = folder(config.RuntimeDir())
}

// folder tries to write.
func folder(path string, err error) Folder {
	if err != nil {
		return Folder{Problem: err.Error()}
	}
	f, err := os.CreateTemp(path, ".doctor-*")
	if err != nil {
		return Folder{Path: path, Problem: "writing to " + path + ": " + err.Error()}
	}
	defer func() { _ = os.Remove(f.Name()) }()
	f.Close()
	return Folder{Path: path, Free: free(path)}
}

func free(path string) int64 {
	var st syscall.Statfs_t
	if syscall.Statfs(path, &st) != nil {
		return -1
	}
	return int64(st.Bavail) * int64(st.Bsize)
}

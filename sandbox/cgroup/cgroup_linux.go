package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Files of a group, as the kernel names them.
const (
	procs    = "cgroup.procs"
	control  = "cgroup.subtree_control"
	killFile = "cgroup.kill"
)

// Names of our own groups: trees, this process's leaf, and runs.
const (
	treePrefix = "sidecar-"
	leaf       = "serve"
	runPrefix  = "run-"
)

// Look gathers the facts, of this process below the folder root, which is "/" but for tests.
func Look(root string) Facts {
	dir, mounted := ownFolder(read(filepath.Join(root, "proc/self/mountinfo")), read(filepath.Join(root, "proc/self/cgroup")))
	f := Facts{Mounted: mounted, Dir: dir}
	if dir == "" {
		return f
	}
	at := filepath.Join(root, dir)
	f.Own, f.Above = node(at), node(filepath.Dir(at))
	_, err := os.Stat(filepath.Join(at, "cgroup.type")) // which the first one alone does not have
	f.Root = errors.Is(err, os.ErrNotExist)
	self := strconv.Itoa(os.Getpid())
	f.Others = slices.ContainsFunc(strings.Fields(read(filepath.Join(at, procs))), func(pid string) bool { return pid != self })
	return f
}

// ownFolder is the folder of this process's group, by the texts of its mountinfo and cgroup (proc(5)).
func ownFolder(mounts, groups string) (dir string, mounted bool) {
	own := ""
	for line := range strings.Lines(groups) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			own = path
		}
	}
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		f := strings.Fields(before)
		if len(f) < 5 || !strings.HasPrefix(after, "cgroup2 ") {
			continue
		}
		mounted = true
		below, ok := strings.CutPrefix(own, strings.TrimSuffix(f[3], "/"))
		if ok && own != "" && !strings.HasPrefix(own, "/..") && (below == "" || below[0] == '/') {
			return filepath.Join(f[4], below), true
		}
	}
	return "", mounted
}

func node(dir string) Node {
	writable := true
	for _, name := range []string{"", procs, control} {
		const write = 2
		writable = writable && syscall.Access(filepath.Join(dir, name), write) == nil
	}
	return Node{Writable: writable, Controllers: strings.Fields(read(filepath.Join(dir, "cgroup.controllers"))), Enabled: strings.Fields(read(filepath.Join(dir, control)))}
}

func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// write writes a file of the kernel's, which is there or not.
func write(dir, name, text string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Tree is where the groups of runs are made.
type Tree struct {
	// Dir is its folder; was that of the group this process came from, and enabled that which was given controllers for it.
	Dir, was, enabled string
}

// Open makes this process's tree, and moves the process into it. What earlier ones left that were killed is cleared away. The
// error says why there is none.
func Open() (*Tree, error) {
	f := Look("/")
	base, err := f.Base()
	if err != nil {
		return nil, err
	}
	sweep(base)
	t := &Tree{Dir: filepath.Join(base, treePrefix+strconv.Itoa(os.Getpid())), was: f.Dir}
	err = t.enter(base)
	if errors.Is(err, os.ErrNotExist) { // another one, which was starting as well, took it for one that is left over
		err = t.enter(base)
	}
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("making control groups in %s: %w", base, err)
	}
	return t, nil
}

func (t *Tree) enter(base string) error {
	at := filepath.Join(t.Dir, leaf)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	if err := write(at, procs, "0"); err != nil { // 0 is who writes
		return err
	}
	for _, dir := range []string{base, t.Dir} {
		if Lacking(strings.Fields(read(filepath.Join(dir, control)))) == nil {
			continue
		}
		if err := write(dir, control, "+"+strings.Join(wanted, " +")); err != nil {
			return err
		}
		if dir == base {
			t.enabled = base
		}
	}
	return nil
}

// Close moves this process back and takes the tree away. Where the controllers keep it from going back, the next one's Open
// does the rest, or systemd at the end of the scope.
func (t *Tree) Close() {
	for _, dir := range []string{t.Dir, t.enabled} {
		if dir != "" {
			_ = write(dir, control, "-"+strings.Join(wanted, " -"))
		}
	}
	_ = write(t.was, procs, "0")
	_ = os.Remove(filepath.Join(t.Dir, leaf))
	_ = os.Remove(t.Dir)
}

// sweep clears away the trees of processes that are gone, and what still lives of their runs.
func sweep(base string) {
	trees, _ := filepath.Glob(filepath.Join(base, treePrefix+"*"))
	for _, tree := range trees {
		if !isEmpty(filepath.Join(tree, leaf)) {
			continue
		}
		runs, _ := filepath.Glob(filepath.Join(tree, runPrefix+"*"))
		for _, run := range runs {
			(&Group{dir: run}).remove()
		}
		_ = os.Remove(filepath.Join(tree, leaf))
		_ = os.Remove(tree)
	}
}

// isEmpty says that no process lives in a group, or below it.
func isEmpty(dir string) bool { return value(dir, "cgroup.events", "populated") == 0 }

// value is a number of a file that has a name and a number a line.
func value(dir, file, name string) int64 {
	for line := range strings.Lines(read(filepath.Join(dir, file))) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			return n
		}
	}
	return 0
}

// Group is the group of one run.
type Group struct {
	dir string
	fd  *os.File
}

var runs atomic.Int64

// New makes a group in a tree. It is the caller's to close.
func New(tree string, l Limits) (*Group, error) {
	g := &Group{dir: filepath.Join(tree, runPrefix+strconv.FormatInt(runs.Add(1), 10))}
	err := os.Mkdir(g.dir, 0o755)
	if err == nil {
		err = write(g.dir, "memory.oom.group", "1")
	}
	if err == nil {
		err = g.Set(l)
	}
	if err == nil {
		g.fd, err = os.Open(g.dir)
	}
	if err != nil {
		g.Close()
		return nil, fmt.Errorf("making a control group: %w", err)
	}
	return g, nil
}

// Set changes its limits.
func (g *Group) Set(l Limits) error {
	err := errors.Join(write(g.dir, "memory.max", orMax(l.Memory)), write(g.dir, "pids.max", orMax(int64(l.Processes))))
	if swap := write(g.dir, "memory.swap.max", "0"); !errors.Is(swap, os.ErrNotExist) { // there is none without swap
		err = errors.Join(err, swap)
	}
	return err
}

func orMax(n int64) string {
	if n <= 0 {
		return "max"
	}
	return strconv.FormatInt(n, 10)
}

// FD is for SysProcAttr.CgroupFD.
func (g *Group) FD() int { return int(g.fd.Fd()) }

// Use is what it has used so far.
func (g *Group) Use() Use {
	peak, _ := strconv.ParseInt(strings.TrimSpace(read(filepath.Join(g.dir, "memory.peak"))), 10, 64)
	return Use{Peak: peak, Killed: value(g.dir, "memory.events", "oom_kill") > 0, Refused: int(value(g.dir, "pids.events", "max"))}
}

// Kill ends all its processes; before Linux 5.14 nothing happens.
func (g *Group) Kill() { _ = write(g.dir, killFile, "1") }

// Close ends what is left in it and takes it away.
func (g *Group) Close() {
	if g.fd != nil {
		_ = g.fd.Close()
	}
	g.remove()
}

// removeFor is how long a group's last processes may take to end. One that stays is cleared away by the next Open.
const removeFor = 5 * time.Second

func (g *Group) remove() {
	pause := time.Millisecond
	for until := time.Now().Add(removeFor); ; {
		err := os.Remove(g.dir)
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(until) {
			return
		}
		g.Kill()
		time.Sleep(pause)
		pause = min(2*pause, 100*time.Millisecond)
	}
}

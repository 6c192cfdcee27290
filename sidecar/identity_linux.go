package sidecar

import (
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// identity tells whether a path still is the same file or folder; with the time of its last change, whether that still is
// as it was.
type identity struct {
	path     string
	dev, ino uint64
	changed  unix.Timespec
}

func identify(path string, unchanged bool) identity {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return identity{path: path}
	}
	id := identity{path: path, dev: uint64(st.Dev), ino: st.Ino}
	if unchanged {
		id.changed = st.Ctim
	}
	return id
}

// mountTable tells whether something was mounted or unmounted on this machine since it was asked before.
type mountTable struct {
	mu     sync.Mutex
	file   *os.File
	change uint64
}

// identity changes whenever the mount table does: poll(2) tells it of /proc/self/mounts (proc(5)). Where it cannot be told
// it changes each time.
func (t *mountTable) identity() identity {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		t.file = openMounts()
		t.change++
	}
	if t.file == nil || hasEvent(t.file) {
		t.change++
	}
	return identity{path: "mounts", ino: t.change}
}

// openMounts opens it past the runtime's own epoll, which os.Open would give it to: that asks for events, too, and each is told
// to one of those who ask.
func openMounts() *os.File {
	fd, err := unix.Open("/proc/self/mounts", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), "/proc/self/mounts")
}

func hasEvent(f *os.File) bool {
	poll := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLPRI}}
	n, err := unix.Poll(poll, 0)
	return err != nil || n > 0
}

func (t *mountTable) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
}

// runnable is how many threads of this machine run, or would if they had a processor (proc(5), /proc/loadavg). The one that
// asks counts.
func runnable() int {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0
	}
	running, _, _ := strings.Cut(fields[3], "/")
	n, _ := strconv.Atoi(running)
	return n
}

// scarcePercent is how much of the machine's memory must be available for what is only made ahead.
const scarcePercent = 10

// isMemoryScarce looks at what is available without swapping (proc(5), /proc/meminfo).
func isMemoryScarce() bool {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return false
	}
	kib := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if name, rest, ok := strings.Cut(line, ":"); ok {
			kib[name], _ = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
		}
	}
	total, available := kib["MemTotal"], kib["MemAvailable"]
	return total > 0 && available*100 < total*scarcePercent
}

package sandbox

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// weight is what a tree of processes uses.
type weight struct {
	count int
	// private is memory of single processes, shared the largest that one process has of what may be shared; bytes.
	private, shared int64
	// stopped are those that a signal stopped.
	stopped []int
}

// weighTree adds up a process and its descendants, as /proc tells (proc(5): task/TID/children, status).
// Orphans of a PID namespace are children of its first process, so they are found. It stops counting soon
// after stop processes.
func weighTree(pid, stop int) weight {
	var w weight
	todo := []int{pid}
	for len(todo) > 0 {
		pid, todo = todo[len(todo)-1], todo[:len(todo)-1]
		w.add(pid)
		if stop > 0 && w.count > stop+32 {
			return w
		}
		todo = append(todo, children(pid)...)
	}
	return w
}

// add reads one process's status: anonymous memory is its own (as far as forks have not shared it), shared
// memory and files in memory count once.
func (w *weight) add(pid int) {
	w.count++
	text, err := readAll("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return
	}
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		switch {
		case len(f) < 2:
		case string(f[0]) == "RssAnon:":
			w.private += kilobytes(f[1])
		case string(f[0]) == "RssShmem:":
			w.shared = max(w.shared, kilobytes(f[1]))
		case string(f[0]) == "Threads:":
			if n, err := strconv.Atoi(string(f[1])); err == nil {
				w.count += n - 1
			}
		case string(f[0]) == "State:" && f[1][0] == 'T':
			w.stopped = append(w.stopped, pid)
		}
	}
}

// readAll is os.ReadFile without what that does to wait for files that can be waited for, twice as many system calls: a run is
// looked at ten times a second.
func readAll(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	for text := make([]byte, 0, 4096); ; text = slices.Grow(text, 1024) {
		n, err := unix.Read(fd, text[len(text):cap(text)])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, err
		case n == 0:
			return text, nil
		}
		text = text[:len(text)+max(n, 0)]
	}
}

func kilobytes(f []byte) int64 {
	n, _ := strconv.ParseInt(string(f), 10, 64)
	return n << 10
}

// children are the children of every thread of a process.
func children(pid int) []int {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []int
	for _, t := range threads {
		text, _ := readAll(dir + "/" + t.Name() + "/children")
		for _, f := range bytes.Fields(text) {
			if n, err := strconv.Atoi(string(f)); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

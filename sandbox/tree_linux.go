package sandbox

import (
	"bytes"
	"os"
	"strconv"
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
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
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
		text, _ := os.ReadFile(dir + "/" + t.Name() + "/children")
		for _, f := range bytes.Fields(text) {
			if n, err := strconv.Atoi(string(f)); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

package sandbox

import (
	"bytes"
	"os"
	"strconv"
)

// weighTree counts a process and its descendants, and adds up their resident memory in bytes, as /proc
// tells (proc(5): task/TID/children, statm). Orphans of a PID namespace are children of its first process,
// so they are found. It stops counting soon after stop processes.
func weighTree(pid, stop int) (count int, resident int64) {
	page := int64(os.Getpagesize())
	todo := []int{pid}
	for len(todo) > 0 {
		pid, todo = todo[len(todo)-1], todo[:len(todo)-1]
		count++
		resident += residentPages(pid) * page
		if stop > 0 && count > stop+32 {
			return count, resident
		}
		todo = append(todo, children(pid)...)
	}
	return count, resident
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

// residentPages is a process's resident memory less the file pages that it shares with others.
func residentPages(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	f := bytes.Fields(text)
	if len(f) < 3 {
		return 0
	}
	all, _ := strconv.ParseInt(string(f[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(f[2]), 10, 64)
	return max(0, all-shared)
}

//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sandbox/shim"
)

// process is one below this one.
type process struct {
	pid, parent int
	state       byte
	// args are its arguments, each ended by a zero.
	args string
}

// processes are all below this one, without those that have ended. It asks for the children of each (proc(5),
// task/TID/children): this is called all the time, and there are many processes on a machine that are none of ours.
func processes() (below []process) {
	todo := []int{os.Getpid()}
	for len(todo) > 0 {
		pid := todo[0]
		todo = todo[1:]
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/children", pid))
		for _, thread := range threads {
			text, _ := os.ReadFile(thread)
			for _, field := range strings.Fields(string(text)) {
				child, _ := strconv.Atoi(field)
				todo = append(todo, child)
				if p, ok := read(child); ok && p.state != 'Z' {
					below = append(below, p)
				}
			}
		}
	}
	return below
}

// read reads a process as proc(5) has it.
func read(pid int) (process, bool) {
	dir := fmt.Sprintf("/proc/%d", pid)
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return process{}, false
	}
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
	fields := strings.Fields(rest)
	parent, _ := strconv.Atoi(fields[1])
	args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
	return process{pid, parent, fields[0][0], string(args)}, true
}

// reap collects the dead whose parents are gone: this process is theirs now.
func reap() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err != nil || pid <= 0 {
			return
		}
	}
}

// role is a part that a process has; it is asked with all processes.
type role struct {
	name string
	has  func(p process, all []process) bool
}

var (
	theServer = role{"the sidecar", func(p process, _ []process) bool { return strings.Contains(p.args, "\x00serve\x00--workspace\x00") }}
	theClient = role{"sidecar run", func(p process, _ []process) bool { return strings.Contains(p.args, "\x00run\x00--language\x00") }}
	theMCP    = role{"sidecar mcp", func(p process, _ []process) bool { return strings.HasSuffix(p.args, "sidecar\x00mcp\x00") }}
	theLSP    = role{"sidecar lsp", func(p process, _ []process) bool { return strings.HasSuffix(p.args, "sidecar\x00lsp\x00") }}
	theBwrap  = role{"bubblewrap", func(p process, all []process) bool { return isBwrap(p) && !isBwrap(parent(p, all)) }}
	theFirst  = role{"the sandbox's first process", func(p process, all []process) bool { return isBwrap(p) && isBwrap(parent(p, all)) }}
	theShim   = role{"the shim", func(p process, _ []process) bool { return p.args == shim.Program+"\x00" }}
	theCode   = role{"the program", func(p process, all []process) bool {
		return parent(p, all).args == shim.Program+"\x00" && p.args != parent(p, all).args
	}}
)

func isBwrap(p process) bool { return strings.Contains(p.args, "bwrap\x00--args\x00") }

func parent(p process, all []process) process {
	for _, q := range all {
		if q.pid == p.parent {
			return q
		}
	}
	return process{}
}

// pids are the processes that have a part.
func (r role) pids() (pids []int) {
	all := processes()
	for _, p := range all {
		if r.has(p, all) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

func (r role) isThere() bool { return len(r.pids()) > 0 }

// signal sends one to all that have a part, of which there must be some.
func (r role) signal(s unix.Signal) error {
	pids := r.pids()
	if len(pids) == 0 {
		return fmt.Errorf("there is no process of %s", r.name)
	}
	for _, pid := range pids {
		_ = unix.Kill(pid, s)
	}
	return nil
}

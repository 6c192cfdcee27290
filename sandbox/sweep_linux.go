package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sandbox/shim"
)

// Sweep ends what was left where a process was killed in the moment in which it started a sandbox: bubblewrap's first process
// asks to die with its parent only when it has made all mounts, and before that waits for the parent's word, perhaps for ever
// (do_init and child_wait_fd in bubblewrap.c of 0.8).
func Sweep() {
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && isBackend(pid) {
			endOrphan(pid)
		}
	}
}

// endOrphan ends a backend's process whose parent is none, as that of one that goes on is, and which no sidecar started itself:
// then it would lead a group, but no session.
func endOrphan(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	parent, group, session := familyOf(pid)
	if isBackend(pid) && parent > 0 && (group != pid || session == pid) && !isBackend(parent) {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

// isBackend says that a process is bubblewrap with the arguments of our plans.
func isBackend(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && bytes.Contains(text, []byte("\x00--args\x00")) && bytes.HasSuffix(text, []byte("\x00--\x00"+shim.Program+"\x00"))
}

// familyOf is a process's parent, its group and its session (proc(5), stat); zeros when it is gone.
func familyOf(pid int) (parent, group, session int) {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 4 {
		return 0, 0, 0
	}
	parent, _ = strconv.Atoi(fields[1])
	group, _ = strconv.Atoi(fields[2])
	session, _ = strconv.Atoi(fields[3])
	return parent, group, session
}

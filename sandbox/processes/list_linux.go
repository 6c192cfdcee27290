package processes

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// boot is when the machine started: proc(5) counts from there, in ticks of a hundredth of a second.
var boot = sync.OnceValue(func() time.Time {
	text, _ := os.ReadFile("/proc/stat")
	for line := range bytes.Lines(text) {
		var at int64
		if n, _ := fmt.Sscanf(string(line), "btime %d", &at); n == 1 {
			return time.Unix(at, 0)
		}
	}
	return time.Time{}
})

// List is all processes of a user, threads of the kernel not among them.
func List(uid int) ([]Process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var out []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != uid {
			continue
		}
		if p, ok := look(pid); ok {
			out = append(out, p)
		}
	}
	return out, nil
}

// look reads one (proc(5), /proc/PID/stat). The name in it may hold anything, and ends at the last parenthesis.
func look(pid int) (Process, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	i := bytes.LastIndexByte(text, ')')
	if err != nil || i < 0 {
		return Process{}, false
	}
	f := bytes.Fields(text[i+1:])
	if len(f) < 20 {
		return Process{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(string(f[i])); return n }
	state := f[0][0]
	started := boot().Add(time.Duration(number(19)) * 10 * time.Millisecond)
	return Process{PID: pid, Parent: number(1), Group: number(2), Session: number(3), Started: started, Stopped: state == 'T', Zombie: state == 'Z' || state == 'X'}, true
}

// UseOf is what a process takes; false when it is gone.
func UseOf(pid int) (Use, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return Use{}, false
	}
	var u Use
	for line := range bytes.Lines(text) {
		var n int64
		if c, _ := fmt.Sscanf(string(line), "RssAnon: %d kB", &n); c == 1 {
			u.Memory = n << 10
		}
		if c, _ := fmt.Sscanf(string(line), "Threads: %d", &n); c == 1 {
			u.Threads = int(n)
		}
	}
	return u, true
}

package processes

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// States of a process (sys/proc.h of XNU: SSTOP, SZOMB).
const (
	stateStopped = 4
	stateZombie  = 5
)

// List is all processes of a user (sysctl kern.proc.uid, sysctl(3)).
func List(uid int) ([]Process, error) {
	infos, err := unix.SysctlKinfoProcSlice("kern.proc.uid", uid)
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	out := make([]Process, 0, len(infos))
	for i := range infos {
		k := &infos[i]
		pid := int(k.Proc.P_pid)
		session, err := unix.Getsid(pid)
		if err != nil {
			session = 0
		}
		out = append(out, Process{PID: pid, Parent: int(k.Eproc.Ppid), Group: int(k.Eproc.Pgid), Session: session,
			Started: time.Unix(k.Proc.P_starttime.Unix()), Stopped: k.Proc.P_stat == stateStopped, Zombie: k.Proc.P_stat == stateZombie})
	}
	return out, nil
}

// What proc_info(2) of XNU is asked (bsd/sys/proc_info.h, proc_info_private.h), as libproc does it: proc_pidinfo with
// PROC_PIDTASKINFO, and proc_pid_rusage with RUSAGE_INFO_V0.
const (
	sysProcInfo  = 336 // bsd/kern/syscalls.master
	callPIDInfo  = 2
	callPIDUsage = 9
	pidTaskInfo  = 4
)

// taskInfo is struct proc_taskinfo.
type taskInfo struct {
	virtual, resident, totalUser, totalSystem, threadsUser, threadsSystem uint64

	policy, faults, pageins, cowFaults, sent, received, mach, unix, switches, threads, running, priority int32
}

// usage is struct rusage_info_v0.
type usage struct {
	uuid                                                           [16]byte
	user, system, idleWakeups, interruptWakeups, pageins           uint64
	wired, resident, footprint, startedAbsolute, terminateAbsolute uint64
}

// UseOf is what a process takes; false when it is gone. Memory is its footprint: what it alone is charged for.
func UseOf(pid int) (Use, bool) {
	var t taskInfo
	n, _, errno := syscall.Syscall6(sysProcInfo, callPIDInfo, uintptr(pid), pidTaskInfo, 0, uintptr(unsafe.Pointer(&t)), unsafe.Sizeof(t))
	if errno != 0 || n < unsafe.Sizeof(t) {
		return Use{}, false
	}
	u := Use{Memory: int64(t.resident), Threads: int(t.threads)} //nolint:gosec // of one machine
	var r usage
	if _, _, errno := syscall.Syscall6(sysProcInfo, callPIDUsage, uintptr(pid), 0, 0, uintptr(unsafe.Pointer(&r)), 0); errno == 0 {
		u.Memory = int64(r.footprint) //nolint:gosec // of one machine
	}
	runtime.KeepAlive(&t)
	runtime.KeepAlive(&r)
	return u, true
}

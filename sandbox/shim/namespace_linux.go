//go:build linux && (amd64 || arm64)

package shim

import (
	"strconv"
	"syscall"
)

// limitNamespaces sets what the program must not be able to set back: how many processes the PID namespace
// may have, and that only one more user namespace, the program's own, can be made (namespaces(7),
// /proc/sys/user). Then what of /proc and /dev answers to the user id alone becomes read-only.
func (p Plan) limitNamespaces() (string, syscall.Errno) {
	if p.PIDMax > 0 {
		if errno := writeFile("/proc/sys/kernel/pid_max", strconv.Itoa(p.PIDMax)); errno != 0 {
			return "pid_max", errno
		}
	}
	if !p.NewUser {
		return "", 0
	}
	if errno := writeFile("/proc/sys/user/max_user_namespaces", "1"); errno != 0 {
		return "max_user_namespaces", errno
	}
	if errno := leaveWatches(); errno != 0 {
		return "inotify", errno
	}
	for _, path := range KernelFiles {
		if errno := (Pin{Kind: Frozen, Path: path}).make(); errno != 0 && errno != syscall.ENOENT {
			return "kernel-files", errno
		}
	}
	for _, path := range KernelSecrets {
		if errno := (Pin{Kind: Covered, Path: path}).make(); errno != 0 && errno != syscall.ENOENT {
			return "kernel-secrets", errno
		}
	}
	for _, path := range Devices {
		if errno := readOnly(path); errno != 0 && errno != syscall.ENOENT {
			return "devices", errno
		}
	}
	return "", 0
}

// leaveWatches leaves half of what inotify gives a user to their programs outside, editors and the guard among them: what a run
// takes counts for who started it, in each user namespace above (inotify(7), /proc/sys/user).
func leaveWatches() syscall.Errno {
	for _, name := range [...]string{"instances", "watches"} {
		most, errno := readNumber("/proc/sys/fs/inotify/max_user_" + name)
		if errno == 0 {
			errno = writeFile("/proc/sys/user/max_inotify_"+name, strconv.Itoa(most/2))
		}
		if errno != 0 && errno != syscall.ENOENT { // a kernel without inotify has none of these
			return errno
		}
	}
	return 0
}

func readNumber(path string) (int, syscall.Errno) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, err.(syscall.Errno)
	}
	defer func() { _ = syscall.Close(fd) }()
	var b [32]byte
	n, err := syscall.Read(fd, b[:])
	if err != nil {
		return 0, err.(syscall.Errno)
	}
	value := 0
	for _, c := range b[:n] {
		if c >= '0' && c <= '9' {
			value = value*10 + int(c-'0')
		}
	}
	return value, 0
}

func writeFile(path, text string) syscall.Errno {
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err.(syscall.Errno)
	}
	defer func() { _ = syscall.Close(fd) }()
	if _, err := syscall.Write(fd, []byte(text)); err != nil {
		return err.(syscall.Errno)
	}
	return 0
}

// FullFolder begins a line of the report: at the program's end the folder that it names had no room left.
const FullFolder = "full "

// isFull says that there is no room left in it, for data or for files.
func (s Scratch) isFull() bool {
	var st syscall.Statfs_t
	return syscall.Statfs(s.Path, &st) == nil && (st.Bfree == 0 || st.Ffree == 0)
}

// bound limits the number of files of a tmpfs(5): its size alone does not, since an empty file takes a
// kilobyte of the kernel's memory and none of the file system's.
func (s Scratch) bound() syscall.Errno {
	err := syscall.Mount("", s.Path, "", syscall.MS_REMOUNT|syscall.MS_NOSUID|syscall.MS_NODEV, "nr_inodes="+strconv.Itoa(s.Inodes))
	if err != nil {
		return err.(syscall.Errno)
	}
	return 0
}

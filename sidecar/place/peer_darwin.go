package place

import "golang.org/x/sys/unix"

// peer asks the kernel who is at the other end of a socket: LOCAL_PEERCRED and LOCAL_PEERPID, unix(4).
func peer(fd int) (uid, pid int, err error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, 0, err
	}
	pid, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	return int(cred.Uid), pid, err
}

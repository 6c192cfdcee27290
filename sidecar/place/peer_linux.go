package place

import "golang.org/x/sys/unix"

// peer asks the kernel who is at the other end of a socket: SO_PEERCRED, unix(7).
func peer(fd int) (uid, pid int, err error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, 0, err
	}
	return int(cred.Uid), int(cred.Pid), nil
}

package place

import (
	"fmt"
	"net"
	"os"
)

// SameUser refuses a connection of another user.
func SameUser(conn net.Conn) error {
	uid, _, err := peerOf(conn)
	if err != nil {
		return err
	}
	if uid != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d; want user %d", uid, os.Geteuid())
	}
	return nil
}

// PID is the process at the other end, or 0.
func PID(conn net.Conn) int {
	_, pid, err := peerOf(conn)
	if err != nil {
		return 0
	}
	return pid
}

func peerOf(conn net.Conn) (uid, pid int, err error) {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return -1, 0, fmt.Errorf("%T is no unix socket", conn)
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return -1, 0, err
	}
	var asked error
	if err := raw.Control(func(fd uintptr) { uid, pid, asked = peer(int(fd)) }); err != nil {
		return -1, 0, err
	}
	return uid, pid, asked
}

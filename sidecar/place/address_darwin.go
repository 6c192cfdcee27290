//go:build darwin

package place

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sidecar/protocol"
)

// longest is how long a socket's path may be: sun_path has 104 bytes with its end (unix(4) of macOS and the BSDs).
const longest = 103

func address(path string) (name string, done func(), err error) {
	if len(path) > longest {
		return "", nil, &protocol.Error{Kind: protocol.Denied, Message: fmt.Sprintf("the path of the socket, %s, has %d bytes; the system allows %d", path, len(path), longest),
			Hint: "set XDG_STATE_HOME to a shorter path"}
	}
	return path, func() {}, nil
}

// sameUser asks the kernel who is at the other end: LOCAL_PEERCRED, unix(4).
func sameUser(conn net.Conn) error {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("no unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return err
	}
	uid, failed := -1, error(nil)
	if err := raw.Control(func(fd uintptr) { uid, failed = peerUID(int(fd)) }); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if uid != os.Geteuid() {
		return errUser(uid)
	}
	return nil
}

func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}

// PID is the process at the other end, or 0.
func PID(net.Conn) int { return 0 }

package session

import "golang.org/x/sys/unix"

// queued asks how many bytes a pipe holds (FIONREAD, ioctl_tty(2)).
const queued = unix.TIOCINQ

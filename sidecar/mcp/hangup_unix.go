//go:build unix

package mcp

import (
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// watchHangup calls gone when nobody can read out any more. A client that dies closes our input too, unless a
// child of its own inherited it: then this is the only sign. (The parent's process id is none: a wrapper that
// starts us and leaves is no client.)
func watchHangup(ctx context.Context, out io.Writer, gone func()) {
	file, ok := out.(*os.File)
	if !ok {
		return
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return
	}
	go func() {
		for ctx.Err() == nil {
			hungUp := false
			if err := raw.Control(func(fd uintptr) { hungUp = pollHangup(fd) }); err != nil {
				return
			}
			if hungUp {
				gone()
				return
			}
		}
	}()
}

// pollHangup waits some seconds for the other end to go away.
func pollHangup(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd)}}
	n, err := unix.Poll(fds, int((5 * time.Second).Milliseconds()))
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}

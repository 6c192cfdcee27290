//go:build unix && !linux

package hold

import "golang.org/x/sys/unix"

const stepFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func openFolder(at int, dir string) (int, error) { return openStepwise(at, dir) }

// publishWhole is for systems with unnamed files.
func publishWhole(int, string, string) error { return unix.ENOTSUP }

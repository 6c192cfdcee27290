package place

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"code.sidecar.dev/sidecar/config"
)

// waitingFile is locked, shared, by each program that asks a person on behalf of all sidecars: one that has just started is
// then not met by it yet, and does well to wait.
const waitingFile = "approve.lock"

// Wait says, until done is called, that this process asks a person for every sidecar of the user.
func Wait() (done func(), err error) {
	f, err := openWaiting(os.O_CREATE)
	if err != nil {
		return nil, err
	}
	// Not without waiting: who looks whether somebody has it (Waits) has it for a moment.
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// Waits says whether some process does.
func Waits() bool {
	f, err := openWaiting(0)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

func openWaiting(flags int) (*os.File, error) {
	dir, err := config.RuntimeDir()
	if err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, waitingFile), os.O_RDWR|flags|syscall.O_NOFOLLOW, 0o600)
}

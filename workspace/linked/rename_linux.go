package linked

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames a folder to a name that must not exist.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // a file system that cannot, such as NFS
		return renameLooking(from, to)
	}
	return err
}

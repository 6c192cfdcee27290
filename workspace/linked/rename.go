package linked

import "os"

// renameLooking looks first. Between look and rename another git may make an empty folder of the name, which rename(2)
// replaces; it would have to make a worktree of the same name in the same microseconds.
func renameLooking(from, to string) error {
	if exists(to) {
		return os.ErrExist
	}
	return os.Rename(from, to)
}

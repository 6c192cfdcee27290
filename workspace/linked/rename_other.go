//go:build !linux

package linked

// renameNew renames a folder to a name that must not exist.
func renameNew(from, to string) error { return renameLooking(from, to) }

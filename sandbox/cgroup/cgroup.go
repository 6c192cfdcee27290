// Package cgroup bounds the memory and the processes of whole runs by control groups of version 2 (cgroups(7), the kernel's
// Documentation/admin-guide/cgroup-v2.rst), where this user has some to himself.
//
//	tree, err := cgroup.Open()                     // once, by the process that starts the runs: it moves into the tree
//	g, err := cgroup.New(tree.Dir, cgroup.Limits{Memory: 4 << 30, Processes: 1024})
//	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
//
// A group whose children have controllers of their own may hold no process itself. So the tree is a folder
// "sidecar-PID" with a leaf for the process itself and one for each run. It is made where that moves nobody else: in our own
// group when no other process is in it, or beside that where the group above has the controllers on. Where systemd owns the
// groups, which are then not for others to change (systemd's CGROUP_DELEGATION.md), Scope has it give us one.
//
// It bounds; it hides and protects nothing.
package cgroup

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// wanted are the controllers without which a tree is of no use.
var wanted = []string{"memory", "pids"}

// Node is what is known of one group.
type Node struct {
	// Writable says that this user may make groups in it, and move processes.
	Writable bool
	// Controllers are those it has, Enabled those its children have.
	Controllers, Enabled []string
}

// Facts are what is known of this process's place among the groups.
type Facts struct {
	// Mounted says that there is a file system of version 2; Dir is the folder of this process's own group, "" when that is
	// not to be seen.
	Mounted bool
	Dir     string
	Own     Node
	// Root says that it is the machine's first group, which may hold processes whatever its children have.
	Root bool
	// Others says that it holds other processes than this one.
	Others bool
	// Above is the group that it lies in.
	Above Node
}

// Reasons for which there is no place for a tree.
var (
	ErrNotMounted = errors.New("no file system of control groups v2 is mounted")
	ErrNotSeen    = errors.New("this process's control group is not to be seen from here")
	ErrNotOurs    = errors.New("this process's control group is not this user's to change")
	ErrShared     = errors.New("other processes are in this process's control group, and are not sidecar's to move")
)

// Base is the folder in which a tree can be made.
func (f Facts) Base() (string, error) {
	switch {
	case !f.Mounted:
		return "", ErrNotMounted
	case f.Dir == "":
		return "", ErrNotSeen
	case f.Own.Writable && (f.Root || !f.Others):
		return f.Dir, Lacking(f.Own.Controllers)
	case f.Root || !f.Above.Writable || f.Managed():
		if f.Own.Writable {
			return "", ErrShared
		}
		return "", ErrNotOurs
	}
	return path.Dir(f.Dir), Lacking(f.Above.Enabled)
}

// ForChild are the facts of a process that this one starts: it is not alone in the group.
func (f Facts) ForChild() Facts {
	f.Others = true
	return f
}

// Managed says that the group is systemd's, by its name.
func (f Facts) Managed() bool {
	return slices.ContainsFunc(strings.Split(f.Dir, "/"), func(name string) bool {
		return slices.Contains([]string{".slice", ".scope", ".service"}, path.Ext(name))
	})
}

// Lacking says which controller is missing without which a tree is of no use; nil is none.
func Lacking(have []string) error {
	for _, name := range wanted {
		if !slices.Contains(have, name) {
			return fmt.Errorf("the controller %q is not handed down to this user's control groups", name)
		}
	}
	return nil
}

// Limits bound a group. Zero is no limit of that kind.
type Limits struct {
	// Memory is in bytes, and is that of all processes and of their files in memory, without what could be read again.
	Memory int64
	// Processes counts threads as well.
	Processes int
}

// Use is what a group has used so far.
type Use struct {
	// Peak is the most memory at one time, in bytes; 0 where the kernel does not say (before Linux 5.19).
	Peak int64
	// Killed says that the kernel ended it for want of memory; Refused is how many processes or threads it could not start.
	Killed  bool
	Refused int
}

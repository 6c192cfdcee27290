// Package linked makes linked git worktrees for agents' sessions, reopens, lists, sums up and drops them, on the
// host, without running a program that the repository names.
//
//	trees, err := linked.Open(ws, linked.Options{Folder: stateDir + "/worktrees", Git: "/usr/bin/git"})
//	tree, err := trees.Make(ctx, "topic", "main")
//	before, err := trees.Look(ctx, tree)
//	// a session works in tree.Path
//	sum, err := trees.Summary(ctx, tree, before)
//	fmt.Print(sum.Text())
//
// The repository is not trusted: it comes with a clone, and an agent has worked in it. Its config, hooks and
// attributes can make git execute anything, and there is no end to the keys that do. So they are not overridden
// one by one: git is run in a private git directory (see shadow) that has the repository's objects and refs and
// none of its config, hooks or drivers, with an environment made from nothing. What little of the config decides
// what a checked-out file looks like (line ends, file modes) is carried over by name.
//
// Worktrees lie in a folder of sidecar's own, outside every checkout, so that neither the person's editor, search
// and build nor "git status" meet them, and no run in another checkout can prepare the way to them.
//
// What this does not do: filters are not run, also not the person's own (Git LFS: its files are pointers until
// "git lfs pull"); submodules stay empty; sparse checkouts come out whole; repositories whose refs are a reftable
// are refused. It does not know whether something runs in a worktree: the caller asks before it drops one. It
// trusts git itself with hostile objects, refs and indexes, as every "git status" does.
package linked

import (
	"errors"
	"time"
)

// Options say where worktrees lie and what makes them.
type Options struct {
	// Folder is an absolute folder of the person's own, outside of the repository and its checkouts; a folder for each
	// repository is made below it, and in that one for each worktree.
	Folder string
	// Git is git's absolute path (2.30 or newer), found by the caller where no run can put one.
	Git string
	// Path is the PATH that git gets; "" is the system's own folders. It must name no folder that a run can write.
	Path string
}

// Tree is one worktree of an agent.
type Tree struct {
	// Name is what it was asked for by, and the branch it was made with.
	Name string `json:"name"`
	// Branch is what is checked out in it now; "" when HEAD is detached or cannot be read.
	Branch string `json:"branch"`
	// Path is its folder.
	Path string `json:"path"`
	// Admin is its folder in the common git dir's "worktrees"; "" when there is none any more.
	Admin string `json:"admin"`
	// Base is what the branch was made from, as the person named it; "" when the branch was there before.
	Base string `json:"base"`
	// OwnBranch says that the branch called Name was made with the worktree, and goes with it.
	OwnBranch bool `json:"ownBranch"`
	// Start is the commit at which the worktree was made, in hex.
	Start string `json:"start"`
	// Made is when.
	Made time.Time `json:"made"`
	// Condition says whether it can be worked in, and Why what is wrong, for people.
	Condition Condition `json:"condition"`
	Why       string    `json:"why,omitempty"`
	// Locked is the reason "git worktree lock" was given, or a word for none; "" when not locked.
	Locked string `json:"locked,omitempty"`
	// Reopened says that Make found it.
	Reopened bool `json:"reopened,omitempty"`
	// Notes are sentences for people about what is not as they may expect.
	Notes []string `json:"notes,omitempty"`
}

// Condition is what has become of a worktree.
type Condition string

// What can have become of a worktree.
const (
	Ready      Condition = "ready"
	Missing    Condition = "missing"    // its folder is gone, git still knows it
	Moved      Condition = "moved"      // git knows it at another place
	Gone       Condition = "gone"       // neither its folder nor git's entry is there
	Broken     Condition = "broken"     // folder and git's entry do not lead to each other
	Unfinished Condition = "unfinished" // its making was broken off
)

// Kinds of errors, for a caller to tell apart with errors.Is.
var (
	ErrName       = errors.New("the name cannot be a branch's")
	ErrRepository = errors.New("no repository that worktrees can be made of")
	ErrBase       = errors.New("the base names no commit")
	ErrInUse      = errors.New("the branch is checked out elsewhere")
	ErrCondition  = errors.New("the worktree is not in order")
	ErrUnsaved    = errors.New("work would be lost")
	ErrNone       = errors.New("no such worktree")
	ErrGit        = errors.New("git failed")
)

// Error is a worktree that could not be made, opened or dropped.
type Error struct {
	// Kind is one of the errors above.
	Kind error
	// Msg says what was asked and what stands against it, Hint what to do.
	Msg, Hint string
	// Err is the cause, or nil.
	Err error
}

// Error is the message and, on a line of its own, the hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Msg
	}
	return e.Msg + "\n" + e.Hint
}

// Unwrap gives kind and cause.
func (e *Error) Unwrap() []error { return []error{e.Kind, e.Err} }

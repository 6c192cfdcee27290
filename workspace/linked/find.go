package linked

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// List is all agents' worktrees of the repository, by name, also those that are not in order. It starts no program.
func (t *Trees) List() []*Tree {
	var out []*Tree
	for _, rec := range t.records() {
		tree, _, err := t.find(rec.Name)
		if err != nil || tree == nil || tree.Condition == Gone {
			continue
		}
		out = append(out, tree)
	}
	slices.SortFunc(out, func(a, b *Tree) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Find is the worktree called name, in whatever condition.
func (t *Trees) Find(name string) (*Tree, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	tree, _, err := t.find(name)
	if err == nil && (tree == nil || tree.Condition == Gone) {
		err = t.none(name)
	}
	if err != nil {
		return nil, err
	}
	return tree, nil
}

func (t *Trees) none(name string) error {
	var names []string
	for _, tree := range t.List() {
		names = append(names, tree.Name)
	}
	e := &Error{Kind: ErrNone, Msg: fmt.Sprintf("worktree %q: there is none of this name for %s", name, t.Main)}
	switch near := nearest(name, names); {
	case len(near) > 0:
		e.Hint = "there is " + strings.Join(near, ", ")
	case len(names) > 0:
		e.Hint = "there are: " + strings.Join(names[:min(len(names), 10)], ", ")
	default:
		e.Hint = "there is no agent's worktree of this repository at all"
	}
	return e
}

// find looks what there is of a name: nil when there is nothing.
func (t *Trees) find(name string) (*Tree, *record, error) {
	rec, err := t.readRecord(name)
	if err != nil {
		return nil, nil, err
	}
	path := t.path(name)
	if rec == nil {
		if rec = (&record{Name: name, Common: t.Common, Admin: t.adminOf(path)}); rec.Admin == "" && !exists(path) {
			return nil, nil, nil
		}
	}
	tree := &Tree{Name: name, Path: path, Admin: rec.Admin, Base: rec.Base, OwnBranch: rec.NewBranch, Start: rec.Start, Made: rec.Made}
	if rec.Making {
		tree.Condition, tree.Why = Unfinished, "its making was broken off"
		return tree, rec, nil
	}
	t.judge(tree)
	if tree.Admin != "" {
		tree.Branch = branchOf(tree.Admin)
		tree.Locked = lockReason(tree.Admin)
	}
	return tree, rec, nil
}

// judge says what has become of a worktree.
func (t *Trees) judge(tree *Tree) {
	there := exists(tree.Path)
	if tree.Admin != "" && gitdirOf(tree.Admin) == "" && !exists(tree.Admin) {
		tree.Admin = ""
	}
	if at := gitdirOf(tree.Admin); tree.Admin == "" || at != tree.Path {
		moved := tree.Admin != "" && at != "" && branchOf(tree.Admin) == tree.Name && exists(filepath.Join(at, ".git"))
		if admin := t.adminOf(tree.Path); admin != "" || !moved {
			tree.Admin, moved = admin, false
		}
		if moved {
			tree.Condition, tree.Why = Moved, fmt.Sprintf("it was moved to %s", at)
			return
		}
	}
	switch {
	case tree.Admin == "" && !there:
		tree.Condition, tree.Why = Gone, "git does not know it any more"
	case tree.Admin == "":
		tree.Condition, tree.Why = Broken, fmt.Sprintf("the folder %s exists and is no worktree of %s", tree.Path, t.Common)
	case !there:
		tree.Condition, tree.Why = Missing, fmt.Sprintf("its folder %s is gone", tree.Path)
	default:
		tree.Condition = Ready
		if fault := t.linkFault(tree.Path, tree.Admin); fault != "" {
			tree.Condition, tree.Why = Broken, fmt.Sprintf("folder and git do not belong together: %s", fault)
		}
	}
}

// branchOf is the branch that is checked out with a git dir; "" when none is.
func branchOf(gitDir string) string {
	head, err := readHead(gitDir)
	if err != nil {
		return ""
	}
	branch, _ := strings.CutPrefix(head, "ref: refs/heads/")
	if branch == head {
		return ""
	}
	return branch
}

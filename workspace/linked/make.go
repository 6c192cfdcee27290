package linked

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxMake bounds the making of one worktree; 100,000 files take some ten seconds.
const maxMake = 15 * time.Minute

// Make makes the worktree called name, and a branch of that name from base ("" is what is checked out in the
// workspace that Trees were opened for), or opens the one that is there. An existing branch is gone on with. Of two
// that make the same at once, one makes and the other opens. Nothing is left of a making that fails or is
// cancelled. Errors are *Error where the person can do something.
func (t *Trees) Make(ctx context.Context, name, base string) (*Tree, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxMake)
	defer cancel()
	var tree *Tree
	err := t.locked(ctx, func(t *Trees) (err error) {
		tree, err = t.reopen(ctx, name, base)
		if tree == nil && err == nil {
			tree, err = t.create(ctx, name, base)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return tree, nil
}

// Reopen opens the worktree called name, which must be there.
func (t *Trees) Reopen(ctx context.Context, name string) (*Tree, error) {
	var tree *Tree
	err := t.locked(ctx, func(t *Trees) (err error) {
		tree, err = t.reopen(ctx, name, "")
		if tree == nil && err == nil {
			err = t.none(name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return tree, nil
}

// reopen returns nil without error when there is nothing of the name.
func (t *Trees) reopen(ctx context.Context, name, base string) (*Tree, error) {
	tree, rec, err := t.find(name)
	if err != nil || tree == nil {
		return nil, err
	}
	switch {
	case tree.Condition == Unfinished:
		return nil, t.clear(ctx, rec)
	case tree.Condition == Gone:
		return nil, t.removeRecord(name) // the person removed it with git
	case tree.Condition != Ready:
		return nil, conditionError(tree)
	}
	tree.Reopened = true
	if base != "" && base != tree.Base {
		tree.Notes = append(tree.Notes, fmt.Sprintf("the worktree was there already, with commits from %s on: --base %s does not count", orWord(tree.Base, short(tree.Start)), base))
	}
	if tree.Branch != name {
		tree.Notes = append(tree.Notes, fmt.Sprintf("%s is checked out in it, not %s", orWord(tree.Branch, "a commit without a branch"), name))
	}
	return tree, nil
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

func short(id string) string { return id[:min(len(id), 10)] }

// conditionError says what to do about a worktree that is not in order.
func conditionError(tree *Tree) error {
	e := &Error{Kind: ErrCondition, Msg: fmt.Sprintf("worktree %q: %s", tree.Name, tree.Why)}
	drop := "sidecar worktree drop " + ShellQuote(tree.Name)
	switch tree.Condition {
	case Missing:
		e.Hint = fmt.Sprintf("its commits are in the branch; \"%s\" clears the rest away; if you moved the folder, run \"git worktree repair NEW-FOLDER\" and start sidecar there", drop)
		if tree.Locked != "" {
			e.Hint = fmt.Sprintf("it is locked (%s): bring the folder back, or run \"git worktree unlock %s\" and then \"%s\"", tree.Locked, ShellQuote(tree.Path), drop)
		}
	case Moved:
		e.Hint = "start sidecar there, or choose another name"
	default:
		e.Hint = fmt.Sprintf("\"git worktree repair %s\" may mend it; else move the folder away, or choose another name", ShellQuote(tree.Path))
	}
	return e
}

// create makes a worktree where there is nothing.
func (t *Trees) create(ctx context.Context, name, base string) (*Tree, error) {
	if err := checkFresh(name); err != nil {
		return nil, err
	}
	s, err := t.shadow(t.ws.Repo.GitDir)
	if err != nil {
		return nil, err
	}
	defer s.close()
	rec := t.newRecord(name)
	fresh, err := t.startOf(ctx, s, rec, base)
	if err != nil {
		return nil, err
	}
	if err := t.writeRecord(rec); err != nil {
		return nil, err
	}
	notes, err := t.build(ctx, s, rec, fresh)
	if err != nil {
		return nil, errors.Join(t.explain(name, err), t.clear(context.WithoutCancel(ctx), rec))
	}
	tree, _, err := t.find(name)
	if err != nil {
		return nil, err
	}
	tree.Notes = append(tree.Notes, notes...)
	return tree, nil
}

func (t *Trees) newRecord(name string) *record {
	stage := stagePrefix + rand.Text()
	return &record{Name: name, Common: t.Common, Stage: stage, Making: true, Made: time.Now().UTC().Truncate(time.Second)}
}

// build makes folder, admin folder, branch (when fresh) and files, in the order in which git does.
func (t *Trees) build(ctx context.Context, s *shadow, rec *record, fresh bool) (notes []string, err error) {
	path := t.path(rec.Name)
	if err := os.Mkdir(path, 0o777); err != nil {
		return nil, err
	}
	if rec.Admin, err = t.makeAdmin(rec); err != nil {
		return nil, err
	}
	if err := t.writeRecord(rec); err != nil {
		return nil, err
	}
	if err := writeNew(filepath.Join(path, ".git"), "gitdir: "+rec.Admin+"\n"); err != nil {
		return nil, err
	}
	if fresh {
		if err := t.makeBranch(ctx, s, rec); err != nil {
			return nil, err
		}
	}
	s.at(path, rec.Admin)
	if notes, err = s.checkOut(ctx, rec.Start); err != nil {
		return nil, err
	}
	return notes, t.finish(rec)
}

// makeBranch makes the branch, which must not be there.
func (t *Trees) makeBranch(ctx context.Context, s *shadow, rec *record) error {
	if _, err := s.git(ctx, "update-ref", "refs/heads/"+rec.Name, rec.Start, strings.Repeat("0", len(rec.Start))); err != nil {
		return err
	}
	rec.NewBranch = true
	return t.writeRecord(rec)
}

// finish looks whether the worktree is what was made, and takes the marks off that it is not.
func (t *Trees) finish(rec *record) error {
	if fault := t.linkFault(t.path(rec.Name), rec.Admin); fault != "" {
		return errors.New(fault)
	}
	if path := filepath.Join(rec.Admin, "config.worktree"); exists(path) {
		return fmt.Errorf("%s appeared while the worktree was made, and not by sidecar", path)
	}
	rec.Making = false
	if err := t.writeRecord(rec); err != nil {
		return err
	}
	return os.Remove(filepath.Join(rec.Admin, "locked"))
}

// clear undoes an unfinished making. Nobody has worked in the folder yet.
func (t *Trees) clear(ctx context.Context, rec *record) error {
	if rec.Admin == "" {
		rec.Admin = t.adminOf(t.path(rec.Name))
	}
	if strings.HasPrefix(rec.Stage, stagePrefix) {
		if err := removeTree(t.Common, rec.Stage); err != nil {
			return err
		}
	}
	if rec.Admin != "" {
		if err := t.removeAdmin(rec.Admin); err != nil {
			return err
		}
	}
	if err := removeTree(t.Folder, folderName(rec.Name)); err != nil {
		return err
	}
	if rec.NewBranch {
		t.takeBack(ctx, rec)
	}
	return t.removeRecord(rec.Name)
}

// takeBack removes the branch if it is still what was made; another's of the same name stays.
func (t *Trees) takeBack(ctx context.Context, rec *record) {
	s, err := t.shadow(t.ws.Repo.GitDir)
	if err != nil {
		return
	}
	defer s.close()
	_, _ = s.git(ctx, "update-ref", "-d", "refs/heads/"+rec.Name, rec.Start)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

package linked

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Dropped is what Drop did away with.
type Dropped struct {
	Tree *Tree `json:"tree"`
	// Branch is the branch that was deleted, and Commit where it was; "" when none was.
	Branch string `json:"branch,omitempty"`
	Commit string `json:"commit,omitempty"`
	// Lost is what went with it, for people; none unless forced.
	Lost []string `json:"lost,omitempty"`
}

// Drop removes the worktree called name: its folder, git's entry for it, and its branch if that holds no commit
// that is not also in another branch, a remote's or a tag. A branch that was there before the worktree stays. Where
// work would be lost it refuses with ErrUnsaved and says what, unless forced. Ignored files go in any case, as with "git worktree remove".
// Whether something still runs there, the caller knows.
func (t *Trees) Drop(ctx context.Context, name string, force bool) (*Dropped, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	var out *Dropped
	err := t.locked(ctx, func(t *Trees) (err error) {
		out, err = t.drop(ctx, name, force)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t *Trees) drop(ctx context.Context, name string, force bool) (*Dropped, error) {
	tree, rec, err := t.find(name)
	if err != nil {
		return nil, err
	}
	switch {
	case tree == nil:
		return nil, t.none(name)
	case tree.Condition == Unfinished:
		return &Dropped{Tree: tree}, t.clear(ctx, rec)
	case tree.Condition == Moved || tree.Condition == Broken:
		return nil, conditionError(tree)
	case tree.Locked != "":
		return nil, &Error{Kind: ErrCondition, Msg: fmt.Sprintf("worktree %q: it is locked (%s)", name, tree.Locked),
			Hint: fmt.Sprintf("\"git worktree unlock %s\" first", ShellQuote(tree.Path))}
	}
	gitDir := tree.Admin
	if tree.Condition == Gone {
		gitDir = t.ws.Repo.GitDir
	}
	s, err := t.shadow(gitDir)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return t.dropWith(ctx, s, tree, force)
}

func (t *Trees) dropWith(ctx context.Context, s *shadow, tree *Tree, force bool) (*Dropped, error) {
	out := &Dropped{Tree: tree}
	ctx, cancel := context.WithTimeout(ctx, maxMake)
	defer cancel()
	lost, err := s.losses(ctx, tree)
	if err != nil && !force {
		return nil, &Error{Kind: ErrUnsaved, Msg: fmt.Sprintf("worktree %q: what would be lost cannot be found out: %v", tree.Name, err),
			Hint: "look yourself, then drop it with --force", Err: err}
	}
	if len(lost) > 0 && !force {
		return nil, &Error{Kind: ErrUnsaved, Msg: fmt.Sprintf("worktree %q: dropping it would lose %s", tree.Name, strings.Join(lost, ", ")),
			Hint: "commit and merge what is of use, or drop it with --force"}
	}
	out.Lost, out.Commit = lost, s.goes(ctx, tree)
	if err := t.erase(tree); err != nil {
		return nil, fmt.Errorf("worktree %q: %w", tree.Name, err)
	}
	return out, t.dropBranch(ctx, s, out)
}

// losses is what would be gone with a worktree and its branch, each a phrase.
func (s *shadow) losses(ctx context.Context, tree *Tree) ([]string, error) {
	var lost []string
	if tree.Condition == Ready {
		s.at(tree.Path, tree.Admin)
		text, err := s.looseText(ctx)
		if err != nil {
			return nil, err
		}
		lost = append(lost, text...)
	}
	if tree.Admin != "" && hasEntries(filepath.Join(tree.Admin, "modules")) {
		lost = append(lost, "the repositories of its submodules")
	}
	commits, err := s.lostCommits(ctx, tree)
	return append(lost, commits...), err
}

func (s *shadow) looseText(ctx context.Context) ([]string, error) {
	uncommitted, untracked, conflicts, err := s.status(ctx)
	if text := lossText(uncommitted, untracked, conflicts); text != "" {
		return []string{text}, err
	}
	return nil, err
}

func hasEntries(dir string) bool {
	entries, _ := os.ReadDir(dir)
	return len(entries) > 0
}

// lostCommits are those that nothing names any more once the worktree and its own branch are gone.
func (s *shadow) lostCommits(ctx context.Context, tree *Tree) ([]string, error) {
	var revs []string
	if s.goes(ctx, tree) != "" {
		revs = append(revs, "refs/heads/"+tree.Name)
	}
	if tree.Admin != "" && tree.Branch == "" {
		if _, err := s.commit(ctx, "HEAD"); err == nil {
			revs = append(revs, "HEAD")
		}
	}
	if len(revs) == 0 {
		return nil, nil
	}
	args := append(revs, "--not")
	if tree.OwnBranch {
		args = append(args, "--exclude="+tree.Name)
	}
	n, err := s.count(ctx, append(args, "--branches", "--tags", "--remotes")...)
	if n == 0 || err != nil {
		return nil, err
	}
	return []string{plural(n, "commit that no other branch or tag has", "commits that no other branch or tag has")}, nil
}

// goes is where the branch is that goes with a worktree: one that was made with it, and is checked out nowhere else;
// "" when none does.
func (s *shadow) goes(ctx context.Context, tree *Tree) string {
	if !tree.OwnBranch || s.trees.inUse(tree.Name, tree.Admin) != "" {
		return ""
	}
	tip, err := s.commit(ctx, "refs/heads/"+tree.Name)
	if err != nil {
		return ""
	}
	return tip
}

// erase removes folder, entry and record, in an order in which what is left, should it be broken off, is found again.
func (t *Trees) erase(tree *Tree) error {
	if err := removeTree(t.Folder, folderName(tree.Name)); err != nil {
		return err
	}
	if tree.Admin != "" {
		if err := t.removeAdmin(tree.Admin); err != nil {
			return err
		}
	}
	return t.removeRecord(tree.Name)
}

// dropBranch deletes the worktree's branch if it is still where it was looked at, and its log.
func (t *Trees) dropBranch(ctx context.Context, s *shadow, out *Dropped) error {
	if out.Commit == "" {
		return nil
	}
	s.tree = s.dir // the worktree's folder is gone
	if _, err := s.git(ctx, "update-ref", "-d", "refs/heads/"+out.Tree.Name, out.Commit); err != nil {
		return fmt.Errorf("the worktree is gone, its branch %q is still there: %w", out.Tree.Name, err)
	}
	out.Branch = out.Tree.Name
	if logs, err := os.OpenRoot(filepath.Join(t.Common, "logs")); err == nil {
		_ = logs.Remove(filepath.Join("refs", "heads", out.Branch))
		_ = logs.Close()
	}
	return nil
}

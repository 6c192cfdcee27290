package linked

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// State is where a repository's branches are at a moment, and one worktree among them.
type State struct {
	// Branch is what is checked out; "" when HEAD is detached.
	Branch string `json:"branch"`
	// Commit is what is checked out, in hex; "" when the branch has no commit.
	Commit string `json:"commit"`
	// Heads are the commits of all branches, by name, without "refs/heads/".
	Heads map[string]string `json:"heads"`
}

// maxLook bounds the looking up of all branches.
const maxLook = 30 * time.Second

// Look is the state of a worktree now, to compare with a later one.
func (t *Trees) Look(ctx context.Context, tree *Tree) (*State, error) {
	s, err := t.shadow(tree.Admin)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.look(ctx)
}

func (s *shadow) look(ctx context.Context) (*State, error) {
	ctx, cancel := context.WithTimeout(ctx, maxLook)
	defer cancel()
	out, err := s.git(ctx, "for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads")
	if err != nil {
		return nil, fmt.Errorf("looking at the branches of %s: %w", s.trees.Common, err)
	}
	st := &State{Branch: branchOf(s.dir), Heads: map[string]string{}}
	for line := range strings.Lines(out) {
		if id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			st.Heads[name] = id
		}
	}
	st.Commit, _ = s.commit(ctx, "HEAD")
	if !objectID.MatchString(st.Commit) {
		st.Commit = ""
	}
	return st, nil
}

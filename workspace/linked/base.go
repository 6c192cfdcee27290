package linked

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"code.sidecar.dev/workspace/plainfile"
)

// maxResolve bounds the looking up of a name: one like ":/fix" goes through the whole history.
const maxResolve = 30 * time.Second

// startOf settles at which commit a worktree starts; fresh says that its branch is to be made.
func (t *Trees) startOf(ctx context.Context, s *shadow, rec *record, base string) (fresh bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxResolve)
	defer cancel()
	if err := s.wayOfRef(ctx, rec.Name); err != nil {
		return false, err
	}
	tip, err := s.commit(ctx, "refs/heads/"+rec.Name)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if at := t.inUse(rec.Name, ""); at != "" {
		return false, &Error{Kind: ErrInUse, Msg: fmt.Sprintf("worktree %q: the branch %s is checked out in %s", rec.Name, rec.Name, at),
			Hint: "choose another name, or start sidecar there"}
	}
	if err == nil {
		rec.Start = tip
		return false, t.sameBase(ctx, s, rec, base)
	}
	rec.Start, err = t.resolve(ctx, s, rec.Name, base)
	rec.Base = orWord(base, orWord(t.ws.Repo.Branch, short(rec.Start)))
	return true, err
}

// sameBase refuses to go on with a branch that is not at the base that was asked for.
func (t *Trees) sameBase(ctx context.Context, s *shadow, rec *record, base string) error {
	if base == "" {
		return nil
	}
	want, err := t.resolve(ctx, s, rec.Name, base)
	if err != nil || want == rec.Start {
		return err
	}
	return &Error{Kind: ErrInUse, Msg: fmt.Sprintf("worktree %q: there is a branch of this name already, at %s; %s is %s", rec.Name, short(rec.Start), base, short(want)),
		Hint: "leave the base out to go on with the branch, or choose another name"}
}

// commit is the commit that a name stands for.
func (s *shadow) commit(ctx context.Context, name string) (string, error) {
	id, err := s.line(ctx, "rev-parse", "--verify", "--end-of-options", name+"^{commit}")
	if err == nil && !objectID.MatchString(id) {
		err = fmt.Errorf("git rev-parse says %.80q for %q", id, name)
	}
	return id, err
}

// resolve is the commit that base stands for in the person's checkout, "" being what is checked out there.
func (t *Trees) resolve(ctx context.Context, s *shadow, name, base string) (string, error) {
	if strings.HasPrefix(base, "-") || strings.ContainsAny(base, "\n\x00") {
		return "", t.badBase(name, base, "that is an option, not a commit", "name a branch, a tag or a commit")
	}
	id, err := s.commit(ctx, orWord(base, "HEAD"))
	if err == nil {
		return id, nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("looking for %q: %w", orWord(base, "HEAD"), ctx.Err())
	}
	if base == "" {
		return "", t.badBase(name, "HEAD", "there is no commit yet in "+t.ws.Root, "make a first commit, or name a base that has one")
	}
	if text := said(err); strings.Contains(text, "ambiguous") {
		return "", t.badBase(name, base, "it is ambiguous: "+text, "write more of the hash")
	}
	hint := `"git branch --all" and "git tag" say what there is; "git fetch" brings what is new`
	if near := nearest(base, s.refNames(ctx)); len(near) > 0 {
		hint = "there is " + strings.Join(near, ", ")
	}
	return "", t.badBase(name, base, "there is no such branch, tag or commit", hint)
}

func (t *Trees) badBase(name, base, why, hint string) error {
	return &Error{Kind: ErrBase, Msg: fmt.Sprintf("worktree %q from %q: %s", name, base, why), Hint: hint}
}

// refNames are the names of branches and tags, newest first, not all of them in a repository of very many.
func (s *shadow) refNames(ctx context.Context) []string {
	out, _ := s.git(ctx, "for-each-ref", "--count=5000", "--sort=-creatordate", "--format=%(refname:lstrip=2)", "refs/heads", "refs/tags", "refs/remotes")
	return strings.Fields(out)
}

// wayOfRef refuses a branch below the name of another one, which git can have only one of, and a link among the
// folders of a branch's file: the file would be made where it leads.
func (s *shadow) wayOfRef(ctx context.Context, branch string) error {
	for i := range branch {
		if branch[i] != '/' {
			continue
		}
		above := "refs/heads/" + branch[:i]
		path := filepath.Join(s.trees.Common, above)
		_, err := s.commit(ctx, above)
		if err == nil || exists(path) && isRealFolder(path) != nil {
			return &Error{Kind: ErrInUse, Msg: fmt.Sprintf("worktree %q: there is a branch %q, and git can have only one of the two", branch, branch[:i]),
				Hint: "choose another name"}
		}
	}
	return nil
}

// inUse is the checkout in which a branch is checked out, being rebased or bisected, as "git branch" and "git
// worktree add" see it (find_shared_symref in git's branch.c); "" when there is none but the one of the admin folder
// except.
func (t *Trees) inUse(branch, except string) string {
	if !t.bare && holdsBranch(t.Common, branch) {
		return t.Main
	}
	for _, admin := range t.admins() {
		if admin != except && holdsBranch(admin, branch) {
			return orWord(gitdirOf(admin), admin)
		}
	}
	return ""
}

func holdsBranch(gitDir, branch string) bool {
	if branchOf(gitDir) == branch {
		return true
	}
	for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"} {
		data, err := plainfile.Read(filepath.Join(gitDir, name))
		if text := strings.TrimSpace(string(data)); err == nil && (text == "refs/heads/"+branch || text == branch) {
			return true
		}
	}
	return false
}

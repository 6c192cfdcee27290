package linked

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// checkOut writes a commit's files into the empty folder, with an index that says of each what it looks like, and
// tells what is not there as the person may expect. Git refuses names that lead out of the folder or into ".git".
func (s *shadow) checkOut(ctx context.Context, commit string) ([]string, error) {
	if _, err := s.git(ctx, "read-tree", "--reset", "-u", "--no-recurse-submodules", commit); err != nil {
		return nil, err
	}
	return s.notes(ctx)
}

// notes says which files of the checkout are not what the person's git would have made.
func (s *shadow) notes(ctx context.Context) ([]string, error) {
	list, err := s.git(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	modules := 0
	for entry := range strings.SplitSeq(list, "\x00") {
		if strings.HasPrefix(entry, "160000 ") {
			modules++
		}
	}
	var notes []string
	if modules > 0 {
		notes = append(notes, fmt.Sprintf("%s not checked out; \"git submodule update --init\" does it", plural(modules, "submodule is", "submodules are")))
	}
	return append(notes, s.filterNotes(ctx, s.filters(ctx))...), nil
}

// filters are the names of the filters that attributes ask for: few, and not each is used by a file.
func (s *shadow) filters(ctx context.Context) []string {
	text, _ := s.git(ctx, "grep", "--cached", "--no-textconv", "-a", "-h", "-E", "filter=", "--", ":(top,glob)**/.gitattributes") // status 1: none
	var out []string
	for _, text := range []string{text, string(s.trees.data["info/attributes"]), string(s.trees.data["attributes"])} {
		for word := range strings.FieldsSeq(text) {
			if name, ok := strings.CutPrefix(word, "filter="); ok && plainWord(name) && !slices.Contains(out, name) && len(out) < 20 {
				out = append(out, name)
			}
		}
	}
	return out
}

// plainWord keeps what would mean something else in a pathspec, or in a terminal, out of it.
func plainWord(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}) < 0
}

func (s *shadow) filterNotes(ctx context.Context, filters []string) []string {
	var notes []string
	for _, name := range filters {
		list, err := s.git(ctx, "ls-files", "-z", "--", ":(top,attr:filter="+name+")")
		n := strings.Count(list, "\x00")
		switch {
		case err != nil || n == 0:
		case name == "lfs":
			notes = append(notes, fmt.Sprintf("%s of Git LFS as pointers, since filters are not run; \"git lfs pull\" in the worktree brings their contents", plural(n, "file is there", "files are there")))
		default:
			notes = append(notes, fmt.Sprintf("%s as stored, since the filter %q was not run", plural(n, "file is there", "files are there"), name))
		}
	}
	return notes
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// explain turns what went wrong in the making into what the person can do about it.
func (t *Trees) explain(name string, err error) error {
	text := said(err)
	e := &Error{Kind: ErrGit, Msg: fmt.Sprintf("worktree %q: %v", name, err), Err: err}
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		e.Hint = "nothing was left behind; ask again"
	case errors.Is(err, os.ErrExist):
		e.Kind, e.Hint = ErrCondition, "move it away, or choose another name"
	case strings.Contains(text, "cannot lock ref") && strings.Contains(text, "exists"):
		e.Kind, e.Hint = ErrInUse, "choose another name; if no other git runs in the repository, look for a lock that was left"
	case t.partial() && lacks(text):
		e.Hint = fmt.Sprintf("the clone is partial, and what lacks is not fetched, since the repository's config names the program that would; \"git -C %s archive BASE >/dev/null\" does it, then ask again", ShellQuote(t.Main))
	case strings.Contains(text, "invalid path"):
		e.Hint = "the commit holds a file that git writes in no folder; take another base"
	case errors.Is(err, os.ErrPermission) || strings.Contains(text, "Permission denied") || strings.Contains(text, "Read-only"):
		e.Hint = fmt.Sprintf("%s and %s must be writable for you", t.Folder, t.Common)
	}
	return e
}

// lacks tells whether git complains of an object that is not there, in the words of several versions.
func lacks(text string) bool {
	for _, words := range []string{"unable to read", "cannot read object", "missing", "not found", "bad object", "could not fetch"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// partial tells whether the repository counts on fetching objects when they are looked at (partial clone).
func (t *Trees) partial() bool {
	for _, e := range t.ws.RepositorySettings().Entries {
		if e.Key == "extensions.partialclone" || e.Section() == "remote" && (e.Name() == "promisor" || e.Name() == "partialclonefilter") {
			return true
		}
	}
	return false
}

package linked

import (
	"context"
	"strings"
)

// loose counts what is in no commit.
func (m *Summary) loose(ctx context.Context, s *shadow) (err error) {
	s.at(m.Tree.Path, m.Tree.Admin)
	m.Uncommitted, m.Untracked, m.Conflicts, err = s.status(ctx)
	return err
}

// status counts files that are changed, untracked or in conflict. Submodules are not looked into: git would start
// itself in each, and obey the config there.
func (s *shadow) status(ctx context.Context) (uncommitted, untracked, conflicts int, err error) {
	out, err := s.git(ctx, "status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames", "--no-ahead-behind")
	for entry := range strings.SplitSeq(out, "\x00") {
		switch kind, _, _ := strings.Cut(entry, " "); kind {
		case "1", "2":
			uncommitted++
		case "u":
			conflicts++
		case "?":
			untracked++
		}
	}
	return uncommitted, untracked, conflicts, err
}

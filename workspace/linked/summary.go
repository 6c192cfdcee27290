package linked

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of a summary: how much of a list it has, and how long all of it may take.
const (
	maxCommits = 50
	maxFiles   = 200
	maxSummary = 20 * time.Second
)

// Summary is what a session has changed in a worktree.
type Summary struct {
	Tree *Tree `json:"tree"`
	// Main is the checkout in which the commits can be taken.
	Main   string `json:"main"`
	Before *State `json:"before"`
	After  *State `json:"after"`
	// Commits are those since Before, newest first, at most 50; CommitCount is how many there are.
	Commits     []Commit `json:"commits"`
	CommitCount int      `json:"commitCount"`
	// Ahead is how many commits there are since the worktree's start.
	Ahead int `json:"ahead"`
	// Left is how many commits of Before are no more among those of After: history was rewritten.
	Left int `json:"left"`
	// Files are those that differ between the commits of Before and After, at most 200; Counts is of all.
	Files  []File `json:"files"`
	Counts Counts `json:"counts"`
	// Uncommitted are files with changes that no commit has, Untracked files and folders that git does not know and
	// does not ignore, Conflicts files that a merge could not settle.
	Uncommitted int `json:"uncommitted"`
	Untracked   int `json:"untracked"`
	Conflicts   int `json:"conflicts"`
	// Elsewhere are other branches that are not where they were: moved by this session, or meanwhile by another or by
	// the person.
	Elsewhere []BranchMove `json:"elsewhere"`
	// Notes say what could not be found out.
	Notes []string `json:"notes,omitempty"`
}

// Commit is one commit. Subject is as it was written: it may hold what a terminal obeys.
type Commit struct {
	Hash    string `json:"hash"`
	Subject string `json:"subject"`
}

// File is one file that differs. Path is as git has it.
type File struct {
	Path string `json:"path"`
	// Status is git's letter: A added, D deleted, M modified, T another type.
	Status string `json:"status"`
	// Added and Deleted count lines; both are -1 when they were not counted (a binary file).
	Added   int `json:"added"`
	Deleted int `json:"deleted"`
}

// Counts sum up files and lines.
type Counts struct {
	Added    int `json:"added"`
	Changed  int `json:"changed"`
	Deleted  int `json:"deleted"`
	LinesIn  int `json:"linesIn"`
	LinesOut int `json:"linesOut"`
}

// BranchMove is a branch that is somewhere else than before; From or To is "" when it was not there.
type BranchMove struct {
	Branch string `json:"branch"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// Summary compares a worktree with what Look said before. It takes at most some twenty seconds; what was not found
// out in this time is a note. An error means that nothing was found out.
func (t *Trees) Summary(ctx context.Context, tree *Tree, before *State) (*Summary, error) {
	ctx, cancel := context.WithTimeout(ctx, maxSummary)
	defer cancel()
	if fault := t.linkFault(tree.Path, tree.Admin); fault != "" {
		return nil, &Error{Kind: ErrCondition, Msg: fmt.Sprintf("worktree %q: %s", tree.Name, fault), Hint: `"git worktree list" says what git knows of it`}
	}
	s, err := t.shadow(tree.Admin)
	if err != nil {
		return nil, err
	}
	defer s.close()
	after, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	sum := &Summary{Tree: tree, Main: t.Main, Before: before, After: after}
	sum.elsewhere()
	for _, part := range []func(context.Context, *shadow) error{sum.log, sum.diff, sum.loose} {
		if err := part(ctx, s); err != nil {
			sum.Notes = append(sum.Notes, "not found out: "+err.Error())
		}
	}
	return sum, nil
}

// log finds the commits that are new.
func (m *Summary) log(ctx context.Context, s *shadow) error {
	from, to := m.Before.Commit, m.After.Commit
	if to == "" {
		return nil
	}
	if start := m.Tree.Start; start != "" {
		if n, err := s.count(ctx, "^"+start, to); err == nil {
			m.Ahead = n
		}
	}
	if from == to {
		return nil
	}
	args := []string{"log", "-z", "--no-show-signature", "--no-color", "--no-notes", "--format=%H %s", "--max-count=" + strconv.Itoa(maxCommits), to}
	if from != "" {
		args = append(args, "^"+from)
	}
	out, err := s.git(ctx, args...)
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if hash, subject, ok := strings.Cut(entry, " "); ok {
			m.Commits = append(m.Commits, Commit{hash, subject})
		}
	}
	m.CommitCount = len(m.Commits)
	if from == "" {
		return nil
	}
	if m.CommitCount, err = s.count(ctx, "^"+from, to); err != nil {
		return err
	}
	m.Left, err = s.count(ctx, "^"+to, from)
	return err
}

// count is how many commits a range has.
func (s *shadow) count(ctx context.Context, revs ...string) (int, error) {
	out, err := s.line(ctx, append([]string{"rev-list", "--count"}, revs...)...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

// diff finds the files that differ between the commits, without asking any of them how it wants to be compared.
func (m *Summary) diff(ctx context.Context, s *shadow) error {
	from, to := m.Before.Commit, m.After.Commit
	if from == to || from == "" || to == "" {
		return nil
	}
	args := []string{"diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", from, to}
	out, err := s.git(ctx, args...)
	if err != nil {
		return err
	}
	m.raw(strings.Split(out, "\x00"))
	lines, err := s.git(ctx, append(slices.Clone(args[:3]), append([]string{"--numstat"}, args[5:]...)...)...)
	if err != nil {
		return err
	}
	m.lines(strings.Split(lines, "\x00"))
	return nil
}

// raw reads what git-diff-tree(1) describes under "RAW OUTPUT FORMAT".
func (m *Summary) raw(fields []string) {
	for i := 0; i+1 < len(fields); i += 2 {
		status := fields[i][strings.LastIndexByte(fields[i], ' ')+1:]
		switch status {
		case "A":
			m.Counts.Added++
		case "D":
			m.Counts.Deleted++
		default:
			m.Counts.Changed++
		}
		if len(m.Files) < maxFiles {
			m.Files = append(m.Files, File{Path: fields[i+1], Status: status, Added: -1, Deleted: -1})
		}
	}
}

// lines reads --numstat, which has the files in the same order.
func (m *Summary) lines(fields []string) {
	for i, field := range fields {
		parts := strings.SplitN(field, "\t", 3)
		if len(parts) < 3 {
			continue
		}
		added, err := strconv.Atoi(parts[0])
		deleted, err2 := strconv.Atoi(parts[1])
		if err != nil || err2 != nil {
			continue // "-": binary
		}
		m.Counts.LinesIn += added
		m.Counts.LinesOut += deleted
		if i < len(m.Files) && m.Files[i].Path == parts[2] {
			m.Files[i].Added, m.Files[i].Deleted = added, deleted
		}
	}
}

// elsewhere finds the other branches that are not where they were.
func (m *Summary) elsewhere() {
	own := []string{m.Before.Branch, m.After.Branch}
	names := maps.Clone(m.Before.Heads)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, m.After.Heads)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if from, to := m.Before.Heads[name], m.After.Heads[name]; from != to && !(slices.Contains(own, name) && to != "") {
			m.Elsewhere = append(m.Elsewhere, BranchMove{name, from, to})
		}
	}
}

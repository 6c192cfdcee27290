package linked

import (
	"fmt"
	"strings"
)

// How much of a list the text has; the data has more.
const (
	textCommits = 12
	textFiles   = 20
)

// Text is the summary for a terminal, of some lines each ending in a line's end.
func (m *Summary) Text() string {
	var b strings.Builder
	m.heading(&b)
	for _, c := range m.Commits[:min(len(m.Commits), textCommits)] {
		fmt.Fprintf(&b, "  %s %s\n", short(c.Hash), oneLine(c.Subject, 90))
	}
	more(&b, m.CommitCount-textCommits, "commit", "commits")
	m.files(&b)
	m.uncommitted(&b)
	for _, moved := range m.Elsewhere[:min(len(m.Elsewhere), textFiles)] {
		fmt.Fprintf(&b, "meanwhile: %s\n", moved.text())
	}
	for _, note := range m.Notes {
		fmt.Fprintf(&b, "note: %s\n", shown(note))
	}
	for _, c := range m.Commands() {
		fmt.Fprintf(&b, "%-7s %s\n", c.What+":", c.Line)
	}
	return b.String()
}

func (m *Summary) heading(b *strings.Builder) {
	on := "branch " + oneLine(m.After.Branch, 200)
	if m.After.Branch == "" {
		on = "no branch, at " + short(m.After.Commit)
	}
	changed := "no new commit"
	if m.CommitCount > 0 {
		changed = plural(m.CommitCount, "new commit", "new commits")
	}
	if m.Ahead > m.CommitCount {
		changed += fmt.Sprintf(", %d since %s", m.Ahead, orWord(m.Tree.Base, short(m.Tree.Start)))
	}
	if m.Left > 0 {
		changed += fmt.Sprintf("; %s no longer in it", plural(m.Left, "earlier commit is", "earlier commits are"))
	}
	fmt.Fprintf(b, "worktree %s (%s): %s\n", m.Tree.Name, on, changed)
}

func (m *Summary) files(b *strings.Builder) {
	c := m.Counts
	n := c.Added + c.Changed + c.Deleted
	if n == 0 {
		return
	}
	fmt.Fprintf(b, "%s (%d added, %d deleted), +%d -%d lines\n", plural(n, "file changed", "files changed"), c.Added, c.Deleted, c.LinesIn, c.LinesOut)
	for _, f := range m.Files[:min(len(m.Files), textFiles)] {
		lines := fmt.Sprintf("+%d -%d", f.Added, f.Deleted)
		if f.Added < 0 {
			lines = "not text"
		}
		fmt.Fprintf(b, "  %s %s  %s\n", f.Status, oneLine(f.Path, 120), lines)
	}
	more(b, n-textFiles, "file", "files")
}

// uncommitted tells what is in no commit.
func (m *Summary) uncommitted(b *strings.Builder) {
	if text := lossText(m.Uncommitted, m.Untracked, m.Conflicts); text != "" {
		fmt.Fprintf(b, "in no commit: %s\n", text)
	}
}

func lossText(uncommitted, untracked, conflicts int) string {
	var parts []string
	if uncommitted > 0 {
		parts = append(parts, plural(uncommitted, "file with changes", "files with changes"))
	}
	if untracked > 0 {
		parts = append(parts, plural(untracked, "untracked file or folder", "untracked files or folders"))
	}
	if conflicts > 0 {
		parts = append(parts, plural(conflicts, "conflict", "conflicts"))
	}
	return strings.Join(parts, ", ")
}

func (v BranchMove) text() string {
	name := oneLine(v.Branch, 200)
	switch {
	case v.From == "":
		return fmt.Sprintf("branch %s was made, at %s", name, short(v.To))
	case v.To == "":
		return fmt.Sprintf("branch %s is gone; it was at %s", name, short(v.From))
	}
	return fmt.Sprintf("branch %s went from %s to %s", name, short(v.From), short(v.To))
}

func more(b *strings.Builder, n int, one, many string) {
	if n > 0 {
		fmt.Fprintf(b, "  … and %s\n", plural(n, "more "+one, "more "+many))
	}
}

// oneLine makes text of the repository fit for a place in a line, at most max runes long.
func oneLine(text string, max int) string {
	runes := []rune(strings.ReplaceAll(shown(text), "\n", "?"))
	if len(runes) > max {
		return string(runes[:max]) + "…"
	}
	return string(runes)
}

// Command is a command line for the person, quoted for a POSIX shell.
type Command struct {
	// What it does: "look", "take", "or" (another way to take), "drop".
	What string `json:"what"`
	Line string `json:"line"`
}

// Commands are what the person can do with a session's work. A run chooses how branches and tags are called, and can write
// into the git dir: a name alone may be an option, or another reference that git takes first (a tag, a file beside HEAD), and
// a hash that is cut short, too. So each is written in the one way that git reads as nothing else.
func (m *Summary) Commands() []Command {
	git := "git -C " + ShellQuote(m.Main) + " "
	what := m.After.Commit
	if nameFault(m.After.Branch) == "" {
		what = ShellQuote("refs/heads/" + m.After.Branch)
	}
	var out []Command
	if m.Ahead > 0 || m.CommitCount > 0 {
		start := orWord(m.Tree.Start, m.Before.Commit)
		out = append(out, Command{"look", git + "diff " + start + " " + what},
			Command{"take", git + "merge " + what},
			Command{"or", git + "cherry-pick " + start + ".." + what})
	} else if m.Uncommitted > 0 {
		out = append(out, Command{"look", "git -C " + ShellQuote(m.Tree.Path) + " diff HEAD"})
	} else if m.Untracked > 0 { // of which diff says nothing
		out = append(out, Command{"look", "git -C " + ShellQuote(m.Tree.Path) + " status"})
	}
	return append(out, Command{"drop", "sidecar worktree drop -w " + ShellQuote(m.Main) + " " + ShellQuote(m.Tree.Name)})
}

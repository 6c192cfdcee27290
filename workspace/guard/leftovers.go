//go:build unix

package guard

import (
	"cmp"
	"strings"

	"code.sidecar.dev/workspace/locked"
)

// leftover is a file of an unfinished operation, with which git goes on when a person says "--continue", and
// that can make it execute a program or write where it likes.
type leftover struct {
	folder, file string
	reason       string
	// executes says whether a line does that.
	executes func(line string) bool
}

// leftovers, after git's sequencer.c and builtin/am.c. A merge strategy NAME is executed as git-merge-NAME,
// and one with a slash in it as a program of the work tree; options kept for git apply name a file to write.
var leftovers = []leftover{
	{"rebase-merge", "git-rebase-todo", "git executes its exec lines when the rebase is continued", isExecLine},
	{"rebase-merge", "strategy", "git executes the merge strategy that it names when the rebase is continued", isOddStrategy},
	{"rebase-merge", "update-refs", "git writes a commit's id to what it names when the rebase is continued", isOddUpdate},
	{"sequencer", "opts", "git executes the merge strategy that it names when the cherry-pick or revert is continued", isOddOption},
	{"rebase-apply", "apply-opt", "git applies the patches that are left with these options when git am is continued", isOddApply},
	{"", "MERGE_RR", "git commit writes what rr-cache holds over the files that it names, wherever they lie, or keeps their content there", isRecord},
	{"", "MERGE_AUTOSTASH", "the next git commit puts the changes that it holds into the work tree; git stash apply does so with the commit that it names", isRecord},
	{"reftable", "tables.list", "git reads the tables of references that it names, and removes them, wherever they lie", isPath},
}

var leftoverNames = func() (names []string) {
	for _, l := range leftovers {
		names = append(names, l.name())
	}
	return names
}()

func (l leftover) name() string { return strings.TrimPrefix(l.folder+"/"+l.file, "/") }

// judge looks at the file in a git directory. What a run is in the middle of passes, so it is doubtful till the end.
func (l leftover) judge(fd int) *charge {
	sub, err := folderIn(fd, cmp.Or(l.folder, "."))
	if err != nil {
		return nil
	}
	defer locked.Close(sub)
	text, st, err := readFile(sub, l.file)
	if err != nil && !st.exists {
		return nil
	}
	c := &charge{name: l.name(), st: st, doubtful: true, reason: l.reason}
	for _, line := range linesOf(string(text)) {
		if l.executes(line) {
			c.lines = append(c.lines, line)
		}
	}
	if err == nil && len(c.lines) == 0 {
		return nil
	}
	return c
}

// isPath: the tables of references lie beside their list (git, Documentation/technical/reftable).
func isPath(line string) bool { return strings.Contains(line, "/") }

// linesOf are a text's lines, or records that a NUL byte ends, without what is blank.
func linesOf(text string) (lines []string) {
	for _, line := range strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == 0 }) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// isOddUpdate reads a line of rebase-merge/update-refs: a reference, what it was and what it becomes, each on its own line. git takes
// any name of its directory for one.
func isOddUpdate(line string) bool {
	return !strings.HasPrefix(line, "refs/") && strings.Trim(line, "0123456789abcdef") != ""
}

// isRecord: each record of MERGE_RR names a conflict and a file (rerere.c), of which any may be a link by the time that git reads
// it. Without them git only keeps no note of how a conflict of the run's was solved.
func isRecord(string) bool { return true }

func isExecLine(line string) bool {
	word, _, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	return word == "exec" || word == "x"
}

// strategies are git's own (git-merge(1)).
var strategies = map[string]bool{"ort": true, "recursive": true, "resolve": true, "octopus": true, "ours": true, "subtree": true}

func isOddStrategy(line string) bool { return !strategies[line] }

// isOddOption reads a line of sequencer/opts, a config with the one section [options].
func isOddOption(line string) bool {
	if line == "[options]" {
		return false
	}
	key, value, _ := strings.Cut(line, "=")
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "no-commit", "edit", "allow-empty", "allow-empty-message", "keep-redundant-commits", "signoff", "record-origin",
		"allow-ff", "mainline", "strategy-option", "gpg-sign", "allow-rerere-auto", "default-msg-cleanup":
		return strings.HasSuffix(line, `\`)
	case "strategy":
		return !strategies[strings.TrimSpace(value)]
	}
	return true
}

// isOddApply reads the options that git am keeps for git apply, each in single quotes.
func isOddApply(line string) bool {
	for _, word := range strings.Fields(line) {
		word = strings.Trim(word, "'")
		if !strings.HasPrefix(word, "-C") && !strings.HasPrefix(word, "-p") && !strings.HasPrefix(word, "--whitespace=") &&
			word != "--ignore-space-change" && word != "--ignore-whitespace" && word != "--reject" {
			return true
		}
	}
	return false
}

// addsLines says that a file executes something that its former text did not.
func (c *charge) addsLines(before string) bool {
	had := map[string]bool{}
	for _, line := range linesOf(before) {
		had[line] = true
	}
	for _, line := range c.lines {
		if !had[line] {
			return true
		}
	}
	return false
}

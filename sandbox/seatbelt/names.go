package seatbelt

import (
	"slices"
	"strings"

	"code.sidecar.dev/sandbox"
)

// The file systems of macOS find a file by a name that is spelled otherwise: in other case, in another Unicode form, and
// with letters that fold to those of ASCII (ſ is s, K is k, ﬁ is fi, ß is ss; HFS+ leaves out some invisible ones, too).
// The kernel compares a rule with the name as it was given, where nothing has it yet. So names are held by expressions that
// match each spelling, and some more names that hold letters beyond ASCII: never fewer.
//
// Expressions are of the smallest kind: classes, |, (), * and +. A byte of a letter beyond ASCII is [^ -~].

// folded are the letters beyond ASCII that fold to one of it or to several (Unicode, CaseFolding.txt, C and F).
var folded = map[string]string{"s": "ſ", "k": "\u212a", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ", "ffi": "ﬃ", "ffl": "ﬄ", "st": "ﬅ|ﬆ", "ss": "ß|\u1e9e"}

// anySpelling is an expression for a name of one part, which may hold "*" and "?".
func anySpelling(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i := 0; i < len(runes); {
		from := i
		switch r := runes[i]; {
		case r == '*':
			b.WriteString("[^/]*")
			i++
		case r == '?':
			b.WriteString("[^/]+")
			i++
		case isMarked(runes, i):
			// A letter with its marks, or the one letter that is both, and one before it that may have been taken for it.
			for i++; i < len(runes) && runes[i] > '~'; i++ {
			}
			b.WriteString("[a-zA-Z]?[a-zA-Z]?[^ -~]+")
		case isLetter(r):
			for i++; i < len(runes) && isLetter(runes[i]) && !isMarked(runes, i); i++ {
			}
			b.WriteString(letters(runes[from:i]))
		default:
			b.WriteString(plain(r))
			i++
		}
	}
	return b.String()
}

// isMarked says that what stands at i is beyond ASCII, or has marks that are.
func isMarked(runes []rune, i int) bool {
	return runes[i] > '~' || i+1 < len(runes) && runes[i+1] > '~' && isLetter(runes[i])
}

// letters are letters of ASCII in either case, or what folds to them. Where the letters of one sign overlap those of
// another, every way to divide them counts.
func letters(run []rune) string {
	var b strings.Builder
	for i := 0; i < len(run); {
		n := joined(run[i:])
		ways := divided(run[i : i+n])
		if len(ways) == 1 {
			b.WriteString(ways[0])
		} else {
			b.WriteString("(" + strings.Join(ways, "|") + ")")
		}
		i += n
	}
	return b.String()
}

// joined is how many letters from the first on belong together, since signs may stand for neighbours.
func joined(run []rune) int {
	end := 1
	for i := 0; i < end && i < len(run); i++ {
		for n := 2; n <= 3 && i+n <= len(run); n++ {
			if folded[lowered(run[i:i+n])] != "" {
				end = max(end, i+n)
			}
		}
	}
	return end
}

// divided are all ways to write letters.
func divided(run []rune) []string {
	if len(run) == 0 {
		return []string{""}
	}
	var out []string
	for n := 1; n <= min(3, len(run)); n++ {
		first, ok := "", false
		if sign := folded[lowered(run[:n])]; n == 1 {
			first, ok = plain(run[0]), true
			if sign != "" {
				first = "(" + first + "|" + sign + ")"
			}
		} else if sign != "" {
			first, ok = "("+sign+")", true
		}
		if ok {
			for _, rest := range divided(run[n:]) {
				out = append(out, first+rest)
			}
		}
	}
	return out
}

func lowered(run []rune) string { return strings.ToLower(string(run)) }

// inAnyForm is anySpelling, also with invisible letters anywhere in it.
func inAnyForm(name string) string {
	var b strings.Builder
	for _, r := range name {
		b.WriteString(anySpelling(string(r)) + "[^ -~]*")
	}
	return b.String()
}

// plain is one sign, in either case. Everything stands in a class, so that nothing is a sign of the language; what cannot
// stand in one is matched by what is no letter, digit or slash.
func plain(r rune) string {
	switch {
	case isLetter(r):
		return "[" + string(lower(r)) + string(lower(r)-'a'+'A') + "]"
	case strings.ContainsRune(`]^\"`, r) || r < ' ':
		return "[^a-zA-Z0-9/]"
	}
	return "[" + string(r) + "]"
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func lower(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r - 'A' + 'a'
	}
	return r
}

// controls are the folders by which a version control knows a repository: its names are held in every form.
var controls = []string{".git", ".hg", ".jj", ".sl", ".bzr", "_darcs", ".pijul"}

// spelling is an expression for a path of several parts.
func spelling(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		switch {
		case slices.Contains(controls, strings.ToLower(part)):
			parts[i] = inAnyForm(part)
		case part == deep:
			parts[i] = ".*"
		default:
			parts[i] = anySpelling(part)
		}
	}
	return strings.Join(parts, "/")
}

// deep, as a part of a pattern, stands for any number of folders: the names of submodules, which may have slashes. Names of
// branches are paths in refs and logs of the same folder, and none of them is meant.
const (
	deep       = "**"
	references = `.*/(refs|logs/refs)/(heads|tags|remotes)/`
)

// together is how many names one expression holds: large ones are slow to compile, and may have limits that nobody documents.
const together = 24

// group are names that one rule holds.
type group struct {
	root            string
	anywhere, alone bool
	// deep says that a pattern has a part that stands for several.
	deep     bool
	patterns []string
}

// groups puts names together that count alike, in their order.
func groups(names []sandbox.Name) []group {
	var out []group
	for _, n := range names {
		isDeep := slices.Contains(strings.Split(n.Pattern, "/"), deep)
		i := slices.IndexFunc(out, func(g group) bool {
			return g.deep == isDeep && g.root == n.Root && g.anywhere == n.Anywhere && g.alone == n.Alone && len(g.patterns) < together
		})
		if i < 0 {
			out = append(out, group{root: n.Root, anywhere: n.Anywhere, alone: n.Alone, deep: isDeep})
			i = len(out) - 1
		}
		out[i].patterns = append(out[i].patterns, n.Pattern)
	}
	return out
}

// expression is one for all names of a group, below the root.
func (g group) expression() string {
	all := make([]string, len(g.patterns))
	for i, p := range g.patterns {
		all[i] = spelling(p)
	}
	text := "(" + strings.Join(all, "|") + ")"
	if g.anywhere {
		text = "(.*/)?" + text
	}
	if g.alone {
		return text + "$"
	}
	return text + "(/|$)"
}

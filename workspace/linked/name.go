package linked

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFolder bounds a worktree's folder name in bytes: file systems allow 255, and a record's and a lock's ending come
// on top.
const maxFolder = 200

// CheckName says whether name can be a worktree's and its branch's: the rules of git-check-ref-format(1), with
// --branch, and printable UTF-8 only, since names are shown in terminals. The error is an *Error of ErrName.
func CheckName(name string) error {
	if why := nameFault(name); why != "" {
		e := &Error{Kind: ErrName, Msg: fmt.Sprintf("worktree %q: %s", name, why), Hint: "choose a name of letters, digits and dashes"}
		if near := mendName(name); near != "" {
			e.Hint = fmt.Sprintf("for example %q", near)
		}
		return e
	}
	return nil
}

func nameFault(name string) string {
	switch {
	case name == "":
		return "a name is needed"
	case !utf8.ValidString(name):
		return "the name is not UTF-8"
	case name == "@" || name == "HEAD":
		return "git means something else by this name"
	case name[0] == '-':
		return "a name cannot begin with a dash"
	case name[0] == '/' || strings.HasSuffix(name, "/") || strings.Contains(name, "//"):
		return "a slash stands only between two words"
	case strings.HasSuffix(name, "."):
		return "a name cannot end with a dot"
	case strings.Contains(name, ".."):
		return "git allows no two dots in a row"
	case strings.Contains(name, "@{"):
		return `git allows no "@{"`
	case len(folderName(name)) > maxFolder:
		return fmt.Sprintf("the name is %d bytes long, want at most %d", len(folderName(name)), maxFolder)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return `no part of a name can begin with a dot or end with ".lock"`
		}
	}
	if i := strings.IndexFunc(name, badRune); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return fmt.Sprintf("git allows no %q in a name", r)
	}
	return ""
}

func badRune(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(` ~^:?*[\`, r) }

// folders are how git begins the names of references: what comes after is looked for there before it is a branch's name
// (gitrevisions(7)), so that "git merge heads/main" means main, whatever branch is called so.
var folders = []string{"refs/", "heads/", "tags/", "remotes/"}

// checkFresh says whether a new branch can have a name. One that is there keeps its own, and can be opened and dropped.
func checkFresh(name string) error {
	folder := otherwiseRead(name)
	if folder == "" {
		return nil
	}
	e := &Error{Kind: ErrName, Msg: fmt.Sprintf("worktree %q: git can take a name that begins with %q for another reference", name, folder), Hint: "choose a name of letters, digits and dashes"}
	rest := name
	for at := folder; at != ""; at = otherwiseRead(rest) {
		rest = strings.TrimPrefix(rest, at)
	}
	if nameFault(rest) == "" {
		e.Hint = fmt.Sprintf("for example %q", rest)
	}
	return e
}

// otherwiseRead is the beginning of a branch's name for which git may take another reference, or "".
func otherwiseRead(name string) string {
	for _, folder := range folders {
		if strings.HasPrefix(name, folder) {
			return folder
		}
	}
	return ""
}

// mendName is a name like the one asked for that would do, or "".
func mendName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if badRune(r) || r == '.' || r == '@' || r == utf8.RuneError {
			return '-'
		}
		return r
	}, name)
	var parts []string
	for part := range strings.SplitSeq(clean, "/") {
		if part = strings.Trim(part, "-"); part != "" {
			parts = append(parts, part)
		}
	}
	if clean = strings.Join(parts, "/"); nameFault(clean) != "" {
		return ""
	}
	return clean
}

// folderName is the name of a worktree's folder: flat, since a worktree inside another one would be part of its
// tree, and different for different names.
func folderName(name string) string {
	return strings.NewReplacer("%", "%25", "+", "%2B", "/", "+").Replace(name)
}

// nameOf is the name whose folder folderName gives.
func nameOf(folder string) string {
	return strings.NewReplacer("%25", "%", "%2B", "+", "+", "/").Replace(folder)
}

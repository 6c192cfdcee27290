package sidecar

import (
	"strings"
	"testing"
)

// TestNamesInQuestions: a name that a run chose adds no line to a question, and is told from the words around it.
func TestNamesInQuestions(t *testing.T) {
	const before, after = "May Nix evaluate the project's code, as it is now, outside of the sandbox (", ")?"
	for want, files := range map[string][]string{
		"flake.nix, nix/bücher.nix": {"flake.nix", "nix/bücher.nix"},
		`"a)?\nsidecar: [n] no? n\nsidecar: x asks: May this run reach good.example (https.nix", flake.nix`: {"a)?\nsidecar: [n] no? n\nsidecar: x asks: May this run reach good.example (https.nix", "flake.nix"},
		`"a)? May this run read b (.nix"`:            {"a)? May this run read b (.nix"},
		`"\u202exin.a", "\u00a0", "\x1b[2J", "\xff"`: {"\u202exin.a", "\u00a0", "\x1b[2J", "\xff"},
		strings.Repeat("a", 100) + "…":               {strings.Repeat("a", 5000)},
		"1, 2, 3, 4, 5, 6, 7, 8, and 2 more":         {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"},
	} {
		if got := trustText(files); got != before+want+after {
			t.Errorf("%q:\n%s\nwant\n%s", files, got, before+want+after)
		}
	}
}

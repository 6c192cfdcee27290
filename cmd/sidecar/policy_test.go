package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadVariables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	for text, want := range map[string]map[string]string{
		"":                     {"A": "old"},
		"A=1\x00":              {"A": "1"},
		"A=\x00B=a=b\nc\x00":   {"A": "", "B": "a=b\nc"},
		"B=1\x00B=2\x00":       {"A": "old", "B": "2"},
		"B=1":                  nil,
		"B=1\x00C":             nil,
		"B\x00":                nil,
		"B=1\x00\x00":          nil,
		"\x00":                 nil,
		strings.Repeat("x", 9): nil,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{"A": "old"}
		err := readVariables(file, "", got)
		if want == nil {
			if err == nil || strings.Contains(err.Error(), "xxx") {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v, -want +got:\n%s", text, err, diff)
		}
	}
	if err := readVariables(file+"none", "", nil); err == nil {
		t.Error("a file that is not there is read")
	}
}

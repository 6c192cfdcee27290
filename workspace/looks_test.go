package workspace

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryLookIsNoted: a look past package looks would be a fact that is used again when it is not true any more.
func TestEveryLookIsNoted(t *testing.T) {
	look := regexp.MustCompile(`\b(os\.(Lstat|Stat|Readlink|Open\w*|ReadFile|ReadDir|Getwd)|filepath\.(EvalSymlinks|Walk\w*|Glob)|plainfile\.\w+|syscall\.(Stat|Lstat|Open|Readlink|Access))\(`)
	allowed := map[string]string{
		"discover.go: os.OpenFile(": "resolveFolder: its mode is noted",
		"gogit.go: plainfile.Open(": "noted where it is opened",
		"listing.go: syscall.Open(": "openFolder: readFolder notes it",
	}
	var files []string
	for _, pattern := range []string{"*.go", "gitconfig/*.go"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, found := range look.FindAllString(string(text), -1) {
			if allowed[file+": "+found] == "" {
				t.Errorf("%s: %s…) is not noted in package looks", file, found)
			}
		}
	}
}

package declared

import (
	"errors"
	"testing"
)

// A folder that became a link is not followed, neither at once nor from folder to folder.
func TestHeld(t *testing.T) {
	_, root := machine(t, "home/a/file", "home/secret/file", "home/b -> secret")
	for path, want := range map[string]error{"home/a/file": nil, "home/a": nil, "home/b/file": errReplaced, "home/b": errReplaced, "home/none": errReplaced} {
		got, err := Held(Mount{Source: root + "/" + path})
		if !errors.Is(err, want) || err == nil && (len(got) != 1 || got[0].Ino == 0) {
			t.Errorf("%s: %v, %v", path, got, err)
		}
		_, err = stepwise(root + "/" + path)
		if isLink := path == "home/b"; (err != nil) != (want != nil) && !isLink { // it is opened itself, and seen to be one
			t.Errorf("%s, from folder to folder: %v", path, err)
		}
	}
}

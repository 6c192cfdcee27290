package nix

import (
	"regexp"
	"sync"
)

// compiled is a regular expression that is compiled when it is first used: most processes need none of them.
func compiled(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Package lazyregexp compiles regular expressions when they are first used: every process of sidecar has all of its packages, and
// most of them need few.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New is a regular expression as of regexp.MustCompile, which panics at the first use.
func New(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

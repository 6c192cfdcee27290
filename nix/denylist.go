package nix

import (
	"fmt"
	"path"
	"strings"
)

// Denylist refuses packages by patterns with * and ?. A pattern holds for the whole path, for its set, for
// the set without "Packages" and for the name within the set: "python3" refuses python3 and its libraries,
// "nmap" also perlPackages.nmap.
type Denylist []string

// Check says whether each pattern can be read.
func (d Denylist) Check() error {
	for _, pattern := range d {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("package denylist: the pattern %q cannot be read: it has *, ? and [a-z]", pattern)
		}
	}
	return nil
}

// denies is the pattern that refuses the package, or "".
func (d Denylist) denies(attr Attr) string {
	forms := []string{attr.String(), attr.Name}
	if attr.Set != "" {
		forms = append(forms, attr.Set, strings.TrimSuffix(attr.Set, "Packages"))
	}
	for _, pattern := range d {
		for _, form := range forms {
			if ok, _ := path.Match(pattern, form); ok {
				return pattern
			}
		}
	}
	return ""
}

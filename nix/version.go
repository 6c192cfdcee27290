package nix

import (
	"fmt"
	"strconv"
)

// Version is a release of Nix.
type Version struct {
	Major, Minor, Patch int
}

var (
	// Oldest has flakes and nix-command as they are used here; Nixpkgs is what today's nixpkgs asks for.
	Oldest  = Version{2, 4, 0}
	Nixpkgs = Version{2, 18, 0}
)

// "nix (Nix) 2.8.0", "nix (Nix) 2.34.8", "nix (Lix, like Nix) 2.91.1", "nix (Determinate Nix 3.6.2) 2.29.0".
var versionLine = compiled(`\) (\d+)\.(\d+)(?:\.(\d+))?`)

// parseVersion reads what nix --version prints.
func parseVersion(text string) (Version, bool) {
	match := versionLine().FindStringSubmatch(text)
	if match == nil {
		return Version{}, false
	}
	var v Version
	for i, part := range []*int{&v.Major, &v.Minor, &v.Patch} {
		*part, _ = strconv.Atoi(match[i+1])
	}
	return v, true
}

// Before says whether v is older than other.
func (v Version) Before(other Version) bool {
	if v.Major != other.Major {
		return v.Major < other.Major
	}
	if v.Minor != other.Minor {
		return v.Minor < other.Minor
	}
	return v.Patch < other.Patch
}

// String is "2.34.8".
func (v Version) String() string {
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

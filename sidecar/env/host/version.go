package host

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"code.sidecar.dev/sidecar/lazyregexp"
)

// versionName is what a version may be called: it becomes part of a path.
var versionName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._+-]{0,99}$`)

// digits matches a plain version number, after a "v" maybe.
var digits = lazyregexp.New(`^v?[0-9]+(\.[0-9]+)*$`)

// choose finds the installed version that wanted means: itself, or the newest that it begins ("3.12"), or the
// newest of all ("latest"). Only installed names are ever answered.
func choose(installed []string, wanted string) (string, bool) {
	if !versionName().MatchString(wanted) {
		return "", false
	}
	for _, name := range installed {
		if name == wanted || name == "v"+wanted {
			return name, versionName().MatchString(name)
		}
	}
	return newest(installed, strings.TrimPrefix(wanted, "v"))
}

// newest is the greatest of the plain version numbers that begin with prefix; "latest" begins all.
func newest(installed []string, prefix string) (string, bool) {
	best := ""
	for _, name := range installed {
		number := strings.TrimPrefix(name, "v")
		if !digits().MatchString(name) || prefix != "latest" && !strings.HasPrefix(number, prefix+".") {
			continue
		}
		if best == "" || less(best, name) {
			best = name
		}
	}
	return best, best != ""
}

// less compares version numbers part by part.
func less(a, b string) bool {
	as, bs := strings.Split(strings.TrimPrefix(a, "v"), "."), strings.Split(strings.TrimPrefix(b, "v"), ".")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			x, _ := strconv.Atoi(as[i])
			y, _ := strconv.Atoi(bs[i])
			return x < y
		}
	}
	return len(as) < len(bs)
}

// versionParts are the parts of a path that carry the program's version, tried from the end.
var (
	fileVersion   = lazyregexp.New(`[a-z]-?([0-9]+(?:\.[0-9]+)+)$`)
	folderVersion = lazyregexp.New(`^(?:[a-zA-Z@+.-]*[@-])?v?([0-9]+(?:\.[0-9]+)+)(?:[-_+].*)?$`)
	storeVersion  = lazyregexp.New(`^[0-9a-z]{32}-[^/]*?-([0-9]+(?:\.[0-9]+)+)`)
	goVersion     = lazyregexp.New(`^go([0-9.]+)`)
	nodeMacro     = lazyregexp.New(`(?m)^#define NODE_(?:MAJOR|MINOR|PATCH)_VERSION ([0-9]+)`)
)

// versionOf is the version of a program as its path and the small files beside it tell, or "".
func (f *finder) versionOf(language, program string) string {
	prefix := filepath.Dir(filepath.Dir(program))
	switch language {
	case "go":
		if m := goVersion().FindStringSubmatch(f.read(filepath.Join(prefix, "VERSION"))); m != nil {
			return m[1]
		}
	case "node":
		if v := f.nodeVersion(prefix); v != "" {
			return v
		}
	}
	return pathVersion(program)
}

// nodeVersion reads the header that Node installs.
func (f *finder) nodeVersion(prefix string) string {
	var parts []string
	for _, m := range nodeMacro().FindAllStringSubmatch(f.read(filepath.Join(prefix, "include/node/node_version.h")), 3) {
		parts = append(parts, m[1])
	}
	return strings.Join(parts, ".")
}

// pathVersion reads a version from a path: of a folder (…/versions/3.11.4/…, …-python3-3.12.1/…), which tells
// more than the file's name (python3.11).
func pathVersion(program string) string {
	parts := strings.Split(filepath.Dir(program), "/")
	for i := len(parts) - 1; i >= 0; i-- {
		for _, pattern := range []func() *regexp.Regexp{storeVersion, folderVersion} {
			if m := pattern().FindStringSubmatch(parts[i]); m != nil {
				return m[1]
			}
		}
	}
	if m := fileVersion().FindStringSubmatch(filepath.Base(program)); m != nil {
		return m[1]
	}
	return ""
}

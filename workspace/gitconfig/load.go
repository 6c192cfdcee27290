package gitconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"code.sidecar.dev/workspace/plainfile"
)

// Bounds of what one Load reads. MAX_INCLUDE_DEPTH is git's own; the others keep hostile includes, which may name a large
// file many times, from costing more than a moment.
const (
	maxDepth = 10
	maxFiles = 256
	maxBytes = 2 * plainfile.Limit
)

// Options say how a file is loaded. The zero value follows every include, whatever its condition.
type Options struct {
	// Home is what "~/" stands for in an include's path; with "" such an include is a problem.
	Home string
	// Condition judges what follows "includeIf." in a key, like "gitdir:~/work/"; file is the file that has it. Nil
	// counts every condition as true, which is right for protection: a file that is not included now may be
	// included after the next checkout.
	Condition func(condition, file string) bool
	// Read reads a file; nil is plainfile.ReadThrough.
	Read func(path string) ([]byte, error)
}

// File is one file that was read, or was to be read.
type File struct {
	Path string
	// Present says that there is something at Path.
	Present bool
	// By is the file that includes it; "" for one that was loaded by its own name.
	By string
}

// Config is what one or more files say, in git's order: the last entry of a key wins.
type Config struct {
	Entries []Entry
	Files   []File
	// Problems are sentences about what could not be read, for people.
	Problems []string
}

// Load reads a file and what it includes. A file that is absent is no problem; one that git would refuse is,
// and its entries up to there count.
func Load(path string, opts Options) *Config {
	if opts.Read == nil {
		opts.Read = plainfile.ReadThrough
	}
	l := &loader{opts: opts, config: &Config{}}
	l.load(path, "", nil)
	return l.config
}

// Join returns the configs as one, later ones after (and so above) earlier ones.
func Join(configs ...*Config) *Config {
	all := &Config{}
	for _, c := range configs {
		if c == nil {
			continue
		}
		all.Entries = append(all.Entries, c.Entries...)
		all.Files = append(all.Files, c.Files...)
		all.Problems = append(all.Problems, c.Problems...)
	}
	return all
}

// Last returns the value that counts for a key written as git prints it, and whether there is one. A key
// that stands alone has the value "true".
func (c *Config) Last(key string) (string, bool) {
	if c == nil {
		return "", false
	}
	for _, e := range slices.Backward(c.Entries) {
		if e.Key == key {
			return e.text(), true
		}
	}
	return "", false
}

// Bool tells whether a key is true in git's sense (git-config(1), "boolean").
func (c *Config) Bool(key string) bool {
	v, ok := c.Last(key)
	if !ok {
		return false
	}
	switch strings.ToLower(v) {
	case "", "false", "no", "off", "0":
		return false
	}
	return true
}

func (e Entry) text() string {
	if e.Bare {
		return "true"
	}
	return e.Value
}

type loader struct {
	opts   Options
	config *Config
	// size is how many bytes were read.
	size int
}

func (l *loader) load(path, by string, stack []string) {
	if slices.Contains(stack, path) || len(stack) > maxDepth || len(l.config.Files) >= maxFiles {
		l.problem("%s: include chain is too long or turns back on itself at %s", by, path)
		return
	}
	if l.size > maxBytes {
		l.config.Files = append(l.config.Files, File{Path: path, Present: true, By: by})
		l.problem("git config %s is not read: more than %d bytes were read before it", path, maxBytes)
		return
	}
	data, err := l.opts.Read(path)
	l.size += len(data)
	absent := errors.Is(err, fs.ErrNotExist)
	l.config.Files = append(l.config.Files, File{Path: path, Present: !absent, By: by})
	if err != nil {
		if !absent {
			l.problem("git config cannot be read: %v", err)
		}
		return
	}
	entries, err := Parse(path, data)
	if err != nil {
		l.problem("%v", err)
	}
	for _, e := range entries {
		l.config.Entries = append(l.config.Entries, e)
		l.include(e, append(stack[:len(stack):len(stack)], path))
	}
}

func (l *loader) include(e Entry, stack []string) {
	if !l.wanted(e) || e.Value == "" {
		return
	}
	target, err := IncludePath(e, l.opts.Home)
	if err != nil {
		l.problem("%v", err)
		return
	}
	l.load(target, e.File, stack)
}

// wanted says whether e is an include whose condition holds.
func (l *loader) wanted(e Entry) bool {
	if e.Key == "include.path" {
		return true
	}
	if e.Section() != "includeif" || e.Name() != "path" || e.Subsection() == "" {
		return false
	}
	return l.opts.Condition == nil || l.opts.Condition(e.Subsection(), e.File)
}

// IncludePath returns the file that an include's value names: "~/" is the home folder, and what is relative
// is relative to the folder of the file that includes (git-config(1), "Includes").
func IncludePath(e Entry, home string) (string, error) {
	path, err := Expand(e.Value, home)
	if err != nil {
		return "", fmt.Errorf("%s:%d: %s = %q: %w", e.File, e.Line, e.Key, e.Value, err)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(e.File), path)
	}
	return filepath.Clean(path), nil
}

// Expand replaces "~/" at the beginning of a path value (git-config(1), "pathname").
func Expand(path, home string) (string, error) {
	if path != "~" && !strings.HasPrefix(path, "~/") {
		if strings.HasPrefix(path, "~") || strings.HasPrefix(path, "%(prefix)") {
			return "", errors.New("is not followed: only ~/ and plain paths are")
		}
		return path, nil
	}
	if home == "" {
		return "", errors.New("is not followed: the home folder is unknown")
	}
	return filepath.Join(home, path[1:]), nil
}

func (l *loader) problem(format string, args ...any) {
	if len(l.config.Problems) < maxFiles {
		l.config.Problems = append(l.config.Problems, fmt.Sprintf(format, args...))
	}
}

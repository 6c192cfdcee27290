package host

import (
	"sync"

	"code.sidecar.dev/sidecar/env"
)

// maxCached bounds how many machines (in practice: workspaces) a Cache remembers.
const maxCached = 32

// Cache remembers answers of Find while what they depended on is unchanged: PATH, the variables that were
// read, PATH's folders, version files that are or might be there, the folders of links, and the programs. The
// zero value is empty. It is safe for use by several goroutines.
type Cache struct {
	mu      sync.Mutex
	answers map[cacheKey]answer
}

// cacheKey is a Machine without its functions.
type cacheKey struct {
	path, home, dir, root string
	record                int64
}

// answer is a remembered environment and what it depended on.
type answer struct {
	environment env.Environment
	variables   map[string]string
	disk        disk
}

// cached is the process's own cache.
var cached Cache

// Cached is Find, or its last answer for this machine if nothing that it depended on has changed. The
// answer is shared: it must not be changed.
func Cached(m Machine) env.Environment { return cached.Find(m) }

// Find is the remembered answer, or a new one.
func (c *Cache) Find(m Machine) env.Environment {
	key := cacheKey{m.Path, m.Home, m.Dir, m.Root, m.Record}
	c.mu.Lock()
	known, ok := c.answers[key]
	c.mu.Unlock()
	if ok && known.holds(m) {
		return known.environment
	}
	e, f := search(m)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == nil || len(c.answers) >= maxCached {
		c.answers = map[cacheKey]answer{}
	}
	c.answers[key] = answer{environment: e, variables: f.variables, disk: f.disk}
	return e
}

// holds says whether the answer is still true of m.
func (a answer) holds(m Machine) bool {
	for name, value := range a.variables {
		if m.Getenv == nil && value != "" || m.Getenv != nil && m.Getenv(name) != value {
			return false
		}
	}
	for path, was := range a.disk.seen {
		if a.disk.stampOf(path) != was {
			return false
		}
	}
	return true
}

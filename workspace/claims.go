package workspace

import (
	"path/filepath"
	"sort"
	"strings"

	"code.sidecar.dev/workspace/looks"
)

// stub is what a placeholder file holds where the reading program takes "#" for a comment.
const stub = "# held by sidecar while a run lasts; safe to delete\n"

// maxLinks bounds a chain of symbolic links, as the kernel does.
const maxLinks = 40

// nothing, as a claim's absent hold, leaves an absent path alone.
const nothing Hold = -1

// claim is the wish to protect a path, before it is known what is there.
type claim struct {
	path   string
	reason string
	rank   int
	// folder is what an absent path would be; absent is how it is held then, content what stands in for it.
	folder  bool
	absent  Hold
	content string
	// followed says that the programs that obey the folder follow links in it: what those lead to is protected too.
	followed bool
	// top, when set, is the project's folder in which the programs that obey the path count: what it names is to be held, too.
	top string
}

// claims turns wishes into protected paths.
type claims struct {
	// scopes are the folders that a run can write in: nothing else needs protection.
	scopes []string
	kinds  map[string]fileKind
	looks  *looks.Looks
	held   map[string]Protected
	// entered are the folders that were looked through for links.
	entered map[string]bool
	// texts are the files whose claims have a top.
	texts []text
}

func newClaims(scopes []string, l *looks.Looks) *claims {
	return &claims{scopes: scopes, looks: l, kinds: map[string]fileKind{}, held: map[string]Protected{}, entered: map[string]bool{}}
}

// kind is lstat, remembered; one look per path keeps the list consistent and cheap.
func (c *claims) kind(path string) fileKind {
	if k, ok := c.kinds[path]; ok {
		return k
	}
	k := lstatKind(c.looks, path)
	c.kinds[path] = k
	return k
}

// scope is the longest scope that path lies in, or "".
func (c *claims) scope(path string) string {
	best := ""
	for _, s := range c.scopes {
		if inside(path, s) && len(s) > len(best) {
			best = s
		}
	}
	return best
}

// add takes one wish. The links that lead to its path are protected too, since whoever exchanges one decides
// what the path is.
func (c *claims) add(w claim) {
	for range maxLinks {
		path, missing, inScope := c.reach(w)
		switch {
		case !inScope:
			return
		case missing != "":
			c.absent(w, path, missing)
			return
		case c.kind(path) != kindLink:
			c.present(w, path)
			c.within(w, path)
			return
		}
		c.keep(Protected{Path: path, Hold: ReadOnly, Link: true, Reason: w.reason, Rank: w.rank})
		if w.path = c.linkTarget(path); w.path == "" {
			return
		}
		if w.absent == nothing {
			w.absent = Watch
		}
	}
}

// reach follows the links on the way to w.path, but not one at its end, and keeps each. It returns the path
// with real folders only, and the first part of it that is missing.
func (c *claims) reach(w claim) (path, missing string, inScope bool) {
	path = filepath.Clean(w.path)
	for range maxLinks {
		scope := c.scope(path)
		if scope == "" || len(path) >= maxPath {
			return "", "", false
		}
		link, missing := c.firstLink(scope, path)
		if link == "" {
			return path, missing, true
		}
		c.keep(Protected{Path: link, Hold: ReadOnly, Link: true, Reason: "it leads to " + w.path + ": " + w.reason, Rank: w.rank})
		target := c.linkTarget(link)
		if target == "" {
			return "", "", false
		}
		path = filepath.Join(target, path[len(link):])
	}
	return "", "", false
}

// firstLink walks down from scope and stops at a link that is not the last part, or at what is missing.
func (c *claims) firstLink(scope, path string) (link, missing string) {
	if path == scope {
		return "", ""
	}
	for end := len(strings.TrimSuffix(scope, "/")); end < len(path); {
		next := strings.IndexByte(path[end+1:], '/')
		if next < 0 {
			next = len(path) - end - 1
		}
		end += 1 + next
		switch k := c.kind(path[:end]); {
		case k == kindLink && end < len(path):
			return path[:end], ""
		case k == kindAbsent, k != kindFolder && end < len(path):
			return "", path[:end]
		}
	}
	return "", ""
}

// linkTarget is what a link's text names, not resolved further; "" when it cannot be read.
func (c *claims) linkTarget(link string) string {
	target, err := c.looks.Readlink(link)
	if err != nil || target == "" {
		return ""
	}
	// A relative target is relative to the real folder of the link, which its path is.
	return absolute(target, filepath.Dir(link))
}

// Bounds of what is looked for in a protected folder: links that lead out of it.
const (
	mostWithin  = 2000
	depthWithin = 6
)

// within protects what links in a protected folder lead to.
func (c *claims) within(w claim, path string) {
	if !w.followed || c.kind(path) != kindFolder || c.entered[path] {
		return
	}
	c.entered[path] = true
	left := mostWithin
	c.links(w, path, depthWithin, &left)
}

func (c *claims) links(w claim, dir string, depth int, left *int) {
	in := list(c.looks, dir)
	if w.top != "" && depth >= depthWithin-depthOfTexts {
		c.textsIn(w, dir, in)
	}
	for name, kind := range in {
		if *left--; *left < 0 {
			return
		}
		switch at := filepath.Join(dir, name); {
		case kind == kindLink && inside(at, c.linkTarget(at)): // to a folder above: all of that is not meant
		case kind == kindLink:
			c.add(claim{path: at, reason: w.reason, rank: w.rank, absent: nothing, followed: true, top: w.top})
		case kind == kindFolder && depth > 0:
			c.links(w, at, depth-1, left)
		}
	}
}

func (c *claims) present(w claim, path string) {
	c.isText(w, path)
	p := Protected{Path: path, Hold: ReadOnly, Folder: c.kind(path) == kindFolder, Reason: w.reason, Rank: w.rank}
	if w.absent == Placeholder && c.isStandIn(w, path) {
		p.Hold, p.Folder, p.Content = Placeholder, w.folder, w.content
	}
	c.keep(p)
}

// isStandIn tells whether path is just what a placeholder would be: then another run made it, which must not
// take it away under this one.
func (c *claims) isStandIn(w claim, path string) bool {
	if w.folder {
		return c.kind(path) == kindFolder && len(list(c.looks, path)) == 0
	}
	data, err := c.looks.Read(path)
	return err == nil && w.content != "" && string(data) == w.content
}

func (c *claims) absent(w claim, path, missing string) {
	if w.absent == nothing {
		return
	}
	p := Protected{Path: path, Hold: w.absent, Folder: w.folder, Reason: w.reason, Rank: w.rank}
	switch {
	case c.kind(missing) != kindAbsent: // a file where a folder would be
		p.Hold, p.Path, p.Folder = ReadOnly, missing, false
	case p.Hold == Placeholder && missing != path:
		// An empty folder in place of the topmost missing one keeps everything below it from appearing.
		p.Path, p.Folder = missing, true
	case p.Hold == Placeholder:
		p.Content = w.content
	}
	c.keep(p)
}

// strength orders holds: the strongest of two for one path wins.
func (h Hold) strength() int {
	switch h {
	case Hidden:
		return 4
	case ReadOnly:
		return 3
	case Writable:
		return 2
	case Placeholder:
		return 1
	}
	return 0
}

func (c *claims) keep(p Protected) {
	old, ok := c.held[p.Path]
	if ok && old.Hold.strength() >= p.Hold.strength() {
		old.Rank = min(old.Rank, p.Rank)
		c.held[p.Path] = old
		return
	}
	if ok {
		p.Rank = min(old.Rank, p.Rank)
	}
	c.held[p.Path] = p
}

// result returns what is held, sorted, without what a read-only folder above holds already.
func (c *claims) result() []Protected {
	var out []Protected
	for _, p := range c.held {
		if p.Hold == Writable || p.Hold == Hidden || !c.covered(p.Path) {
			out = append(out, p)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out
}

// covered tells whether the nearest held folder above path keeps everything below it as it is.
func (c *claims) covered(path string) bool {
	for dir := filepath.Dir(path); dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		p, ok := c.held[dir]
		if !ok || p.Link || !p.Folder {
			continue
		}
		switch p.Hold {
		case ReadOnly, Placeholder:
			return true
		case Writable:
			return false
		}
	}
	return false
}

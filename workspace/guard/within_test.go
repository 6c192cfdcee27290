//go:build unix

package guard

import "testing"

// What counts in a folder of some name only, and a link in the place of that folder.
func TestObeyedWithin(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		o.ObeyedIn = func(in, base string) (string, bool, bool) {
			return "a host program obeys it", base == "tasks", in == "mise" && (base == "config.toml" || base == "tasks")
		}
		o.Leads = func(base string) (string, bool) { return "it leads to what is obeyed", base == "mise" }
		p.sh("mkdir -p was/mise other; touch was/mise/config.toml other/config.toml; ln -s ../other was/link")
		w := p.guard(o, BeginOptions{})
		p.sh(`mkdir -p a/mise/tasks b/foo/mise c/mise d/mise/config.toml
			touch a/mise/config.toml a/mise/readme a/config.toml b/foo/mise/config.toml c/mise/other
			mv b/foo b/bar; ln -s other e; mkdir f; ln -s ../other f/mise`)
		p.end(w)
		for _, gone := range []string{"a/mise/config.toml", "a/mise/tasks", "b/bar/mise/config.toml", "f/mise"} {
			if p.exists(gone) {
				t.Error(gone, "is left")
			}
		}
		for _, left := range []string{"a/mise/readme", "a/config.toml", "c/mise/other", "d/mise/config.toml", "e", "was/mise/config.toml", "was/link"} {
			if !p.exists(left) {
				t.Error(left, "is gone")
			}
		}
	})
}

// An unfinished histedit is left, and moved aside when Mercurial would unpickle it.
func TestHistedit(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh("for d in a b; do mkdir -p $d/.hg; echo revlogv1 >$d/.hg/requires; done")
		w := p.guard(o, BeginOptions{})
		p.sh(`mkdir c; cp -r a/.hg c; printf 'v1\n00\n00\nFalse\n0\n0\n' >a/.hg/histedit-state
			for d in b c; do printf 'cos\nsystem\n' >$d/.hg/histedit-state; done`)
		p.end(w)
		for name, left := range map[string]bool{"a": true, "b": false, "c": false} {
			if p.exists(name+"/.hg/histedit-state") != left {
				t.Errorf("that of %s is left: %v", name, !left)
			}
		}
	})
}

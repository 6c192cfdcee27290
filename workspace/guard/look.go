//go:build unix

package guard

// look judges what events told of since the last look, while the run goes on: what the audit would, but for what no event
// tells of (a write through a mapping, a folder that was locked), which stays the audit's. With all it also reads what was
// there and no mount holds.
func (w *Watch) look(all bool) []Finding {
	t, r := w.run.t, w.run
	t.drain()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.happened != r.looked || all {
		r.looked = t.happened
		for range passes {
			if t.checkTouched(r) == 0 {
				break
			}
		}
		if all {
			t.auditSites(r)
			clear(r.clean) // what was clean now need not stay so
		}
		t.auditOdd(r)
		t.auditWatched(r)
		t.auditObeyed(r)
		t.checkTouched(r)
	}
	return append([]Finding(nil), r.findings...)
}

// checkTouched judges what was found since the run began, and what events told of; pointers last, as in auditSites.
func (t *tree) checkTouched(r *runState) (disarmed int) {
	paths := map[string]bool{}
	for path := range r.snaps {
		if r.touched[path] {
			paths[path] = true
		}
	}
	for path := range r.sites {
		paths[path] = true
	}
	return t.checkPaths(paths)
}

// checkPaths judges sites, pointers after what they may lead to.
func (t *tree) checkPaths(paths map[string]bool) (disarmed int) {
	for _, pointers := range []bool{false, true} {
		for path := range paths {
			if s := t.sites[path]; s != nil && (s.form == pointerSite) == pointers {
				disarmed += t.check(s, true)
			}
		}
	}
	return disarmed
}

package guard

import (
	"strings"
	"testing"
)

// What a user's programs have of watches together is not the guard's alone; what it leaves unwatched is looked at after the run.
func TestWatchesAreLeftToOthers(t *testing.T) {
	p := newPlace(t)
	w := p.guard(Options{Obeyed: obeyedNames}, BeginOptions{})
	p.g.tree.mu.Lock()
	most, have := p.g.tree.notify.most, len(p.g.tree.byWD)
	p.g.tree.notify.most = have + 5
	p.g.tree.mu.Unlock()
	if most <= 0 {
		t.Error("it would take all")
	}
	p.sh("mkdir -p a{1..40}/b; git init -q a9/s; " + armIt + "a9/s/.git/config; echo >a40/b/.envrc")
	p.want(p.end(w), "disarmed a40/b/.envrc", "disarmed a9/s/.git/config")
	p.g.tree.mu.Lock()
	defer p.g.tree.mu.Unlock()
	if n := len(p.g.tree.byWD); n > have+5 || !strings.Contains(p.g.tree.short, "max_user_watches") {
		t.Errorf("%d watches where there were %d; degraded: %q", n, have, p.g.tree.short)
	}
}

//go:build unix

package guard

import "golang.org/x/sys/unix"

// tellUnreadable tells of the folders that could not be listed, not even with their owner's rights, and that can be entered all
// the same: what a run has made there is not known. Into others no run can come either.
func (t *tree) tellUnreadable(r *runState) {
	for _, n := range t.unreadable {
		path := n.path()
		if !r.holds(path) && unix.Faccessat(n.base.fd, n.rel(), unix.X_OK, unix.AT_EACCESS) == nil {
			t.reportTo(r, Finding{Path: path, Action: Noticed,
				Reason: "it can be entered, but neither listed nor given another mode, so that what the run made in it is not known"})
		}
	}
}

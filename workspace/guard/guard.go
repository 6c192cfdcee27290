// Package guard notices what runs newly make in a workspace and host programs would execute or obey: git
// repositories with an armed config or hooks, and files such as .envrc or .vscode. It looks while runs last,
// through inotify, and audits after each of them. What is armed is moved aside, never deleted; what is benign,
// a plain `git clone`, is left whole.
//
//	g, err := guard.Open(root, guard.Options{Obeyed: obeyed})
//	w := g.Begin(guard.BeginOptions{RunID: id, Held: readOnlyMounts})
//	… the run …
//	report := w.End(ctx)
//
// While a run is alive it can always be faster than its guard: what counts is that End, called when no
// process of the run lives, leaves nothing armed. The guard acts with the host's rights on a tree that a
// hostile run changes at the same time, so every folder it touches is opened from the root on without
// following a single link, and things are moved only within the folder they lie in.
//
// It cannot tell a run's doings from those of the host at the same time: an armed repository that a person
// makes in the workspace while a run lasts is moved aside as well, and reported.
package guard

import (
	"context"
	"time"
)

// Options say what a guard looks for.
type Options struct {
	// Obeyed tells whether host programs obey an entry of this base name wherever it lies, why, and
	// whether it is a folder (.vscode) or a file (.envrc).
	Obeyed func(base string) (reason string, folder, ok bool)
	// ObeyedIn, when set, tells it of what counts in a folder of some name only (.config/mise).
	ObeyedIn func(in, base string) (reason string, folder, ok bool)
	// Leads, when set, tells of a name whether a link in the place of such a folder would have programs obey what it leads to.
	Leads func(base string) (reason string, ok bool)
	// GitDirs are git directories that the guard watches at their top, wherever they lie: the workspace's
	// own git dir and common dir, its submodules' and linked worktrees'. Absolute, links resolved.
	GitDirs []string
	// MaxFolders bounds the folders watched; 0 is DefaultMaxFolders. Beyond it the guard is degraded.
	MaxFolders int
	// NoNotify does without inotify: each End walks the whole tree.
	NoNotify bool
}

// DefaultMaxFolders is how many folders a guard watches at most.
const DefaultMaxFolders = 400_000

// Known is what the tree below the root held when last looked at. Paths are absolute and sorted.
type Known struct {
	// Repositories are `.git` entries (folder, file or link) and bare repositories' folders, the root's own
	// `.git` and what lies inside known git dirs not among them.
	Repositories []string
	// Others are the folders of other version control systems (.hg, .jj …).
	Others []string
	// Obeyed are files and folders that host programs obey, at any depth.
	Obeyed []string
	// Sockets are unix sockets.
	Sockets []string
	// Complete says that the first walk has ended.
	Complete bool
}

// Watched is one path whose appearance or change a run must not cause and that no mount holds.
type Watched struct {
	Path   string
	Reason string
	// Folder says that it is, or would become, a folder.
	Folder bool
}

// BeginOptions describe one run to its Watch.
type BeginOptions struct {
	// RunID is part of the names of what is moved aside.
	RunID string
	// Start is when the run began; zero is now. What the first walk finds and was changed since is the run's.
	Start time.Time
	// Watched are the paths that no mount holds.
	Watched []Watched
	// Held are the paths that the sandbox mounts read-only, so that whatever changes in or below them is the
	// host's own doing: the guard leaves them alone. Without it an editor's own settings would be moved aside.
	Held []string
	// Open are folders below Held ones that the run can write to all the same.
	Open []string
	// Replaced, when set, is told of a Held path that a program outside the sandbox replaced: with what it
	// covered, the kernel drops the mount in the sandbox. It calls again once a mount holds the path again.
	Replaced func(path string, again func())
	// GitDirs are the git directories known when the run began; their config, hooks, commondir,
	// config.worktree, gitdir and locks are compared at the end. Nil takes those of Options.
	GitDirs []string
	// Storm, when set, is called once, on a goroutine of its own, when the run arms things faster than sense
	// allows (more than StormLimit disarmings), or fills git directories with links or named pipes: the caller should kill it.
	Storm func()
}

// Compares tells the entries of a git directory that a Watch compares by itself, so that they need not be among
// its Watched.
func Compares(name string) bool { return comparesInGitDir[name] }

var comparesInGitDir = map[string]bool{"config": true, "config.worktree": true, "commondir": true, "hooks": true, "gitdir": true}

// StormLimit is how many disarmings a run may cause before Storm is called.
const StormLimit = 50

// Report is what one run did, as far as its Watch could see.
type Report struct {
	Findings []Finding
	// Degraded, when not empty, says why events were lost or could not be had, and what to do; the whole tree
	// was then read instead.
	Degraded string
	// Rest is nil when the audit is complete. Else the context ended first: the audit goes on and the
	// remaining findings come on this channel, once, and it is closed.
	Rest <-chan []Finding
}

// Guard watches one workspace for any number of runs.
type Guard struct {
	root   string
	opts   Options
	tree   *tree
	ctx    context.Context
	cancel context.CancelFunc
}

// Watch is one run's view of a Guard.
type Watch struct {
	g    *Guard
	opts BeginOptions
	run  *runState
	// wasDegraded is why the whole tree had to be read at the end.
	wasDegraded string
}

// Open starts to watch and to walk the tree below root, which must be absolute with links resolved. It
// returns before the walk ends: see Ready.
func Open(root string, o Options) (*Guard, error) { return open(root, o) }

// Ready waits for the first walk.
func (g *Guard) Ready(ctx context.Context) error { return g.ready(ctx) }

// Known tells what is there now. Before the first walk ended it is a part.
func (g *Guard) Known() Known { return g.known() }

// Happened counts what events told of: as long as it is the same, so is what is Known.
func (g *Guard) Happened() int { return g.happened() }

// Degraded says why the guard cannot rely on events, and what to do; "" when it can.
func (g *Guard) Degraded() string { return g.degraded() }

// Close ends the watching. All runs' watches have ended before.
func (g *Guard) Close() error { return g.close() }

// Begin starts to look on behalf of one run; call it before the run's first process starts.
func (g *Guard) Begin(o BeginOptions) *Watch { return g.begin(o) }

// Findings are those so far, for showing while the run lasts.
func (w *Watch) Findings() []Finding { return w.run.all() }

// Look judges what has happened so far while the run goes on, and gives all findings up to now: those of a session between
// its calls. With all it reads also what no event may tell of: files that have a second name. It is no audit, which only End
// is: a process that lives can undo what it looks at.
func (w *Watch) Look(all bool) []Finding { return w.look(all) }

// Forget ends a watch of which no process has begun, without an audit, and gives what was found meanwhile.
func (w *Watch) Forget() []Finding { return w.forget() }

// End audits. Call it when no process of the run is alive. It reads only what is new or changed, and the
// whole tree only when the guard is degraded; when ctx ends first, the rest is reported later.
func (w *Watch) End(ctx context.Context) Report { return w.end(ctx) }

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace/linked"
)

func worktreeCommand(f *flags, t terminal) *cobra.Command {
	c := &cobra.Command{Use: "worktree", Short: "List and drop the worktrees of agents' sessions (sidecar exec --worktree NAME)"}
	c.AddCommand(worktreeListCommand(f, t), worktreeDropCommand(f, t))
	return c
}

// shownTree is a worktree, and how many sessions and runs go on in it.
type shownTree struct {
	*linked.Tree
	Runs int `json:"runs"`
}

func worktreeListCommand(f *flags, t terminal) *cobra.Command {
	return showCommand("list", "List the project's worktrees of agents' sessions", t, func(ctx context.Context) (any, string, error) {
		trees, done, err := f.worktrees(t)
		if err != nil {
			return nil, "", err
		}
		defer done()
		all := []shownTree{}
		var b strings.Builder
		for _, tree := range trees.List() {
			runs := f.runsIn(ctx, tree.Path, t)
			all = append(all, shownTree{tree, runs})
			_, _ = fmt.Fprintf(&b, "%s  on %s  %s%s\n", protocol.OneLine(tree.Name), protocol.OneLine(tree.Branch), protocol.OneLine(tree.Path), protocol.OneLine(treeState(tree, runs)))
		}
		if len(all) == 0 {
			b.WriteString("no worktrees of sessions; sidecar exec --worktree NAME makes one\n")
		}
		return all, b.String(), nil
	})
}

func treeState(tree *linked.Tree, runs int) string {
	text := ""
	if tree.Condition != linked.Ready {
		text += fmt.Sprintf("  %s: %s", tree.Condition, tree.Why)
	}
	if runs > 0 {
		text += fmt.Sprintf("  %d running", runs)
	}
	return text
}

func worktreeDropCommand(f *flags, t terminal) *cobra.Command {
	force := false
	c := &cobra.Command{
		Use:               "drop NAME",
		Short:             "Remove a session's worktree, and its branch if that holds nothing new",
		Args:              one("worktree", "`sidecar worktree list` lists them"),
		ValidArgsFunction: completeFirst(f.worktreeNames),
		RunE: func(c *cobra.Command, args []string) error {
			trees, done, err := f.worktrees(t)
			if err != nil {
				return err
			}
			defer done()
			tree, err := trees.Find(args[0])
			if err != nil {
				return sidecar.WorktreeError(err)
			}
			if err := f.quiet(c.Context(), tree.Path, t); err != nil {
				return err
			}
			dropped, err := trees.Drop(c.Context(), args[0], force)
			if err != nil {
				return sidecar.WorktreeError(err)
			}
			say(t, "dropped "+protocol.OneLine(dropped.Tree.Path))
			if dropped.Branch != "" {
				say(t, fmt.Sprintf("deleted the branch %s, which was at %s", protocol.OneLine(dropped.Branch), dropped.Commit))
			}
			for _, lost := range dropped.Lost {
				say(t, "lost: "+protocol.OneLine(lost))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&force, "force", false, "also when work would be lost")
	return c
}

// worktrees are those of the project around here.
func (f *flags) worktrees(t terminal) (trees *linked.Trees, done func(), err error) {
	e, root, err := f.open(t)
	if err != nil {
		return nil, nil, err
	}
	if trees, err = e.Worktrees(root); err != nil {
		e.Close()
		return nil, nil, err
	}
	return trees, e.Close, nil
}

// servedAt connects to the sidecar of a worktree, nil when none lives.
func (f *flags) servedAt(ctx context.Context, path string, t terminal) *client.Client {
	p, err := place.Of(path)
	if err != nil {
		return nil
	}
	c, err := client.Attach(ctx, p, f.observer(t))
	if err != nil {
		return nil
	}
	return c
}

func (f *flags) runsIn(ctx context.Context, path string, t terminal) int {
	c := f.servedAt(ctx, path, t)
	if c == nil {
		return 0
	}
	defer c.Close()
	s, err := statusOf(ctx, c)
	if err != nil {
		return 0
	}
	return len(s.Runs)
}

// quiet ends the sidecar of a worktree that is to be dropped, unless something runs there.
func (f *flags) quiet(ctx context.Context, path string, t terminal) error {
	c := f.servedAt(ctx, path, t)
	if c == nil {
		return nil
	}
	defer c.Close()
	s, err := statusOf(ctx, c)
	if err != nil {
		return err
	}
	if len(s.Runs) > 0 {
		return &protocol.Error{Kind: protocol.BadRequest, Message: "in use by " + counted(len(s.Runs), "run") + ": " + path, Hint: "end them first: sidecar cancel, or leave the agent"}
	}
	if err := c.Call(ctx, protocol.MethodStop, protocol.StopParams{}, nil); err != nil {
		return err
	}
	select {
	case <-c.Done():
	case <-time.After(answerWithin):
	}
	return nil
}

// worktreeSession is a session in a worktree of its own.
type worktreeSession struct {
	engine *sidecar.Engine
	trees  *linked.Trees
	tree   *linked.Tree
	before *linked.State
}

// begin makes or reopens the worktree.
func (f *flags) begin(ctx context.Context, root, name, base string, t terminal) (*worktreeSession, error) {
	e, err := f.engine(root, t)
	if err != nil {
		return nil, err
	}
	w := &worktreeSession{engine: e}
	if w.trees, err = e.Worktrees(root); err == nil {
		w.tree, err = w.trees.Make(ctx, name, base)
	}
	if err == nil {
		w.before, err = w.trees.Look(ctx, w.tree)
	}
	if err != nil {
		e.Close()
		return nil, sidecar.WorktreeError(err)
	}
	verb := "made"
	if w.tree.Reopened {
		verb = "reopened"
	}
	say(t, fmt.Sprintf("%s the worktree %s on the branch %s", verb, protocol.OneLine(w.tree.Path), protocol.OneLine(w.tree.Branch)))
	for _, note := range w.tree.Notes {
		say(t, clean(note))
	}
	return w, nil
}

// finish says what the session changed, and how to take it or drop it.
func (w *worktreeSession) finish(ctx context.Context, name string, t terminal) {
	defer w.engine.Close()
	tree, err := w.trees.Find(name)
	if err != nil {
		say(t, sidecar.WorktreeError(err).Error())
		return
	}
	sum, err := w.trees.Summary(ctx, tree, w.before)
	if err != nil {
		say(t, sidecar.WorktreeError(err).Error())
		return
	}
	_, _ = fmt.Fprint(t.err, clean(sum.Text()))
}

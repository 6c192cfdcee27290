package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar/protocol"
)

// last names the run of the project around here that began last.
const last = "last"

// wholeID is what the id of a run looks like.
var wholeID = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[0-9a-f]{8}$`)

// leastOfID is how much of an id names a run at least: a single character would mostly be a slip.
const leastOfID = 4

// aboutRun is a command about the run that its argument names.
func (f *flags) aboutRun(t terminal, do func(c *cobra.Command, id string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		id, err := f.idOf(c.Context(), args[0], t)
		if err != nil {
			return err
		}
		return do(c, id)
	}
}

// idOf is the id of the run that a person names: by all of it, its beginning or its end, or as the last one. What fits none is
// given back, for who knows what to say of it.
func (f *flags) idOf(ctx context.Context, name string, t terminal) (string, error) {
	if wholeID.MatchString(name) || name != last && len(name) < leastOfID {
		return name, nil
	}
	r := &runsFlags{flags: f, all: name != last}
	if name == last {
		r.p.Limit = 1
	}
	runs, err := r.listed(ctx, t)
	if err != nil {
		return name, err
	}
	return oneOfRuns(name, runs, time.Now())
}

// mostCandidates is how many runs are shown that a name fits.
const mostCandidates = 10

// oneOfRuns finds the run that is meant.
func oneOfRuns(name string, runs []protocol.Run, now time.Time) (string, error) {
	fits := slices.DeleteFunc(slices.Clone(runs), func(r protocol.Run) bool {
		return name != last && !strings.HasPrefix(r.ID, name) && !strings.HasSuffix(r.ID, name)
	})
	switch {
	case len(fits) == 1:
		return fits[0].ID, nil
	case len(fits) > 1:
		return name, usage("give more of its id:\n"+runsText(fits[:min(len(fits), mostCandidates)], true, now), fmt.Sprintf("%q fits %d runs", name, len(fits)))
	case name == last:
		return name, usage("`sidecar runs --all` lists those of all projects", "nothing is known to have run in this project")
	}
	return name, nil
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/history"
	"code.sidecar.dev/sidecar/protocol"
)

type rerunFlags struct {
	*flags
	env   []string
	exact bool
	json  bool
}

func rerunCommand(f *flags, t terminal) *cobra.Command {
	r := &rerunFlags{flags: f}
	c := &cobra.Command{
		Use:   "rerun ID",
		Short: "Run once more what ran before: the same code in the same environment under the same policy",
		Long: `Run once more what ran before: the same code in the same environment under the same policy.

What cannot be had again is said on stderr: an environment that was collected, values of
variables (never kept), input that came as a stream, and each line in which today's policy
is another one. The settings of today hold: what they no longer allow a rerun does not get.`,
		Args:              aRun,
		ValidArgsFunction: f.completeRuns(false),
		RunE:              f.aboutRun(t, func(c *cobra.Command, id string) error { return r.rerun(c.Context(), id, t) }),
	}
	fs := c.Flags()
	fs.StringArrayVar(&r.env, "env", nil, "give a variable its value again: `NAME=VALUE`, or NAME from here (may be repeated)")
	fs.BoolVar(&r.exact, "exact", false, "run nothing if anything cannot be had again")
	fs.BoolVar(&r.json, "json", false, "print the result as JSON when the run has ended")
	return c
}

func (r *rerunFlags) rerun(ctx context.Context, id string, t terminal) error {
	rec, err := r.recordOf(ctx, id, t)
	if err == nil {
		err = repeatable(rec)
	}
	if err != nil {
		return err
	}
	if name := rec.Run.SessionName; r.exact && name != "" {
		return &protocol.Error{Kind: protocol.Denied, Message: "nothing was run: a session's call cannot be repeated exactly, since it depends on what the session " + name + " held then", Hint: "leave --exact out to do it in the session of that name as it is now"}
	}
	root := rec.Run.Workspace
	e, err := r.engine(root, t)
	if err != nil {
		return err
	}
	defer e.Close()
	req, lacks, err := r.request(rec, e.Settings())
	if err != nil {
		return err
	}
	changed, err := changes(ctx, e, rec, req)
	if err != nil {
		return err
	}
	lacks = append(lacks, changed...)
	for _, l := range lacks {
		say(t, protocol.OneLine("not as before: "+l))
	}
	if r.exact && len(lacks) > 0 {
		return &protocol.Error{Kind: protocol.Denied, Message: "nothing was run: it would not be the same (--exact)", Hint: "leave --exact out to run it as it can be now"}
	}
	return r.perform(ctx, root, rec, req, t)
}

// perform does it as `sidecar run` or `sidecar exec` did.
func (r *rerunFlags) perform(ctx context.Context, root string, rec protocol.RunRecord, req protocol.RunRequest, t terminal) error {
	run := &runFlags{flags: r.flags, json: r.json}
	if rec.Terminal {
		x := &execFlags{flags: r.flags}
		result, err := x.session(ctx, root, req, t)
		if err != nil {
			return err
		}
		return run.finish(result, t)
	}
	ctx, stop := run.heed(ctx)
	defer stop()
	out := &printer{ctx: ctx, stop: stop, t: t}
	sink := out.write
	if r.json {
		sink = func(protocol.Stream, []byte) {}
	}
	pool := client.NewPool(r.as("terminal", t))
	defer pool.Close()
	watch := client.Watch{Output: sink, Building: tellBuilding(t), Begun: func(to client.Reach) { run.begun(req.RunParams, to) }}
	var stdin io.Reader
	if rec.StreamedStdin {
		stdin = t.stdin()
	}
	result, err := pool.Run(ctx, root, req, stdin, watch)
	if failed := out.failed(); failed != nil {
		return failed
	}
	if err != nil {
		return run.ended(err, t)
	}
	if rec.Interpreter != "" && result.Interpreter != rec.Interpreter {
		say(t, fmt.Sprintf("not as before: the program was %s, and now %s", rec.Interpreter, result.Interpreter))
	}
	return run.finish(result, t)
}

// repeatable says what keeps a run from being done again at all.
func repeatable(rec protocol.RunRecord) error {
	if rec.Keep == history.Metadata {
		return &protocol.Error{Kind: protocol.BadRequest, Message: "of the run " + rec.Run.ID + " neither code nor arguments were kept", Hint: "history.keep was metadata when it ran"}
	}
	if info, err := os.Stat(rec.Run.Workspace); err != nil || !info.IsDir() {
		return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("the workspace %s of the run %s is gone", rec.Run.Workspace, rec.Run.ID), Hint: "`sidecar show` has its code, for another one"}
	}
	return nil
}

// request is what was asked for then, as far as that can be asked for again, and what cannot.
func (r *rerunFlags) request(rec protocol.RunRecord, s config.Settings) (req protocol.RunRequest, lacks []string, err error) {
	req = protocol.RunRequest{RunParams: rec.Request, Session: rec.Run.Session, Allow: rec.Allow}
	req.Client = "terminal"
	if req.Env, err = variables(r.env); err != nil {
		return req, nil, err
	}
	missing := slices.DeleteFunc(slices.Clone(rec.EnvNames), func(name string) bool { _, have := req.Env[name]; return have })
	if len(missing) > 0 {
		lacks = append(lacks, "the values of the variables "+strings.Join(missing, ", ")+" are not kept (--env NAME=VALUE gives them)")
	}
	if rec.StreamedStdin {
		lacks = append(lacks, "what it read on standard input is not kept; it reads that of this command")
	}
	if req.Allow != nil && req.Allow.Policy != nil {
		text, err := config.ReadPolicy(req.Allow.Policy.File)
		if err != nil {
			return req, lacks, err
		}
		allow := *req.Allow
		allow.Policy = &protocol.Policy{File: allow.Policy.File, Text: text}
		req.Allow = &allow
	}
	return req, append(lacks, sameStore(&req, rec, s)...), nil
}

// sameStore asks for the very environment that the run had.
func sameStore(req *protocol.RunRequest, rec protocol.RunRecord, s config.Settings) (lacks []string) {
	store := rec.Environment.Store
	switch {
	case store == "":
		return nil
	case rec.Environment.Shell: // it is more than its path; what else it is the project or its flake says
		return []string{"the dev shell " + rec.Environment.ID + " is what it is today; then it was " + store}
	}
	if _, err := os.Lstat(s.Nix.Store + store); err != nil {
		return []string{fmt.Sprintf("the environment %s is gone; it is made anew of what was asked for", store)}
	}
	req.Environment, req.Packages = store, nil
	if req.Allow == nil {
		req.Allow = &protocol.Allowance{} // only a person may name a store path
	}
	return nil
}

// changes are the lines in which the policy of today is another one.
func changes(ctx context.Context, e *sidecar.Engine, rec protocol.RunRecord, req protocol.RunRequest) ([]string, error) {
	if name := rec.Run.SessionName; name != "" { // whose policy is the session's
		return []string{"what the session " + name + " held is what it holds now"}, nil
	}
	if rec.Policy == "" {
		return nil, nil
	}
	ask := sidecar.Ask{Session: req.Session, Allow: req.Allow}
	if rec.Terminal {
		ask.Terminal = &protocol.Terminal{}
	}
	_, policy, err := e.Plan(ctx, sidecar.Request{Dir: rec.Run.Workspace, Params: req.RunParams, Ask: ask})
	if err != nil {
		return nil, err
	}
	return differences(policyLines(rec.Policy), policyLines(sidecar.PolicyText(policy, nil))), nil
}

// policyLines are the facts of a policy, without those about what exists for a run alone, or does not exist.
func policyLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		kind, path, _ := strings.Cut(line, " ")
		if _, err := os.Lstat(path); err != nil && slices.Contains([]string{"frozen", "thawed", "covered"}, kind) {
			continue
		}
		if !strings.HasPrefix(line, sidecar.PlaceholderLine) {
			out = append(out, line)
		}
	}
	return out
}

// maxDifferences is how many are told one by one.
const maxDifferences = 20

func differences(before, now []string) []string {
	var out []string
	for _, line := range before {
		if !slices.Contains(now, line) {
			out = append(out, "the policy had: "+line)
		}
	}
	for _, line := range now {
		if !slices.Contains(before, line) {
			out = append(out, "the policy has: "+line)
		}
	}
	if more := len(out) - maxDifferences; more > 0 {
		out = append(out[:maxDifferences], fmt.Sprintf("the policy differs in %d further lines", more))
	}
	return out
}

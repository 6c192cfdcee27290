package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/history"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
)

// history is that of this user. Who opens it closes it.
func (f *flags) history(t terminal) (*history.Store, error) {
	state, err := config.StateDir()
	if err != nil {
		return nil, config.NoState(err)
	}
	return history.Open(history.Options{Dir: state, Log: f.log(t)}), nil
}

// runsFlags say which runs are meant.
type runsFlags struct {
	*flags
	p           protocol.RunsParams
	all, export bool
	since       string
}

// listed are the runs that are asked for: those of the history, and of the sidecars that live, which know best how theirs
// are, and those that are not to be kept.
func (r *runsFlags) listed(ctx context.Context, t terminal) ([]protocol.Run, error) {
	root, err := r.root()
	if err != nil {
		return nil, err
	}
	h, err := r.history(t)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	past, err := h.List(ctx, root, r.p)
	if err != nil {
		say(t, fmt.Sprintf("the history cannot be read: %v", err))
	}
	if aside := h.Damaged(); len(aside) > 0 {
		say(t, "a history that was damaged was set aside, and a new one begun: "+strings.Join(aside, ", ")+" (remove it when it is of no use)")
	}
	now, err := r.now(ctx, root, t)
	return r.p.Of(now, past), err
}

// root is the project that is asked about, "" for all of them.
func (r *runsFlags) root() (string, error) {
	if r.all {
		return "", nil
	}
	return r.here()
}

// now are the runs that living sidecars know.
func (r *runsFlags) now(ctx context.Context, root string, t terminal) ([]protocol.Run, error) {
	clients, err := r.sidecars(ctx, root, t)
	if err != nil {
		return nil, err
	}
	var all []protocol.Run
	for _, c := range clients {
		var answer protocol.RunsResult
		if err := c.Call(ctx, protocol.MethodRuns, r.p, &answer); err == nil {
			for i := range answer.Runs {
				answer.Runs[i].Workspace = c.About().Workspace
			}
			all = append(all, answer.Runs...)
		}
		c.Close()
	}
	return all, nil
}

// sidecars are the one of a project, if it lives, or for "" all that do.
func (f *flags) sidecars(ctx context.Context, root string, t terminal) ([]*client.Client, error) {
	if root == "" {
		clients, _, err := f.live(ctx, t)
		return clients, err
	}
	p, err := place.Of(root)
	if err != nil {
		return nil, err
	}
	c, err := client.Attach(ctx, p, f.observer(t))
	if err == nil {
		return []*client.Client{c}, nil
	}
	if place.Nobody(err) {
		err = nil
	}
	return nil, err
}

// given reads what the flags have as text.
func (r *runsFlags) given(now time.Time) (err error) {
	if r.since != "" {
		r.p.Since, err = since(r.since, now)
	}
	return err
}

// since reads the value of --since.
func since(text string, now time.Time) (time.Time, error) {
	at, err := moment(text, now)
	if err != nil {
		err = usage("give how long ago (90m, 12h, 7d, a number of seconds), a date (2026-11-30) or a time (2026-11-30T08:00:00Z)", fmt.Sprintf("--since %q is no time", text))
	}
	return at, err
}

// moment reads a time: how long before now, a local date, or a time with its zone.
func moment(text string, now time.Time) (time.Time, error) {
	if days, rest, err := stretchOf(strings.TrimSuffix(text, " ago")); err == nil {
		return now.AddDate(0, 0, -days).Add(-rest), nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return t, nil
	}
	return time.Parse(time.RFC3339, text)
}

// exportRuns prints records as lines of JSON.
func (r *runsFlags) exportRuns(ctx context.Context, t terminal) error {
	root, err := r.root()
	if err != nil {
		return err
	}
	h, err := r.history(t)
	if err != nil {
		return err
	}
	defer h.Close()
	lines := json.NewEncoder(t.out)
	lines.SetEscapeHTML(false)
	return h.Each(ctx, root, r.p, func(rec protocol.RunRecord) error { return lines.Encode(rec) })
}

func showRunCommand(f *flags, t terminal) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:               "show ID",
		Short:             "Show all that the history has of a run: code, policy, how it ended, what it printed",
		Args:              aRun,
		ValidArgsFunction: f.completeRuns(false),
		RunE: f.aboutRun(t, func(c *cobra.Command, id string) error {
			rec, err := f.recordOf(c.Context(), id, t)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t, rec)
			}
			_, err = fmt.Fprint(t.out, recordText(rec))
			return err
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// recordOf is what the history has of a run.
func (f *flags) recordOf(ctx context.Context, id string, t terminal) (protocol.RunRecord, error) {
	h, err := f.history(t)
	if err != nil {
		return protocol.RunRecord{}, err
	}
	defer h.Close()
	rec, ok, err := h.Get(ctx, id)
	if err != nil {
		return rec, &protocol.Error{Kind: protocol.Internal, Message: fmt.Sprintf("the history cannot be read: %v", err), Hint: "if its disk is full or read-only, mend that", Err: err}
	}
	if !ok {
		return rec, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("the history has no run %.80q", id), Hint: "`sidecar runs --all` lists those that it has; history.keep may be off"}
	}
	return rec, nil
}

// recordText shows a record to people.
func recordText(r protocol.RunRecord) string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, protocol.OneLine(text))
		}
	}
	block := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s\n", name)
			for l := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
				b.WriteString("  " + clean(l))
			}
		}
	}
	line(kind(r.Run), r.Run.ID)
	line("asked by", r.Run.Client)
	line("workspace", r.Run.Workspace)
	line("in", strings.TrimPrefix(r.Run.Cwd, r.Run.Workspace+string(filepath.Separator)))
	line("started", r.Run.Started.Local().Format(time.DateTime))
	line("ended", endText(r.Run))
	line("language", r.Run.Language)
	line("program", r.Interpreter)
	line("environment", strings.TrimSpace(r.Environment.ID+" "+r.Environment.Store))
	line("packages", strings.Join(r.Request.Packages, ", "))
	line("profile", r.Run.Profile)
	line("arguments", quotedWords(r.Request.Args))
	line("variables", strings.Join(r.EnvNames, ", "))
	findingsText(line, r.Run.End)
	block("command", quotedWords(r.Request.Command))
	block("code", r.Request.Code)
	block("input", r.Request.Stdin)
	block("policy", r.Policy+gapsText(r.Gaps))
	block("stdout", printedText(r.Stdout))
	block("stderr", printedText(r.Stderr))
	block("notes", strings.Join(r.Notes, "\n"))
	if r.Keep == history.Metadata {
		block("not kept", "code, input, arguments and output (history.keep: metadata)")
	}
	return b.String()
}

// endText is how a run ended, with what it used.
func endText(r protocol.Run) string {
	e := r.End
	if e == nil {
		return "it goes on"
	}
	text := e.Time.Local().Format(time.DateTime) + ", " + ending(*e)
	if e.MaxRSS > 0 {
		text += fmt.Sprintf(", %d MiB, %s of processor time", e.MaxRSS>>20, time.Duration(e.CPU).Round(time.Millisecond))
	}
	return text
}

func findingsText(line func(name, text string), e *protocol.RunEnd) {
	if e == nil {
		return
	}
	for _, f := range e.Findings {
		line("finding", fmt.Sprintf("%s: %s (%s)", f.Path, f.Reason, f.Action))
	}
	for _, d := range e.Denied {
		line("denied", d.Text())
	}
}

func gapsText(gaps []string) string {
	var b strings.Builder
	for _, g := range gaps {
		b.WriteString("gap: " + g + "\n")
	}
	return b.String()
}

// printedText is a stream, or where it is.
func printedText(o protocol.RecordedOutput) string {
	switch {
	case o.Text != "":
		return o.Text
	case o.File != "":
		return fmt.Sprintf("%d bytes, in %s", o.Bytes, o.File)
	case o.Bytes > 0:
		return fmt.Sprintf("%d bytes, which are not kept", o.Bytes)
	}
	return ""
}

// quotedWords are words as a person can tell them apart.
func quotedWords(words []string) string {
	var out []string
	for _, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\") {
			w = strconv.Quote(w)
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// printPast prints what a run printed that no living sidecar knows; unknown is the error if the history does not, either.
func (f *flags) printPast(ctx context.Context, id string, onlyErr bool, unknown error, t terminal) error {
	h, err := f.history(t)
	if err != nil {
		return err
	}
	defer h.Close()
	rec, ok, err := h.Get(ctx, id)
	switch {
	case err != nil:
		return err
	case !ok:
		return unknown
	case onlyErr:
		return printKept(rec.Stderr, t.out)
	}
	if err := printKept(rec.Stdout, t.out); err != nil {
		return err
	}
	return printKept(rec.Stderr, t.err)
}

// printKept prints a stream as it is kept.
func printKept(o protocol.RecordedOutput, to io.Writer) error {
	if o.File == "" {
		if _, err := io.WriteString(to, o.Text); err != nil || o.Text != "" || o.Bytes == 0 {
			return err
		}
		return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("it printed %d bytes, which are not kept", o.Bytes), Hint: "history.keep is metadata, or it was a session's screen"}
	}
	f, err := os.Open(o.File)
	if err != nil {
		return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("the output was kept in %s, which cannot be read any more: %v", o.File, err), Hint: "outputs are kept for a week", Err: err}
	}
	defer f.Close()
	_, err = io.Copy(to, f)
	return err
}

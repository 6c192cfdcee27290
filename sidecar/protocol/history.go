package protocol

import (
	"slices"
	"strings"
	"time"
)

// RunsParams is the parameter of sidecar/runs: which runs to list. The zero value is all of the workspace.
type RunsParams struct {
	// Limit is how many to give at most; 0 is 200.
	Limit int `json:"limit,omitempty"`
	// Live leaves out those that have ended.
	Live bool `json:"live,omitempty"`
	// Failed leaves out those that go on, and those that ended with the status 0 and of themselves.
	Failed bool `json:"failed,omitempty"`
	// Findings leaves out those without a finding.
	Findings bool `json:"findings,omitempty"`
	// Client is the beginning of the client's name, Language the language's whole name, whatever their case.
	Client   string `json:"client,omitempty"`
	Language string `json:"language,omitempty"`
	// Since and Before bound when they were asked for: not before, and before.
	Since  time.Time `json:"since,omitzero"`
	Before time.Time `json:"before,omitzero"`
}

// Wants says whether a run is one of those that are asked for; Limit does not count here.
func (p RunsParams) Wants(r Run) bool {
	switch {
	case p.Live && r.End != nil, p.Failed && !r.Failed(), p.Findings && (r.End == nil || len(r.End.Findings) == 0):
		return false
	case p.Client != "" && (len(r.Client) < len(p.Client) || !strings.EqualFold(r.Client[:len(p.Client)], p.Client)):
		return false
	case p.Language != "" && !strings.EqualFold(r.Language, p.Language):
		return false
	}
	return !r.Started.Before(p.Since) && (p.Before.IsZero() || r.Started.Before(p.Before))
}

// Of picks from lists of runs those that are asked for, the newest first and each once: what an earlier list says of a run
// counts.
func (p RunsParams) Of(lists ...[]Run) []Run {
	out, have := []Run{}, map[string]bool{}
	for _, list := range lists {
		for _, r := range list {
			if !have[r.ID] && p.Wants(r) {
				out = append(out, r)
			}
			have[r.ID] = true
		}
	}
	slices.SortStableFunc(out, func(a, b Run) int { return b.Started.Compare(a.Started) })
	if p.Limit > 0 && len(out) > p.Limit {
		out = out[:p.Limit]
	}
	return out
}

// Failed says that a run has ended, and not well.
func (r Run) Failed() bool {
	e := r.End
	return e != nil && (e.ExitCode != 0 || e.Limit != "" || e.Cancelled || e.Error != nil)
}

// RecordParams is the parameter of sidecar/record.
type RecordParams struct {
	ID string `json:"id"`
}

// RunRecord is all that the history keeps of a run.
type RunRecord struct {
	Run Run `json:"run"`
	// Request is what was asked for, without Env. Where Keep is "metadata" it has neither code nor input nor arguments.
	Request RunParams `json:"request"`
	// EnvNames are the variables that the request set. Their values are never kept.
	EnvNames []string `json:"envNames,omitempty"`
	// Allow is what a person gave it beyond the settings. Of a policy's file it has the name, not the text.
	Allow *Allowance `json:"allow,omitempty"`
	// Terminal says that it had one, StreamedStdin that it read what is not kept.
	Terminal      bool `json:"terminal,omitempty"`
	StreamedStdin bool `json:"streamedStdin,omitempty"`
	// Keep is the setting history.keep as it was: "full" or "metadata".
	Keep string `json:"keep"`
	// Environment is what it ran in, Interpreter the program that ran the code.
	Environment RecordedEnvironment `json:"environment"`
	Interpreter string              `json:"interpreter,omitempty"`
	// Policy is what it could see, do and reach, a line a fact; "" when it came to none.
	Policy string `json:"policy,omitempty"`
	// Gaps and Notes are as in RunResult.
	Gaps  []string `json:"gaps,omitempty"`
	Notes []string `json:"notes,omitempty"`
	// Stdout and Stderr are what it printed.
	Stdout RecordedOutput `json:"stdout"`
	Stderr RecordedOutput `json:"stderr"`
}

// RecordedEnvironment is the environment that a run had.
type RecordedEnvironment struct {
	ID       string `json:"id,omitempty"`
	Provider string `json:"provider,omitempty"`
	// Store is the store path of one that Nix built, Shell says that it is a dev shell, which is more than its path.
	Store string `json:"store,omitempty"`
	Shell bool   `json:"shell,omitempty"`
}

// RecordedOutput is a stream of a run as it is kept: Text when it was short, else the File that has the whole of it until
// that is pruned. Neither where the history keeps metadata alone.
type RecordedOutput struct {
	Bytes int64  `json:"bytes"`
	Text  string `json:"text,omitempty"`
	File  string `json:"file,omitempty"`
}

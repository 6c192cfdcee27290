package sidecar

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/phases"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/telemetry"
)

// What is logged of runs never has code, arguments, output or values of variables: a log is read, mailed and kept by people who
// look into a problem.

// logsEnd logs how a run ended, or that it could not be done. What is kept of a session's interpreter is for debugging.
func (e *Engine) logsEnd(r Request, result protocol.RunResult, err error, took time.Duration) {
	level := slog.LevelInfo
	if r.Ask.calls != "" {
		level = slog.LevelDebug
	}
	ctx := context.Background()
	if !e.log.Enabled(ctx, level) {
		return
	}
	shown := r.shown()
	attrs := []slog.Attr{slog.String("run", shown.ID), slog.String("client", shown.Client), slog.String("language", language(shown)), slog.String("environment", cmp.Or(result.Environment, r.Params.Environment))}
	add := func(name, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(name, value))
		}
	}
	add("session", shown.SessionName)
	add("profile", shown.Profile)
	if known := protocol.AsError(err); known != nil {
		add("error", string(known.Kind))
		if known.Kind != protocol.BadRequest { // which quotes the request
			add("err", concealed(firstLine(known.Message), e.variables(r)))
		}
		e.log.LogAttrs(ctx, level, "run failed", append(attrs, slog.Duration("duration", took.Round(10*time.Microsecond)))...)
		return
	}
	add("start", result.Start)
	add("limit", result.Limit)
	attrs = append(attrs, slog.Int("exit", result.ExitCode), slog.Duration("duration", took.Round(10*time.Microsecond)), slog.Int("findings", len(result.Findings)), slog.Int("denied", len(result.Denied)))
	if result.Cancelled {
		attrs = append(attrs, slog.Bool("cancelled", true))
	}
	e.log.LogAttrs(ctx, level, "run ended", attrs...)
}

// tells has who asks for telemetry told of a run when it has ended.
func (e *Engine) tells(r *Request, asked time.Time) (ended func(protocol.RunResult, error)) {
	var to *telemetry.Exporter
	if r.Ask.calls == "" { // a session's calls are told, each by itself
		to = e.telemetry.For(e.getenv)
	}
	if to == nil {
		return func(protocol.RunResult, error) {}
	}
	if r.Phases == nil {
		r.Phases = phases.New(asked)
	}
	end, shown, from, p := to.Begins(), r.shown(), *r, r.Phases
	return func(result protocol.RunResult, err error) {
		run := telemetry.Run{ID: from.ID, Client: shown.Client, Environment: cmp.Or(result.Environment, from.Params.Environment), Workspace: cmp.Or(result.Workspace, from.Dir), Session: shown.SessionName,
			Language: knownLanguage(shown), Started: p.Start(), Duration: time.Since(p.Start()), Result: result, Phases: p.List(), TraceParent: from.TraceParent, TraceState: from.TraceState}
		if known := protocol.AsError(err); known != nil {
			run.Kind = known.Kind
		}
		end(run)
	}
}

// knownLanguage is language with one word for all that are none: what is counted must not grow with what clients make up.
func knownLanguage(r protocol.Run) string {
	if len(r.Command) > 0 {
		return language(r)
	}
	if lang, err := env.Lookup(r.Language); err == nil {
		return lang.Name
	}
	return "unknown"
}

// shown is the run as its clients see it.
func (r Request) shown() protocol.Run {
	if r.Shown != nil {
		return *r.Shown
	}
	return Shown(r.ID, protocol.RunRequest{RunParams: r.Params, Session: r.Ask.Session, Allow: r.Ask.Allow}, time.Time{})
}

// language is what a run is in; a command is none.
func language(r protocol.Run) string {
	if len(r.Command) > 0 {
		return "command"
	}
	return r.Language
}

// decided logs why something of a run was done so.
func (e *Engine) decided(id, what string, values ...any) {
	if e.log.Enabled(context.Background(), slog.LevelDebug) {
		e.log.Debug(what, append([]any{"run", id}, values...)...)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

package history

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

// The values of Record.Keep, as the setting history.keep has them.
const (
	Full     = "full"
	Metadata = "metadata"
	Off      = "off"
)

// maxText is how much of a short output is kept in the database; longer ones are in files.
const maxText = 4 << 10

const insert = `INSERT INTO runs (id, workspace, started, ended, owner, language, failed, findings, run, code, policy, record)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET ended = excluded.ended, failed = excluded.failed, findings = excluded.findings, run = excluded.run,
  code = coalesce(excluded.code, code), policy = coalesce(excluded.policy, policy), record = excluded.record`

// writeAll writes records in one transaction.
func (s *Store) writeAll(batch []item) error {
	return s.with(context.Background(), func(ctx context.Context, db *sql.DB) error {
		if err := s.prepare(ctx, db); err != nil {
			return err
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // after Commit it does nothing
		to := statements{run: tx.StmtContext(ctx, s.write.run), text: tx.StmtContext(ctx, s.write.text), policy: &s.policy}
		for _, it := range batch {
			if err := to.put(ctx, s.owner, kept(it.record)); err != nil {
				return err
			}
		}
		return tx.Commit()
	})
}

// statements write a record: parsing them costs as much as carrying them out.
type statements struct {
	run, text *sql.Stmt
	policy    *lastPacked
}

// prepare parses them once for a database that was opened. The caller holds use.
func (s *Store) prepare(ctx context.Context, db *sql.DB) (err error) {
	if s.write.run != nil {
		return nil
	}
	if s.write.text, err = db.PrepareContext(ctx, "INSERT OR IGNORE INTO texts (hash, text) VALUES (?, ?)"); err == nil {
		s.write.run, err = db.PrepareContext(ctx, insert)
	}
	return err
}

// put writes one record. Its texts are where they belong, and left out of the rest.
func (to statements) put(ctx context.Context, owner string, r protocol.RunRecord) error {
	code, err := to.hash(ctx, r.Request.Code, new(lastPacked))
	if err != nil {
		return err
	}
	policy, err := to.hash(ctx, r.Policy, to.policy)
	if err != nil {
		return err
	}
	run := r.Run
	r.Run, r.Request.Code, r.Policy = protocol.Run{}, "", ""
	var ended any
	findings := 0
	if run.End != nil {
		ended, findings = run.End.Time.UnixMicro(), len(run.End.Findings)
	}
	_, err = to.run.ExecContext(ctx, run.ID, run.Workspace, run.Started.UnixMicro(), ended, owner, run.Language, run.Failed(), findings, encode(run), code, policy, encode(r))
	return err
}

// hash keeps a text, once, and gives its hash; nil for none.
func (to statements) hash(ctx context.Context, text string, last *lastPacked) (any, error) {
	if text == "" {
		return nil, nil
	}
	sum := sha256.Sum256([]byte(text))
	value, err := last.of(sum, text)
	if err == nil {
		_, err = to.text.ExecContext(ctx, sum[:16], value)
	}
	return sum[:16], err
}

func encode(v any) packed {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}" // these are plain data
	}
	return packed(b)
}

// kept is what is kept of a record: no value of a variable ever, and with metadata alone nothing that a client wrote or a
// program printed. The caller's own is not changed.
func kept(r protocol.RunRecord) protocol.RunRecord {
	r.EnvNames = slices.Sorted(maps.Keys(r.Request.Env))
	r.Request.Env = nil
	r.Run.Token = ""
	if r.Allow != nil && r.Allow.Policy != nil {
		allow := *r.Allow
		allow.Policy = &protocol.Policy{File: allow.Policy.File} // its text may have values of variables
		r.Allow = &allow
	}
	r.Stdout.Text, r.Stderr.Text = short(r.Stdout.Text), short(r.Stderr.Text)
	if r.Keep == Metadata {
		bare(&r)
	}
	if r.Run.End == nil {
		r.Run.Started = r.Run.Started.Round(time.Microsecond)
	}
	return r
}

// bare leaves out code, input, arguments and output.
func bare(r *protocol.RunRecord) {
	r.Request.Code, r.Request.Stdin, r.Run.Code, r.Request.Args = "", "", "", nil
	r.Request.Command, r.Run.Command = r.Request.Command[:min(1, len(r.Request.Command))], r.Run.Command[:min(1, len(r.Run.Command))]
	r.Stdout.Text, r.Stdout.File = "", ""
	r.Stderr.Text, r.Stderr.File = "", ""
}

func short(text string) string {
	if len(text) <= maxText {
		return text
	}
	return text[:maxText-protocol.Unfinished([]byte(text[:maxText]))]
}

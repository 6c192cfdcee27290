package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"code.sidecar.dev/sidecar/protocol"
)

// List gives runs, the newest first: those of a workspace, or with "" of all. No limit is all of them.
func (s *Store) List(ctx context.Context, workspace string, p protocol.RunsParams) ([]protocol.Run, error) {
	out := []protocol.Run{}
	err := s.reading(ctx, func(ctx context.Context, db *sql.DB) error {
		out = out[:0]
		where, args := conditions(workspace, p)
		rows, err := db.QueryContext(ctx, "SELECT run FROM runs WHERE "+where+" ORDER BY started DESC, id DESC", args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() && (p.Limit <= 0 || len(out) < p.Limit) {
			var text packed
			var r protocol.Run
			if err := rows.Scan(&text); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				return fmt.Errorf("the history has a run that cannot be read: %w", err)
			}
			if p.Wants(r) {
				out = append(out, r)
			}
		}
		return rows.Err()
	})
	return out, err
}

// conditions are what of the parameters an index or a column decides.
func conditions(workspace string, p protocol.RunsParams) (where string, args []any) {
	all := []string{"started >= ?"}
	args = []any{p.Since.UnixMicro()}
	add := func(is bool, condition string, values ...any) {
		if is {
			all, args = append(all, condition), append(args, values...)
		}
	}
	add(workspace != "", "workspace = ?", workspace)
	add(!p.Before.IsZero(), "started < ?", p.Before.UnixMicro())
	add(p.Live, "ended IS NULL")
	add(p.Failed, "failed = 1")
	add(p.Findings, "findings > 0")
	add(p.Language != "", "language = ? COLLATE NOCASE", p.Language)
	return strings.Join(all, " AND "), args
}

// reading has f read. Where there is no history yet, none is begun for it.
func (s *Store) reading(ctx context.Context, f func(context.Context, *sql.DB) error) error {
	if !s.exists() {
		return nil
	}
	return s.with(ctx, func(ctx context.Context, db *sql.DB) error {
		if err := s.mark(ctx, db); err != nil && isDamage(err) { // on a disk that is full it can still be read
			return err
		}
		return f(ctx, db)
	})
}

const record = `SELECT r.run, r.record, coalesce(c.text, ''), coalesce(p.text, '') FROM runs r
LEFT JOIN texts c ON c.hash = r.code LEFT JOIN texts p ON p.hash = r.policy `

// Get gives all that is kept of a run; ok is false when that is nothing.
func (s *Store) Get(ctx context.Context, id string) (r protocol.RunRecord, ok bool, err error) {
	err = s.reading(ctx, func(ctx context.Context, db *sql.DB) error {
		r, err = scan(db.QueryRowContext(ctx, record+"WHERE r.id = ?", id))
		ok = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return r, ok, err
}

// page is how many records Each reads at once: a writer's log cannot be emptied while somebody reads.
const page = 50

// Each calls f with all that is kept of runs, the oldest first, those of a workspace or with "" of all.
func (s *Store) Each(ctx context.Context, workspace string, p protocol.RunsParams, f func(protocol.RunRecord) error) error {
	left := p.Limit
	for after := (place{started: math.MinInt64}); ; {
		batch, last, err := s.page(ctx, workspace, p, after)
		if err != nil {
			return err
		}
		for _, r := range batch {
			if !p.Wants(r.Run) {
				continue
			}
			if err := f(r); err != nil {
				return err
			}
			if left--; left == 0 {
				return nil
			}
		}
		if len(batch) < page {
			return nil
		}
		after = last
	}
}

// place is one in the order of runs.
type place struct {
	started int64
	id      string
}

// page reads the records after a place.
func (s *Store) page(ctx context.Context, workspace string, p protocol.RunsParams, after place) (batch []protocol.RunRecord, last place, err error) {
	err = s.reading(ctx, func(ctx context.Context, db *sql.DB) error {
		batch = nil
		where, args := conditions(workspace, p)
		rows, err := db.QueryContext(ctx, record+"WHERE "+where+fmt.Sprintf(" AND (started, id) > (?, ?) ORDER BY started, id LIMIT %d", page), append(args, after.started, after.id)...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			r, err := scan(rows)
			if err != nil {
				return err
			}
			batch, last = append(batch, r), place{r.Run.Started.UnixMicro(), r.Run.ID}
		}
		return rows.Err()
	})
	return batch, last, err
}

// scan reads one row of record.
func scan(row interface{ Scan(...any) error }) (r protocol.RunRecord, err error) {
	var run, rest, code, policy packed
	if err := row.Scan(&run, &rest, &code, &policy); err != nil {
		return r, err
	}
	if err := errors.Join(json.Unmarshal([]byte(rest), &r), json.Unmarshal([]byte(run), &r.Run)); err != nil {
		return r, fmt.Errorf("the history has a run that cannot be read: %w", err)
	}
	r.Request.Code, r.Policy = string(code), string(policy)
	return r, nil
}

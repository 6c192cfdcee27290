package history

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

func TestTidyByAge(t *testing.T) {
	s := opened(t, t.TempDir())
	for i := range step + 5 { // more than one transaction takes
		s.Write(ended(beginning(fmt.Sprintf("old%d", i), i), 0))
	}
	goesOn := beginning("goes on", 0)
	young := ended(beginning("young", 10_000), 0)
	young.Policy = "of the young one alone"
	write(t, s, goesOn, young)
	aside := s.path() + damaged + "20200101-000000.000000"
	if err := os.WriteFile(aside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(aside, began.Add(-time.Hour), began.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := s.Tidy(t.Context(), Keeping{Age: time.Hour, Size: 1 << 30}, began.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, s, "", protocol.RunsParams{}); got != "young goes on" || len(s.Damaged()) > 0 {
		t.Errorf("%s, set aside %v", got, s.Damaged())
	}
	if r, _, err := s.Get(t.Context(), "young"); err != nil || r.Policy != young.Policy || r.Request.Code == "" {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestTidyBySize: the oldest go, with their texts, and the file becomes smaller.
func TestTidyBySize(t *testing.T) {
	packs = false // what is alike takes next to nothing otherwise
	t.Cleanup(func() { packs = true })
	dir := t.TempDir()
	s := opened(t, dir)
	for i := range 100 {
		r := ended(beginning(fmt.Sprintf("%03d", i), i), 0)
		r.Request.Code = strings.Repeat(fmt.Sprintf("%03d", i), 10_000)
		write(t, s, r)
	}
	const most = 1 << 20
	if err := s.Tidy(t.Context(), Keeping{Age: 24 * time.Hour, Size: most}, began.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	runs, err := s.List(t.Context(), "", protocol.RunsParams{})
	if err != nil || len(runs) < 10 || len(runs) >= 40 || runs[0].ID != "099" {
		t.Fatalf("%d runs left, %v", len(runs), err)
	}
	sound(t, s)
	var orphans int
	err = s.with(t.Context(), func(ctx context.Context, db *sql.DB) error {
		return db.QueryRowContext(ctx, "SELECT count(*) FROM texts WHERE hash NOT IN (SELECT code FROM runs UNION SELECT policy FROM runs)").Scan(&orphans)
	})
	s.Close() // the last one's close brings the log into the file
	info, statErr := os.Stat(filepath.Join(dir, folder, file))
	if err != nil || orphans != 0 || statErr != nil || info.Size() > most {
		t.Errorf("%v, %d texts of nobody; %v, %d bytes", err, orphans, statErr, info.Size())
	}
}

// TestTidyWithNoHistory begins none.
func TestTidyWithNoHistory(t *testing.T) {
	dir := t.TempDir()
	if err := opened(t, dir).Tidy(t.Context(), Keeping{}, time.Now()); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Error(left)
	}
}

package history

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"code.sidecar.dev/sidecar/protocol"
)

// role is the variable that makes this test binary one of many sidecars; its arguments are the state folder and a name.
const role = "SIDECAR_HISTORY_TEST_ROLE"

func TestMain(m *testing.M) {
	if f := roles[os.Getenv(role)]; f != nil {
		f(os.Args[1], os.Args[2])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// roles are what such a process does. Each says on standard output what it has done.
var roles = map[string]func(dir, name string){
	"runs": func(dir, name string) { // many runs, each to its end
		s := Open(Options{Dir: dir})
		defer s.Close()
		for i := range each {
			r := beginning(name+"-"+strconv.Itoa(i), i)
			<-s.Write(r)
			<-s.Write(ended(r, 0))
		}
	},
	"endless": func(dir, name string) { // runs until it is killed
		s := Open(Options{Dir: dir})
		for i := 0; ; i++ {
			r := beginning(name+"-"+strconv.Itoa(i), i)
			r.Request.Code = strings.Repeat("x", i%7*20_000) // several pages
			<-s.Write(r)
			fmt.Println("begun", r.Run.ID)
			if i%2 == 0 {
				<-s.Write(ended(r, 0))
				fmt.Println("ended", r.Run.ID)
			}
		}
	},
	"waits": func(dir, name string) { // one run that goes on
		s := Open(Options{Dir: dir})
		<-s.Write(beginning(name, 0))
		fmt.Println("begun", name)
		select {}
	},
}

const each = 40

// process starts one of them.
func process(t *testing.T, does, dir, name string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], dir, name)
	cmd.Env = append(os.Environ(), role+"="+does)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(out)
}

// sound fails the test unless SQLite finds nothing wrong with the database.
func sound(t *testing.T, s *Store) {
	t.Helper()
	err := s.with(t.Context(), func(ctx context.Context, db *sql.DB) error {
		said, err := column[string](db.QueryContext(ctx, "PRAGMA integrity_check"))
		if strings.Join(said, "; ") != "ok" {
			t.Errorf("the database: %v", said)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// whole fails the test also when one was set aside.
func whole(t *testing.T, s *Store) {
	t.Helper()
	sound(t, s)
	if aside := s.Damaged(); len(aside) > 0 {
		t.Errorf("set aside: %v", aside)
	}
}

// TestManyProcesses: no run of any of them is lost, or without its end, whoever writes at the same time.
func TestManyProcesses(t *testing.T) {
	const processes = 8
	dir := t.TempDir()
	var all sync.WaitGroup
	for n := range processes {
		cmd, _ := process(t, "runs", dir, "p"+strconv.Itoa(n))
		all.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s := opened(t, dir)
	runs, err := s.List(t.Context(), "", protocol.RunsParams{})
	if err != nil || len(runs) != processes*each {
		t.Errorf("%d runs of %d, %v", len(runs), processes*each, err)
	}
	for _, r := range runs {
		if r.End == nil || r.End.Lost {
			t.Errorf("%s: %+v", r.ID, r.End)
		}
	}
	whole(t, s)
}

// TestKilledInMidWrite kills a process that writes, again and again. What it was told is written is there, and sound; the
// run that it left in the middle is lost.
func TestKilledInMidWrite(t *testing.T) {
	dir := t.TempDir()
	for round := range 6 {
		cmd, lines := process(t, "endless", dir, "r"+strconv.Itoa(round))
		begun, over := map[string]bool{}, map[string]bool{}
		for n := 0; n < 10+7*round && lines.Scan(); n++ {
			note(lines.Text(), begun, over)
		}
		_ = cmd.Process.Kill()
		for lines.Scan() {
			note(lines.Text(), begun, over)
		}
		_ = cmd.Wait()
		s := opened(t, dir)
		for id := range begun {
			r, ok, err := s.Get(t.Context(), id)
			switch {
			case err != nil || !ok || r.Run.End == nil:
				t.Errorf("%s: %v, %v, %+v", id, ok, err, r.Run.End)
			case over[id] && r.Run.End.Lost:
				t.Errorf("%s had ended: %+v", id, r.Run.End)
			case !r.Run.End.Lost && r.Run.End.ExitCode != 0:
				t.Errorf("%s: %+v", id, r.Run.End)
			}
		}
		whole(t, s)
		s.Close()
	}
}

func note(line string, begun, over map[string]bool) {
	what, id, _ := strings.Cut(line, " ")
	if what == "begun" {
		begun[id] = true
	} else {
		over[id] = true
	}
}

// TestLost: a run whose process is gone is lost, for all that look; one whose process lives goes on.
func TestLost(t *testing.T) {
	dir := t.TempDir()
	dies, ofDying := process(t, "waits", dir, "dies")
	_, ofLiving := process(t, "waits", dir, "lives")
	for _, lines := range []*bufio.Scanner{ofDying, ofLiving} {
		if !lines.Scan() {
			t.Fatal("it says nothing")
		}
	}
	s := opened(t, dir)
	if got := listed(t, s, "", protocol.RunsParams{Live: true}); got != "lives dies" && got != "dies lives" {
		t.Fatalf("both live: %s", got)
	}
	_ = dies.Process.Kill()
	_ = dies.Wait()
	for _, s := range []*Store{s, opened(t, dir)} {
		if live, failed := listed(t, s, "", protocol.RunsParams{Live: true}), listed(t, s, "", protocol.RunsParams{Failed: true}); live != "lives" || failed != "dies" {
			t.Errorf("live: %s, failed: %s", live, failed)
		}
	}
	r, _, err := s.Get(t.Context(), "dies")
	if err != nil || !r.Run.End.Lost || r.Run.End.ExitCode != -1 || r.Run.End.Error.Kind != protocol.Gone {
		t.Errorf("%v, %+v", err, r.Run.End)
	}
}

// TestStoppedWhileItHasTheLock: a process that was stopped with the lock in its hands keeps nobody waiting for long, and
// what waits is written when it is gone.
func TestStoppedWhileItHasTheLock(t *testing.T) {
	s := opened(t, t.TempDir())
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	err := s.locked(func() error {
		tried(t, s.Write(beginning("a", 0)))
		return nil
	})
	s.mu.Lock()
	said := s.said
	s.mu.Unlock()
	if err != nil || !strings.Contains(said, "another process holds") {
		t.Errorf("%v, said %q", err, said)
	}
	write(t, s, beginning("b", 1))
	if got := listed(t, s, "", protocol.RunsParams{}); got != "b a" {
		t.Error(got)
	}
}

//go:build unix

package hold

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stub is long enough that its beginning cannot be mistaken for anything else.
const stub = "# sidecar holds this path while a run lasts.\n"

// ofEveryKind are placeholders of each kind in repo.
func ofEveryKind(repo string) []Placeholder {
	return []Placeholder{
		{Path: repo + "/commondir", Content: ".\n"},
		{Path: repo + "/hooks", Folder: true},
		{Path: repo + "/a/b/extra.inc", Content: stub, Parents: true},
		{Path: repo + "/a/c/hooks", Folder: true, Parents: true},
	}
}

// forever takes and gives back placeholders until it is killed.
func forever(dir, repo string) {
	fmt.Println("ready")
	for i := 0; ; i++ {
		lease, err := Open(dir).Acquire(fmt.Sprintf("forever%d-%d", os.Getpid(), i), "", ofEveryKind(repo))
		if err == nil && len(lease.Existing) > 0 {
			err = fmt.Errorf("existing: %v", lease.Existing)
		}
		if err == nil {
			err = lease.Release()
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// dead writes the record of a process that is gone.
func dead(t *testing.T, l *Ledger, holds ...held) {
	t.Helper()
	text, err := json.Marshal(record{Holds: holds})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.dir+"/dead.run", text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func sweep(t *testing.T, l *Ledger) {
	t.Helper()
	if err := l.Sweep(); err != nil {
		t.Fatal(err)
	}
}

// TestSweepTakesWhatWasBegun: a process was killed, or the power failed, at each point of making a placeholder.
func TestSweepTakesWhatWasBegun(t *testing.T) {
	for n := range len(stub) + 1 {
		l, repo := ledgerAndRepo(t)
		os.Mkdir(repo+"/a", 0o755)
		os.WriteFile(repo+"/a/inc", []byte(stub[:n]), 0o644)
		os.Mkdir(repo+"/hooks", 0o755)
		dead(t, l, held{Path: repo + "/hooks", Folder: true}, held{Path: repo + "/a/inc", Content: stub, Parents: []string{repo + "/a"}},
			held{Path: repo + "/b/c/never", Content: stub, Parents: []string{repo + "/b", repo + "/b/c"}})
		sweep(t, l)
		wantListing(t, repo, "")
		wantListing(t, l.dir, "lock\n")
	}
}

// TestSweepTakesParentsWithoutChild: it was killed between the folders and what they were made for.
func TestSweepTakesParentsWithoutChild(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	os.Mkdir(repo+"/a", 0o755)
	dead(t, l, held{Path: repo + "/a/b/inc", Content: stub, Parents: []string{repo + "/a", repo + "/a/b"}})
	sweep(t, l)
	wantListing(t, repo, "")
}

// TestSweepLeavesTheHosts: what merely resembles a placeholder stays.
func TestSweepLeavesTheHosts(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	os.WriteFile(repo+"/longer", []byte(stub+"x"), 0o644)
	os.WriteFile(repo+"/other", []byte("#!"), 0o644)
	os.Mkdir(repo+"/folder", 0o755)
	os.WriteFile(repo+"/empty", nil, 0o644)
	os.Symlink("empty", repo+"/link")
	unix.Mkfifo(repo+"/fifo", 0o644)
	os.Mkdir(repo+"/full", 0o755)
	os.WriteFile(repo+"/full/hook", nil, 0o755)
	before := listing(t, repo)
	var holds []held
	for _, name := range []string{"longer", "other", "folder", "link", "fifo"} {
		holds = append(holds, held{Path: repo + "/" + name, Content: stub})
	}
	dead(t, l, append(holds, held{Path: repo + "/full", Folder: true}, held{Path: repo + "/empty", Folder: true})...)
	sweep(t, l)
	wantListing(t, repo, before)
	wantListing(t, l.dir, "lock\n")
}

// TestSweepLeavesWhatIsAnothers: an empty file of another user was not begun by us.
func TestSweepLeavesWhatIsAnothers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("giving a file away needs root")
	}
	l, repo := ledgerAndRepo(t)
	os.WriteFile(repo+"/inc", nil, 0o644)
	os.Chown(repo+"/inc", 12345, 12345)
	dead(t, l, held{Path: repo + "/inc", Content: stub})
	sweep(t, l)
	wantListing(t, repo, "inc\n")
}

// TestReleaseLeavesWhatIsBegunOnly: a living process knows that it wrote the whole, so an emptied file is the host's doing.
func TestReleaseLeavesWhatIsBegunOnly(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	lease := acquire(t, l, "r1", Placeholder{Path: repo + "/inc", Content: stub})
	os.Truncate(repo+"/inc", 0)
	release(t, lease)
	wantListing(t, repo, "inc\n")
}

// TestSweepGoesOnPastWhatResists: one placeholder that cannot be looked for keeps its record, not its neighbours.
func TestSweepGoesOnPastWhatResists(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	os.WriteFile(repo+"/inc", nil, 0o644)
	dead(t, l, held{Path: repo + "/" + strings.Repeat("x", 300) + "/inc", Content: stub}, held{Path: repo + "/inc", Content: stub})
	sweep(t, l)
	wantListing(t, repo, "")
	wantListing(t, l.dir, "dead.run\nlock\n")
}

// requireUnnamed skips where a file cannot be filled before it is named.
func requireUnnamed(t *testing.T) {
	t.Helper()
	dir, err := openFolder(unix.AT_FDCWD, filepath.Dir(t.TempDir()))
	if err == nil {
		err = publishWhole(dir, "unnamed", "")
		unix.Close(dir)
	}
	if err != nil {
		t.Skip("this file system has no unnamed files:", err)
	}
}

// TestBothWaysOfMakingAFile make the same, and neither replaces what is there or follows a link.
func TestBothWaysOfMakingAFile(t *testing.T) {
	for name, way := range map[string]func(int, string, string) error{"unnamed": publishWhole, "plain": writeNew} {
		t.Run(name, func(t *testing.T) {
			_, repo := ledgerAndRepo(t)
			if name == "unnamed" {
				requireUnnamed(t)
			}
			dir, err := openFolder(unix.AT_FDCWD, repo)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(dir)
			err = way(dir, "new", stub)
			text, _ := os.ReadFile(repo + "/new")
			if st, _ := os.Stat(repo + "/new"); err != nil || string(text) != stub || st.Mode()&0o600 != 0o600 || st.Mode()&0o133 != 0 {
				t.Errorf("%v, %q", err, text)
			}
			os.Symlink("nowhere", repo+"/link")
			for _, taken := range []string{"new", "link"} {
				if err := way(dir, taken, "other"); !errors.Is(err, unix.EEXIST) {
					t.Errorf("%s: %v", taken, err)
				}
			}
			wantListing(t, repo, "link\nnew\n")
		})
	}
}

// TestWithoutUnnamedFiles: whatever refuses the unnamed file or its link, the plain way does.
func TestWithoutUnnamedFiles(t *testing.T) {
	defer func(was func(int, string, string) error) { publish = was }(publish)
	for _, refusal := range []error{unix.EOPNOTSUPP, unix.EISDIR, unix.ENOENT, unix.EINVAL, unix.EPERM, unix.EXDEV} {
		publish = func(int, string, string) error { return refusal }
		l, repo := ledgerAndRepo(t)
		lease := acquire(t, l, "r1", ofEveryKind(repo)...)
		if text, _ := os.ReadFile(repo + "/commondir"); string(text) != ".\n" {
			t.Errorf("%v: commondir holds %q", refusal, text)
		}
		release(t, lease)
		wantListing(t, repo, "")
	}
}

// TestKilledAtAnyMoment kills a process that takes and gives back placeholders, many times: what is left then is
// whole where the file system can do that, and a sweep takes all of it.
func TestKilledAtAnyMoment(t *testing.T) {
	for name, plain := range map[string]string{"unnamed": "", "plain": "1"} {
		t.Run(name, func(t *testing.T) {
			l, repo := ledgerAndRepo(t)
			release(t, acquire(t, l, "first", ofEveryKind(repo)...))
			if plain == "" {
				requireUnnamed(t)
			}
			found := 0
			for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
				killOne(t, l, repo, plain)
				if listing(t, repo) != "" {
					found++
				}
				if text, err := os.ReadFile(repo + "/commondir"); plain == "" && err == nil && string(text) != ".\n" {
					t.Fatalf("commondir holds %q", text)
				}
				sweep(t, l)
				wantListing(t, repo, "")
				wantListing(t, l.dir, "lock\n")
			}
			if found == 0 {
				t.Error("no kill left anything: the test shows nothing")
			}
		})
	}
}

// killOne starts a process and kills it: one time in two at any moment, else when commondir shows.
func killOne(t *testing.T, l *Ledger, repo, plain string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], repo)
	cmd.Env = append(os.Environ(), "HOLD_FOREVER="+l.dir, "HOLD_PLAIN="+plain)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 200)
	n, _ := out.Read(said)
	moment := time.Now().Add(rand.N(3 * time.Millisecond))
	targeted := rand.N(2) == 0
	for time.Now().Before(moment) || targeted && unix.Access(repo+"/commondir", unix.F_OK) != nil {
		if time.Since(moment) > time.Second {
			break
		}
	}
	cmd.Process.Kill()
	rest := make([]byte, 200)
	m, _ := out.Read(rest)
	cmd.Wait()
	if all := string(said[:n]) + string(rest[:m]); all != "ready\n" {
		t.Fatalf("the process says %q", all)
	}
}

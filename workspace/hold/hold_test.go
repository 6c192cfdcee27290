//go:build unix

package hold

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain lets the test binary play another process: it acquires, says so, and waits to be killed or told.
func TestMain(m *testing.M) {
	if os.Getenv("HOLD_PLAIN") != "" {
		publish = func(int, string, string) error { return unix.EOPNOTSUPP }
	}
	if dir := os.Getenv("HOLD_HELPER"); dir != "" {
		helper(dir, os.Args[1:])
		return
	}
	if dir := os.Getenv("HOLD_FOREVER"); dir != "" {
		forever(dir, os.Args[1])
		return
	}
	os.Exit(m.Run())
}

func helper(dir string, paths []string) {
	lease, err := Open(dir).Acquire(fmt.Sprintf("helper%d", os.Getpid()), "", commondirs(paths...))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	if err := lease.Release(); err != nil {
		fmt.Println(err)
	}
	fmt.Println("released")
}

func commondirs(paths ...string) (ps []Placeholder) {
	for _, p := range paths {
		ps = append(ps, Placeholder{Path: p, Content: ".\n"})
	}
	return ps
}

// other is another process that holds placeholders.
type other struct {
	t   *testing.T
	cmd *exec.Cmd
	in  interface{ Close() error }
	out *bufio.Scanner
}

func startOther(t *testing.T, dir string, paths ...string) *other {
	t.Helper()
	cmd := exec.Command(os.Args[0], paths...)
	cmd.Env = append(os.Environ(), "HOLD_HELPER="+dir)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := &other{t: t, cmd: cmd, in: in, out: bufio.NewScanner(out)}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	o.expect("ready")
	return o
}

func (o *other) expect(want string) {
	o.t.Helper()
	if o.out.Scan(); o.out.Text() != want {
		o.t.Fatalf("the other process says %q, want %q", o.out.Text(), want)
	}
}

func (o *other) release() { o.in.Close(); o.expect("released"); o.cmd.Wait() }
func (o *other) kill()    { o.cmd.Process.Kill(); o.cmd.Wait() }

func acquire(t *testing.T, l *Ledger, id string, ps ...Placeholder) *Lease {
	t.Helper()
	lease, err := l.Acquire(id, "", ps)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func release(t *testing.T, le *Lease) {
	t.Helper()
	if err := le.Release(); err != nil {
		t.Fatal(err)
	}
}

// listing is every path below dir, one a line.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	filepath.Walk(dir, func(p string, _ os.FileInfo, err error) error {
		if rel, _ := filepath.Rel(dir, p); rel != "." {
			b.WriteString(rel + "\n")
		}
		return nil
	})
	return b.String()
}

func wantListing(t *testing.T, dir, want string) {
	t.Helper()
	if got := listing(t, dir); got != want {
		t.Fatalf("in the folder:\n%swant:\n%s", got, want)
	}
}

func ledgerAndRepo(t *testing.T) (*Ledger, string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(base, "repo")
	if err := os.Mkdir(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	return Open(filepath.Join(base, "state", "holds")), repo
}

func TestMadeAndGone(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	lease := acquire(t, l, "r1",
		Placeholder{Path: repo + "/commondir", Content: ".\n"},
		Placeholder{Path: repo + "/hooks", Folder: true},
		Placeholder{Path: repo + "/a/b/extra.inc", Content: "# none\n", Parents: true})
	wantListing(t, repo, "a\na/b\na/b/extra.inc\ncommondir\nhooks\n")
	if text, _ := os.ReadFile(repo + "/commondir"); string(text) != ".\n" {
		t.Fatalf("commondir holds %q", text)
	}
	if st, _ := os.Stat(l.dir); st.Mode().Perm() != 0o700 {
		t.Fatalf("the ledger's mode is %v", st.Mode())
	}
	release(t, lease)
	release(t, lease)
	wantListing(t, repo, "")
	wantListing(t, l.dir, "lock\n")
}

func TestExistingIsTheHosts(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	os.WriteFile(repo+"/commondir", []byte(".\n"), 0o644)
	os.Mkdir(repo+"/hooks", 0o755)
	os.Symlink("nowhere", repo+"/link")
	lease := acquire(t, l, "r1", append(commondirs(repo+"/commondir", repo+"/link"),
		Placeholder{Path: repo + "/hooks", Folder: true})...)
	if len(lease.Existing) != 3 {
		t.Fatalf("existing: %v", lease.Existing)
	}
	release(t, lease)
	wantListing(t, repo, "commondir\nhooks\nlink\n")
}

func TestHostReplacesPlaceholders(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	lease := acquire(t, l, "r1", append(commondirs(repo+"/a", repo+"/b", repo+"/c"),
		Placeholder{Path: repo + "/hooks", Folder: true}, Placeholder{Path: repo + "/f", Folder: true})...)
	os.WriteFile(repo+"/a", []byte("other"), 0o644)
	os.Remove(repo + "/b")
	os.Symlink("/etc/passwd", repo+"/b")
	os.Remove(repo + "/c")
	os.Mkdir(repo+"/c", 0o755)
	os.WriteFile(repo+"/hooks/pre-commit", nil, 0o755)
	os.Remove(repo + "/f")
	os.WriteFile(repo+"/f", nil, 0o644)
	release(t, lease)
	wantListing(t, repo, "a\nb\nc\nf\nhooks\nhooks/pre-commit\n")
}

func TestLastOneTakesItAway(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	p := Placeholder{Path: repo + "/x/y/commondir", Content: ".\n", Parents: true}
	first, second := acquire(t, l, "r1", p), acquire(t, l, "r2", p)
	third := acquire(t, l, "r3", Placeholder{Path: repo + "/x/other", Folder: true})
	if len(second.Existing)+len(third.Existing) > 0 {
		t.Fatal("a shared placeholder counts as the host's")
	}
	release(t, first)
	wantListing(t, repo, "x\nx/other\nx/y\nx/y/commondir\n")
	release(t, second)
	wantListing(t, repo, "x\nx/other\n")
	release(t, third)
	wantListing(t, repo, "")
}

func TestTwoProcesses(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	o := startOther(t, l.dir, repo+"/commondir")
	lease := acquire(t, l, "r1", commondirs(repo+"/commondir")...)
	o.release()
	wantListing(t, repo, "commondir\n")
	release(t, lease)
	wantListing(t, repo, "")
}

func TestKilledProcess(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	o := startOther(t, l.dir, repo+"/one", repo+"/two")
	mine := acquire(t, l, "r1", commondirs(repo+"/two")...)
	o.kill()
	wantListing(t, repo, "one\ntwo\n")
	other := acquire(t, l, "r2", commondirs(repo+"/three")...)
	wantListing(t, repo, "three\ntwo\n")
	release(t, other)
	release(t, mine)
	wantListing(t, repo, "")
	o = startOther(t, l.dir, repo+"/one")
	o.kill()
	if err := l.Sweep(); err != nil {
		t.Fatal(err)
	}
	wantListing(t, repo, "")
	wantListing(t, l.dir, "lock\n")
}

func TestTornRecord(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	release(t, acquire(t, l, "r1", commondirs(repo+"/x")...))
	os.WriteFile(l.dir+"/torn.run", []byte(`{"holds":[{"path":"`+repo), 0o600)
	os.Symlink("/etc/passwd", l.dir+"/link.run")
	unix.Mkfifo(l.dir+"/fifo.run", 0o600)
	release(t, acquire(t, l, "r1", commondirs(repo+"/x")...))
	wantListing(t, repo, "")
}

func TestFailureLeavesNothing(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	os.Mkdir(repo+"/real", 0o755)
	os.Symlink("real", repo+"/link")
	os.WriteFile(repo+"/file", nil, 0o644)
	before := listing(t, repo)
	for _, bad := range []string{repo + "/missing/x", repo + "/link/x", repo + "/file/x", "relative", "/"} {
		_, err := l.Acquire("r1", "", commondirs(repo+"/ok", bad))
		if err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: error %v", bad, err)
		}
		wantListing(t, repo, before)
		wantListing(t, l.dir, "lock\n")
	}
	for _, id := range []string{"", "../x", "a/b", ".hidden"} {
		if _, err := l.Acquire(id, "", nil); err == nil {
			t.Errorf("run id %q is taken", id)
		}
	}
}

func TestManyRunsAtOnce(t *testing.T) {
	l, repo := ledgerAndRepo(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 20 {
				lease, err := l.Acquire(fmt.Sprintf("r%d-%d", i, j), "", commondirs(repo+"/commondir", fmt.Sprintf("%s/own%d", repo, i)))
				if err != nil || len(lease.Existing) > 0 {
					t.Errorf("acquire: %v", err)
					return
				}
				if _, err := os.Lstat(repo + "/commondir"); err != nil {
					t.Error(err)
				}
				if err := lease.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	wantListing(t, repo, "")
	wantListing(t, l.dir, "lock\n")
}

func TestStepwiseFollowsNoLinks(t *testing.T) {
	_, repo := ledgerAndRepo(t)
	os.MkdirAll(repo+"/a/b", 0o755)
	os.Symlink("a", repo+"/l")
	fd, err := openStepwise(unix.AT_FDCWD, repo+"/a/b")
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	if fd, err := openStepwise(unix.AT_FDCWD, repo+"/l/b"); err == nil {
		unix.Close(fd)
		t.Fatal("a link was followed")
	}
}

func BenchmarkAcquireRelease(b *testing.B) {
	base := b.TempDir()
	l := Open(base + "/holds")
	ps := append(commondirs(base+"/a", base+"/b"), Placeholder{Path: base + "/hooks", Folder: true})
	for b.Loop() {
		lease, err := l.Acquire("r", "", ps)
		if err != nil {
			b.Fatal(err)
		}
		lease.Release()
	}
}

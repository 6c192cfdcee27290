package sandbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/bubblewrap"
)

// largeStore is a store of n paths that belong to a closure, files, folders and links, and one that does not.
func largeStore(t testing.TB, n int) sandbox.Pick {
	t.Helper()
	store, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	k := sandbox.Pick{Source: store, Target: "/nix/store"}
	for i := range n {
		name := fmt.Sprintf("%04d", i)
		path := filepath.Join(store, name)
		switch i % 10 {
		case 0:
			err = os.WriteFile(path, []byte(name), 0o644)
		case 1:
			err = os.Symlink("0002/bin", path)
		default:
			if err = os.MkdirAll(filepath.Join(path, "bin"), 0o755); err == nil {
				err = os.WriteFile(filepath.Join(path, "bin", "x"), []byte(name), 0o755)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		k.Names = append(k.Names, name)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(store, "other"), 0o755), os.WriteFile(filepath.Join(store, "other", "secret"), []byte("hunter2"), 0o644)); err != nil {
		t.Fatal(err)
	}
	return k
}

// keep starts a keeper of the box's pick.
func (b *box) keep(k sandbox.Pick) *sandbox.Kept {
	b.t.Helper()
	b.policy.Picks = []sandbox.Pick{k}
	plan, err := bubblewrap.Keeper(k, b.host)
	if err != nil {
		b.t.Fatal(err)
	}
	kept, err := sandbox.Keep(b.t.Context(), plan)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(kept.Close)
	return kept
}

// runWith runs a shell script with a keeper's copy, nil for none.
func (b *box) runWith(tree *os.File, script string) (string, error) {
	b.policy.Argv = []string{"/bin/bash", "-c", script}
	plan, err := bubblewrap.New(b.policy, b.host)
	if err != nil {
		return "", err
	}
	var out lockedBuffer
	_, err = sandbox.Run(b.t.Context(), plan, sandbox.IO{Stdout: &out, Stderr: &out, Tree: tree})
	return out.String(), err
}

func (b *box) tree(k *sandbox.Kept) *os.File {
	b.t.Helper()
	tree, err := k.Tree()
	if err != nil {
		b.t.Fatal(err)
	}
	return tree
}

// what all of a store looks like: every name, and what is read through each.
const survey = `cd /nix/store; ls | md5sum; for f in *; do [ -d $f ] && f=$f/x && [ -e $f ] || f=${f%/x}/bin/x; cat $f 2>/dev/null || cat ${f%/bin/x} 2>/dev/null; done | md5sum
	ls -l /nix/store | grep -v ^total | cut -c1-10 | sort | uniq -c; grep ' /nix/store' /proc/self/mountinfo | cut -d' ' -f4-7 | grep -v '^/ ' | sort | md5sum
	grep ' /nix/store' /proc/self/mountinfo | grep -cv ' ro,nosuid,nodev'; grep ' /nix/store' /proc/self/mountinfo | grep -c -e master: -e shared:`

// A run with a keeper's copy sees what it would see without.
func TestAKeptPickIsThePick(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	kept := b.keep(largeStore(t, 300))
	want, err := b.runWith(nil, survey)
	if err != nil || !strings.Contains(want, "30 lrwxrwxrwx") {
		t.Fatalf("%v\n%s", err, want)
	}
	for range 3 {
		if got, err := b.runWith(b.tree(kept), survey); err != nil || got != want {
			t.Errorf("%v\n%s\nwithout a keeper:\n%s", err, got, want)
		}
	}
}

// The copy gives nothing away, and takes nothing: each attack would succeed on a mount that is one's own.
func TestAttacksOnAKeptPick(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	k := largeStore(t, 50)
	kept := b.keep(k)
	const attack = `exec 2>&1; touch %[1]s/0000 %[1]s/new %[1]s/0002/new && echo ESCAPED touch; echo evil >%[1]s/0002/bin/x && echo ESCAPED write; mkdir %[1]s/d && echo ESCAPED mkdir
		rm -rf %[1]s/0003 && echo ESCAPED rm; mv %[1]s/0004 %[1]s/moved && echo ESCAPED mv; chmod 777 %[1]s %[1]s/0002 && echo ESCAPED chmod
		mount -o remount,rw,bind %[1]s && echo ESCAPED remount; mount -o remount,rw %[1]s && echo ESCAPED super; mount --make-shared %[1]s && echo ESCAPED shared
		umount -l %[1]s/0002 && echo ESCAPED umount; umount -l %[1]s && echo ESCAPED umount all; mount -t tmpfs x %[1]s && echo ESCAPED tmpfs; unshare -Urm true && echo ESCAPED unshare
		ls %[1]s/../.. | tr '\n' ' '; echo; ls -a %[1]s/0002/../../.. | tr '\n' ' '; echo; ls /proc/self/fd | wc -l
		ls -l /proc/[0-9]*/fd 2>/dev/null | grep -e store -e pick && echo ESCAPED descriptor; ls -d /proc/[0-9]*/root/nix/store/other 2>/dev/null && echo ESCAPED root
		cat %[1]s/../store/other/secret %[1]s/0001/../../other/secret; ls -A /run/sidecar/pick0; grep -o '[^ ]*other[^ ]*' /proc/self/mountinfo; echo end`
	for range 2 { // the second run would see what the first one did
		out, err := b.runWith(b.tree(kept), fmt.Sprintf(attack, "/nix/store"))
		if err != nil || strings.Contains(out, "ESCAPED") || strings.Contains(out, "hunter2") || !strings.HasSuffix(out, "end\n") {
			t.Errorf("%v\n%s", err, out)
		}
		if !strings.Contains(out, "\n4\n") {
			t.Errorf("descriptors:\n%s", out)
		}
	}
	for _, name := range []string{"0002/new", "new", "moved", "d"} {
		if exists(filepath.Join(k.Source, name)) {
			t.Errorf("%s was made", name)
		}
	}
	if text, err := os.ReadFile(filepath.Join(k.Source, "0002/bin/x")); err != nil || string(text) != "0002" {
		t.Errorf("0002/bin/x holds %q, %v", text, err)
	}
	b.policy.Picks, b.policy.Mounts = nil, append(b.policy.Mounts, sandbox.Mount{Source: k.Source, Target: "/own", Access: sandbox.ReadWrite})
	if out, err := b.runWith(nil, fmt.Sprintf(attack, "/own")); err != nil || strings.Count(out, "ESCAPED") < 6 || !strings.Contains(out, "hunter2") {
		t.Errorf("the attacks prove nothing: %v\n%s", err, out)
	}
}

// A keeper that is killed, at whatever moment, costs a run its help and no more.
func TestAKeeperThatIsKilled(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	k := largeStore(t, 200)
	for _, spare := range []bool{true, false} {
		kept := b.keep(k)
		tree := b.tree(kept)
		if spare {
			if err := kept.Spare(); err != nil {
				t.Fatal(err)
			}
		}
		killAll(t, k.Source)
		if out, err := b.runWith(tree, "ls /nix/store | wc -l; cat /nix/store/0000"); err != nil || out != "200\n0000" {
			t.Errorf("with a copy that a keeper made before its end: %v %q", err, out)
		}
		<-kept.Gone()
		kept.Close()
		if tree, err := kept.Tree(); err == nil {
			t.Errorf("a copy of a keeper that is dead: %v", tree)
		}
		if out, err := b.runWith(nil, "ls /nix/store | wc -l"); err != nil || out != "200\n" {
			t.Errorf("without: %v %q", err, out)
		}
	}
}

// However many ask a keeper while it is killed, each gets a copy or an error, and no descriptor stays.
func TestAKeeperThatIsKilledWhileItIsAsked(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	k := largeStore(t, 300)
	before := descriptors(t)
	for i := range 10 {
		kept := b.keep(k)
		var asking sync.WaitGroup
		for range 4 {
			asking.Go(func() {
				for {
					tree, err := kept.Tree()
					if err != nil {
						return
					}
					_ = tree.Close()
					if i%2 == 0 {
						_ = kept.Spare()
					}
				}
			})
		}
		killAll(t, k.Source)
		asking.Wait()
		kept.Close()
	}
	await(t, func() bool { return descriptors(t) == before })
}

// A keeper that does not answer is ended.
func TestAKeeperThatHangs(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	k := largeStore(t, 20)
	kept := b.keep(k)
	_ = b.tree(kept).Close()
	signalAll(t, k.Source, unix.SIGSTOP)
	if tree, err := kept.Tree(); err == nil {
		t.Errorf("a copy of a keeper that is stopped: %v", tree)
	}
	<-kept.Gone()
}

// What is no copy, or was used already, makes the shim pick by itself.
func TestATreeThatCannotBeUsed(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	kept := b.keep(largeStore(t, 100))
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	twice := b.tree(kept)
	fd, err := unix.FcntlInt(twice.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, tree := range map[string]*os.File{"the null device": null, "a copy": twice} {
		if out, err := b.runWith(tree, "ls /nix/store | wc -l"); err != nil || out != "100\n" {
			t.Errorf("%s: %v %q", name, err, out)
		}
	}
	if out, err := b.runWith(os.NewFile(uintptr(fd), "again"), "ls /nix/store | wc -l"); err != nil || out != "100\n" {
		t.Errorf("a copy that was used: %v %q", err, out)
	}
}

func TestAKeeperOfWhatIsGone(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	plan, err := bubblewrap.Keeper(sandbox.Pick{Source: b.dir, Target: "/nix/store", Names: []string{"gone"}}, b.host)
	if err != nil {
		t.Fatal(err)
	}
	_, err = sandbox.Keep(t.Context(), plan)
	var start *sandbox.StartError
	if !errors.As(err, &start) || start.Step != sandbox.StepPick || start.Path != "/nix/store/gone" {
		t.Errorf("got %v", err)
	}
}

// Many runs at once each get a copy of their own, and nothing stays: no process, no descriptor.
func TestNothingOfAKeeperStays(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	k := largeStore(t, 200)
	before := descriptors(t)
	kept := b.keep(k)
	b.policy.Argv = []string{"/bin/bash", "-c", "ls /nix/store | wc -l"}
	plan, err := bubblewrap.New(b.policy, b.host)
	if err != nil {
		t.Fatal(err)
	}
	var runs sync.WaitGroup
	for range 8 {
		runs.Go(func() {
			for range 4 {
				var out bytes.Buffer
				tree, err := kept.Tree()
				if err != nil {
					t.Error(err)
				}
				if _, err = sandbox.Run(t.Context(), plan, sandbox.IO{Stdout: &out, Tree: tree}); err != nil || out.String() != "200\n" {
					t.Errorf("%v %q", err, out.String())
				}
				if err := kept.Spare(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	runs.Wait()
	await(t, func() bool { return len(processesOf(t, k.Source)) <= 1 }) // the runs' sandboxes are about to be gone
	if n := len(processesOf(t, k.Source)); n != 1 {                     // bwrap's own has not changed its namespace, the shim is the other
		t.Errorf("%d processes have the keeper's mounts", n)
	}
	kept.Close()
	await(t, func() bool { return descriptors(t) == before && len(processesOf(t, k.Source)) == 0 })
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

// What is mounted on the host later does not appear in copies, whatever the host's mounts are.
func TestCopiesArePrivate(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting takes root")
	}
	b := newBox(t, sandbox.ByShim)
	k := largeStore(t, 20)
	if err := errors.Join(unix.Mount(k.Source, k.Source, "", unix.MS_BIND, ""), unix.Mount("", k.Source, "", unix.MS_SHARED, "")); err != nil {
		t.Skipf("no mounts here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(k.Source, unix.MNT_DETACH) })
	kept := b.keep(k)
	tree := b.tree(kept)
	late := filepath.Join(k.Source, "0002", "bin")
	if err := unix.Mount("late", late, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(late, unix.MNT_DETACH) })
	for _, tree := range []*os.File{tree, b.tree(kept)} {
		if out, err := b.runWith(tree, "cat /nix/store/0002/bin/x; grep -c late /proc/self/mountinfo"); err != nil || out != "00020\n" {
			t.Errorf("%v %q", err, out)
		}
	}
}

// A keeper ends with the process that has it.
func TestAKeeperEndsWithItsOwner(t *testing.T) {
	if dir := os.Getenv("SIDECAR_TEST_KEEPER"); dir != "" {
		b := newBox(t, sandbox.ByShim)
		b.keep(sandbox.Pick{Source: dir, Target: "/nix/store", Names: []string{"0000"}})
		fmt.Println("kept")
		select {}
	}
	requireBubblewrap(t)
	k := largeStore(t, 1)
	owner := exec.Command(os.Args[0], "-test.run", "^TestAKeeperEndsWithItsOwner$")
	owner.Env = append(os.Environ(), "SIDECAR_TEST_KEEPER="+k.Source)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 5)
	if _, err := out.Read(line); err != nil || string(line[:4]) != "kept" {
		t.Fatalf("%v %q", err, line)
	}
	if n := len(processesOf(t, k.Source)); n != 1 {
		t.Errorf("%d processes keep it", n)
	}
	_ = owner.Process.Kill()
	_ = owner.Wait()
	await(t, func() bool { return len(processesOf(t, k.Source)) == 0 })
}

// processesOf are the processes in whose namespaces entries of a folder are mounted: keepers and runs.
func processesOf(t *testing.T, folder string) []int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	own, _ := os.Readlink("/proc/self/ns/mnt")
	var pids []int
	for _, file := range all {
		text, _ := os.ReadFile(file)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		ns, _ := os.Readlink(filepath.Join(filepath.Dir(file), "ns/mnt"))
		if ns != own && bytes.Contains(text, []byte(filepath.Base(filepath.Dir(folder))+"/"+filepath.Base(folder)+"/")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func killAll(t *testing.T, folder string) { signalAll(t, folder, unix.SIGKILL) }

func signalAll(t *testing.T, folder string, signal unix.Signal) {
	t.Helper()
	pids := processesOf(t, folder)
	if len(pids) == 0 {
		t.Error("no keeper to be signalled")
	}
	for _, pid := range slices.Backward(pids) {
		_ = unix.Kill(pid, signal)
	}
}

// descriptors counts this process's own.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// BenchmarkAClosure is a run with 2,000 store paths: picked, with a copy made when it is asked for, with one made ahead.
func BenchmarkAClosure(b *testing.B) {
	for _, n := range []int{20, 2000} {
		for _, how := range []string{"picked", "copied", "spare"} {
			b.Run(fmt.Sprintf("%d/%s", n, how), func(b *testing.B) {
				x := newBox(b, sandbox.ByShim)
				kept := x.keep(largeStore(b, n))
				if tree, err := kept.Tree(); err != nil || tree.Close() != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					var tree *os.File
					if how == "spare" {
						b.StopTimer()
						if err := kept.Spare(); err != nil {
							b.Fatal(err)
						}
						time.Sleep(5 * time.Millisecond)
						b.StartTimer()
					}
					if how != "picked" {
						tree, _ = kept.Tree()
					}
					if _, err := x.runWith(tree, ":"); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

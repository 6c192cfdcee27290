//go:build linux

// Command faults does to a real sidecar what a machine and its people do: kills, stops, full disks, folders that go away, a
// clock that jumps, git at the same time, an upgrade. After each it looks whether anything is left or lost, and whether the
// next request is answered (see after.go). One line a fault, and with -report the same as a page.
//
//	test/faults/run [-k WORD]... [-j N] [-seed N] [-report FILE]
//
// Each fault has a process of its own, which is told its name, and in it a project, a home and a state folder.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fault is one row of the table.
type fault struct {
	what, stage string
	// mounts says that it mounts something, in a mount namespace of its own.
	mounts bool
	// needs are programs without which it cannot be shown.
	needs []string
	do    func(*lab) error
}

func (f fault) name() string { return f.what + ": " + f.stage }

// faults are all of them, in the order of the table.
func faults() []fault {
	return slices.Concat(kills(), stops(), fullDisks(), folders(), people(), upgrades(), clocks(), builds())
}

// verdict is what a fault's process says.
type verdict struct {
	// Checked is what was looked at, Seen what is worth telling of how it went, Err why it was not survived.
	Checked []string
	Seen    string
	Err     string
}

// patience is how long a fault may take.
const patience = 2 * time.Minute

func main() {
	var words []string
	flag.Func("k", "only faults whose names hold this `word`", func(w string) error { words = append(words, w); return nil })
	workers := flag.Int("j", 4, "how many faults at once")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the moments that are chosen by chance")
	report := flag.String("report", "", "also write the table to this `file`")
	one := flag.String("one", "", "the fault to inject, in this process")
	flag.Parse()
	if signal.Ignored(os.Interrupt) { // as of what a script starts in the background: sidecar would leave it so
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	binary, err := filepath.Abs(flag.Arg(0))
	switch {
	case err != nil || flag.NArg() != 1:
		fmt.Fprintln(os.Stderr, "usage: faults [flags] SIDECAR")
		os.Exit(2)
	case *one != "":
		alone(*one, binary, *seed)
	default:
		os.Exit(all(binary, words, *workers, *seed, *report))
	}
}

// all injects those faults whose names hold one of the words.
func all(binary string, words []string, workers int, seed uint64, report string) int {
	table := slices.DeleteFunc(faults(), func(f fault) bool {
		return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(f.name(), w) })
	})
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	fmt.Printf("seed %d\n", seed)
	verdicts := make([]verdict, len(table))
	var next sync.Mutex
	at := 0
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for {
				next.Lock()
				i := at
				at++
				next.Unlock()
				if i >= len(table) {
					return
				}
				verdicts[i] = inject(table[i], binary, seed)
				fmt.Println(line(table[i], verdicts[i]))
			}
		})
	}
	wait.Wait()
	failed := 0
	for _, v := range verdicts {
		if v.Err != "" {
			failed++
		}
	}
	fmt.Printf("%d passed, %d failed\n", len(table)-failed, failed)
	if report != "" {
		if err := write(report, table, verdicts); err != nil {
			fmt.Fprintln(os.Stderr, "faults:", err)
			return 2
		}
	}
	return min(failed, 1)
}

func line(f fault, v verdict) string {
	if v.Err != "" {
		return fmt.Sprintf("FAILED    %s\n          %s", f.name(), strings.ReplaceAll(v.Err, "\n", "\n          "))
	}
	line := fmt.Sprintf("survived  %s (looked at: %s)", f.name(), strings.Join(slices.Compact(v.Checked), ", "))
	if v.Seen != "" {
		line += ": " + v.Seen
	}
	return line
}

// inject has a process of its own do a fault, in namespaces of its own if it mounts something.
func inject(f fault, binary string, seed uint64) (v verdict) {
	for _, program := range f.needs {
		if _, err := exec.LookPath(program); err != nil {
			return verdict{Err: "needs " + program}
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "-one", f.name(), "-seed", fmt.Sprint(seed), binary)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if f.mounts {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNS
		if os.Getuid() != 0 {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
		}
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return verdict{Err: fmt.Sprintf("it goes on after %s", patience)}
	case err != nil:
		return verdict{Err: fmt.Sprintf("%v: %s", err, out)}
	}
	if err := json.Unmarshal(out, &v); err != nil {
		return verdict{Err: fmt.Sprintf("%v: %s", err, out)}
	}
	return v
}

// alone is that process. All that it starts stays below it, whoever's child it was: so nothing that is left is overlooked.
func alone(name, binary string, seed uint64) {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	at := slices.IndexFunc(faults(), func(f fault) bool { return f.name() == name })
	if at < 0 {
		fmt.Fprintf(os.Stderr, "faults: there is no fault %q\n", name)
		os.Exit(2)
	}
	f := faults()[at]
	var v verdict
	l, err := newLab(binary, rand.New(rand.NewPCG(seed, uint64(len(name)))), f.mounts)
	if err == nil {
		if err = f.do(l); err == nil {
			err = l.after()
		}
		v.Checked, v.Seen = l.checked, l.seen
		err = errors.Join(err, l.close(err != nil))
	}
	if err != nil {
		v.Err = err.Error()
	}
	_ = json.NewEncoder(os.Stdout).Encode(v)
}

//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adrg/xdg"

	sidecar "code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/protocol"
)

// loadFor is how long the part "load" lasts, loadPause what a client of it thinks between two runs on average.
var loadFor, loadPause = time.Hour, time.Second

// load is many clients of all kinds in two worktrees of a repository, and a person's git beside them.
type load struct {
	binary, dir string
	trees       []string
	until       time.Time
	// asked holds the runs that were answered; each is to be in the history.
	mu    sync.Mutex
	asked []string
	// failed are what went wrong, at most as many as a person reads.
	failed []string
	wrong  int
	// git is held by who uses git, and alone at what all work trees share.
	git sync.RWMutex
	// written counts the lines that answered runs put into files of the workspace.
	runs, written, cancelled, aborted atomic.Int64
	commits                           [2]int
	// resident is both sidecars' memory in bytes, descriptors the number of their open files, every few seconds.
	resident, descriptors []int64
}

// member is one client: what it does once, for the i-th time, and its end.
type member struct {
	name string
	once func(i int) error
	end  func()
}

// mixedLoad has sixteen clients work in two worktrees for loadFor while git is used beside them, and asks afterwards what
// was lost, what was left, and whether memory grew.
func mixedLoad(binary, dir string, _ int) ([]row, error) {
	l := &load{binary: binary, dir: dir}
	if err := l.prepare(); err != nil {
		return nil, err
	}
	var members []member
	for i, tree := range l.trees {
		more, err := l.members(i, tree)
		members = append(members, more...)
		if err != nil {
			return nil, err
		}
	}
	l.until = time.Now().Add(loadFor)
	var all sync.WaitGroup
	for _, m := range members {
		all.Go(func() { l.work(m) })
	}
	for i := range l.trees {
		all.Go(func() { l.person(i) })
	}
	all.Go(l.sample)
	all.Wait()
	for _, m := range members {
		m.end()
	}
	return l.verdict(len(members))
}

// prepare makes homes of the load's own, a repository and a linked worktree.
func (l *load) prepare() error {
	for name, sub := range map[string]string{"HOME": "home", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config", "XDG_RUNTIME_DIR": "run", "XDG_CACHE_HOME": "cache"} {
		if err := os.MkdirAll(filepath.Join(l.dir, sub), 0o700); err != nil {
			return err
		}
		if err := os.Setenv(name, filepath.Join(l.dir, sub)); err != nil {
			return err
		}
	}
	xdg.Reload()
	main, linked := filepath.Join(l.dir, "main tree"), filepath.Join(l.dir, "linked tree")
	if err := project(main, 2, 500); err != nil {
		return err
	}
	for _, args := range [][]string{{"config", "user.name", "p"}, {"config", "user.email", "p@example.org"}, {"commit", "-qm", "begin"}, {"worktree", "add", "-qb", "linked", linked}} {
		if err := git(main, "", args...); err != nil {
			return err
		}
	}
	l.trees = []string{main, linked}
	for _, tree := range l.trees {
		if err := os.Mkdir(filepath.Join(tree, "out"), 0o755); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(main, ".git/info/exclude"), []byte("out/\n.gitmodules\n"), 0o644)
}

// members are eight clients of a tree.
func (l *load) members(n int, tree string) (all []member, err error) {
	for _, language := range []string{"bash", "python", "node"} {
		c, err := dialWarm(l.binary, tree)
		if err != nil {
			return all, err
		}
		all = append(all, member{"mcp " + language, func(i int) error { return l.mcp(c, language, "", n, i) }, c.close})
	}
	c, err := dialWarm(l.binary, tree)
	if err != nil {
		return all, err
	}
	all = append(all, member{"mcp session", func(i int) error { return l.mcp(c, "python", "kept", n, i) }, func() {
		if _, err := c.call("tools/call", map[string]any{"name": "close_session", "arguments": map[string]any{"session": "kept"}}); err != nil {
			l.fail("the session's end: %v", err)
		}
		c.close()
	}})
	for _, name := range []string{"socket", "cancelling"} {
		c, err := connect(l.binary, tree)
		if err != nil {
			return all, err
		}
		once := func(i int) error { return l.overSocket(c, n, i) }
		if name == "cancelling" {
			once = func(int) error { return l.cancels(c) }
		}
		all = append(all, member{name, once, c.Close})
	}
	nothing := func() {}
	return append(all,
		member{"terminal", func(i int) error { return l.terminal(tree, n, i) }, nothing},
		member{"killed", func(int) error { return l.killed(tree) }, nothing},
	), nil
}

// work does a client's part until the time is over.
func (l *load) work(m member) {
	for i := 0; time.Now().Before(l.until); i++ {
		if err := m.once(i); err != nil {
			l.fail("%s, its run %d: %v", m.name, i, err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(2*loadPause) + 1)))
	}
}

func (l *load) fail(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wrong++; len(l.failed) < 20 {
		l.failed = append(l.failed, fmt.Sprintf("%s after %s: ", time.Now().Format(time.TimeOnly), l.began())+fmt.Sprintf(format, args...))
		_, _ = fmt.Fprintln(os.Stderr, "load:", l.failed[len(l.failed)-1])
	}
}

func (l *load) began() time.Duration {
	return (loadFor - time.Until(l.until)).Round(time.Second)
}

// answered takes an answer: it has to be this run's own.
func (l *load) answered(id, got, want string) error {
	l.runs.Add(1)
	if strings.Contains(want, "-") {
		l.written.Add(1)
	}
	l.mu.Lock()
	l.asked = append(l.asked, id)
	l.mu.Unlock()
	if got != want {
		return fmt.Errorf("run %s printed %q, want %q", id, got, want)
	}
	return nil
}

// codes write a word to standard output and to a file of the client's, read what is private to a run, and leave a process.
var codes = map[string]string{
	"bash":   "[ -z \"$(ls /tmp)\" ] || echo litter; echo x >/tmp/own; echo %[1]s >>%[2]s; sleep 100 & disown; echo %[1]s",
	"python": "import os; print(*os.listdir('/tmp'), end=''); open('/tmp/own', 'w').close(); open('%[2]s', 'a').write('%[1]s\\n'); print('%[1]s')",
	"node":   "const fs = require('fs'); fs.appendFileSync('%[2]s', '%[1]s\\n'); console.log(fs.readdirSync('/tmp').join('') + '%[1]s')",
}

// task is the i-th code of a client, and what it prints.
func task(language, client string, n, i int) (code, prints string) {
	word := fmt.Sprintf("%s-%d-%d", client, n, i)
	return fmt.Sprintf(codes[language], word, "out/"+client+"-"+language), word + "\n"
}

// mcp is a call of run_code; in a session the code counts its calls.
func (l *load) mcp(c *client, language, session string, n, i int) error {
	code, want := task(language, "mcp", n, i)
	arguments := map[string]any{"language": language, "code": code}
	if session != "" {
		arguments["code"], want = "calls = globals().get('calls', 0) + 1; print(calls)", fmt.Sprintf("%d\n", i+1)
		arguments["session"] = session
	}
	result, err := c.do(arguments)
	if err != nil {
		return err
	}
	return l.answered(result.ID, result.Stdout.Text, want)
}

func (l *load) overSocket(c *sidecar.Client, n, i int) error {
	code, want := task("bash", "socket", n, i)
	result, err := c.Run(context.Background(), request("bash", code), nil, sidecar.Watch{})
	if err != nil {
		return err
	}
	return l.answered(result.ID, result.Stdout.Text, want)
}

// cancels asks for a run that would last, and cancels it at any moment of its life.
func (l *load) cancels(c *sidecar.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.Int64N(int64(300*time.Millisecond))))
	defer cancel()
	result, err := c.Run(ctx, request("python", "import time; time.sleep(600)"), nil, sidecar.Watch{})
	l.cancelled.Add(1)
	if e := new(protocol.Error); err == nil && !result.Cancelled || err != nil && !(errors.As(err, &e) && e.Kind == protocol.Cancelled) {
		return fmt.Errorf("cancelled: %+v, %w", result, err)
	}
	return nil
}

// terminal is `sidecar run`.
func (l *load) terminal(tree string, n, i int) error {
	code, want := task("python", "terminal", n, i)
	cmd := exec.Command(l.binary, "run", "--json", "--language", "python", "-")
	cmd.Dir, cmd.Stdin = tree, strings.NewReader(code)
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var result struct {
		ID     string
		Stdout struct{ Text string }
	}
	if err := json.Unmarshal(out, &result); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return l.answered(result.ID, result.Stdout.Text, want)
}

// killed is `sidecar run` that dies at any moment of its run.
func (l *load) killed(tree string) error {
	cmd := exec.Command(l.binary, "run", "--language", "bash", "-")
	cmd.Dir, cmd.Stdin = tree, strings.NewReader("sleep 600")
	if err := cmd.Start(); err != nil {
		return err
	}
	time.Sleep(time.Duration(rand.Int64N(int64(200 * time.Millisecond))))
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	l.aborted.Add(1)
	return nil
}

// person commits, looks, tidies up and switches branches in a tree.
func (l *load) person(n int) {
	tree, file := l.trees[n], "notes-"+strconv.Itoa(n)
	for i := 0; time.Now().Before(l.until); i++ {
		l.git.RLock()
		err := os.WriteFile(filepath.Join(tree, file), []byte(strconv.Itoa(i)), 0o644)
		for _, args := range [][]string{{"add", file}, {"status", "--porcelain"}, {"commit", "-qm", strconv.Itoa(i), "--", file}, {"switch", "-qc", fmt.Sprintf("b%d-%d", n, i)}} {
			if err == nil {
				err = git(tree, "", args...)
			}
		}
		l.git.RUnlock()
		if err == nil && i%10 == 9 {
			err = l.alone(tree, "config", "load.count", strconv.Itoa(i))
		}
		if err == nil && i%20 == 19 {
			err = l.alone(tree, "gc", "-q")
		}
		if err != nil {
			l.fail("git in %s: %v", filepath.Base(tree), err)
		} else {
			l.commits[n]++
		}
		time.Sleep(time.Duration(rand.Int64N(int64(4*loadPause) + 1)))
	}
}

// alone is git at what all work trees share: where another one goes on it fails without us, too.
func (l *load) alone(tree string, args ...string) error {
	l.git.Lock()
	defer l.git.Unlock()
	return git(tree, "", args...)
}

// sample looks at the sidecars every few seconds.
func (l *load) sample() {
	for time.Now().Before(l.until) {
		time.Sleep(min(5*time.Second, loadFor/50))
		var memory, fds int64
		for _, tree := range l.trees {
			pid, err := serverOf(l.binary, tree)
			if err != nil {
				l.fail("status: %v", err)
				return
			}
			n, err := resident(pid)
			if err != nil {
				l.fail("the sidecar: %v", err)
				return
			}
			list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
			memory, fds = memory+n, fds+int64(len(list))
		}
		l.resident, l.descriptors = append(l.resident, memory), append(l.descriptors, fds)
	}
}

// verdict asks what was lost and what was left.
func (l *load) verdict(clients int) ([]row, error) {
	var left traces
	for _, tree := range l.trees {
		t, err := tracesOf(l.binary, tree)
		if err != nil {
			return nil, err
		}
		left.processes, left.litter = left.processes+t.processes, left.litter+" "+t.litter
	}
	missing, err := l.missing()
	if err != nil {
		return nil, err
	}
	commits := 0
	for n, tree := range l.trees {
		out, err := exec.Command("git", "-C", tree, "rev-list", "--count", "HEAD").Output()
		if err != nil {
			return nil, err
		}
		had, _ := strconv.Atoi(strings.TrimSpace(string(out)))
		commits += had - 1 - l.commits[n]
	}
	fsck := git(l.trees[0], "", "fsck", "--strict", "--no-dangling")
	tenth := max(1, len(l.resident)/10)
	if len(l.resident) < 3*tenth {
		return nil, errors.New("too short to say anything about memory")
	}
	early, late := median(l.resident[tenth:2*tenth]), median(l.resident[len(l.resident)-tenth:])
	earlyFDs, lateFDs := median(l.descriptors[tenth:2*tenth]), median(l.descriptors[len(l.descriptors)-tenth:])
	grew := late - early
	return []row{
		{what: fmt.Sprintf("%d clients in two worktrees for %v: runs that were answered", clients, loadFor), got: fmt.Sprint(l.runs.Load())},
		{what: "runs cancelled by their client", got: fmt.Sprint(l.cancelled.Load())},
		{what: "runs whose client was killed", got: fmt.Sprint(l.aborted.Load())},
		{what: "commits of the person beside", got: fmt.Sprint(l.commits[0] + l.commits[1])},
		{what: "answers that were wrong, runs and git commands that failed", got: fmt.Sprint(l.wrong), want: "none", met: l.wrong == 0},
		{what: "answered runs that the history lacks", got: fmt.Sprint(missing), want: "none", met: missing == 0},
		{what: "lines that runs wrote and that are not in the workspace", got: fmt.Sprint(l.unwritten()), want: "none", met: l.unwritten() == 0},
		{what: "commits lost, and git fsck", got: fmt.Sprintf("%d, %v", -commits, fsck), want: "none, nil", met: commits == 0 && fsck == nil},
		{what: "processes left", got: fmt.Sprint(left.processes), want: "none", met: left.processes == 0},
		{what: "left in the workspaces beside the runs' own files", got: strings.TrimSpace(left.litter), want: "nothing", met: strings.TrimSpace(left.litter) == ""},
		{what: "both sidecars' memory, a tenth into it", got: mib(early), unit: " MiB"},
		{what: "both sidecars' memory, at the end", got: mib(late), unit: " MiB", want: "at most 16 MiB more", met: grew <= 16<<20},
		{what: "both sidecars' descriptors, a tenth into it and at the end", got: fmt.Sprintf("%d, %d", earlyFDs, lateFDs), want: "at most 20 more", met: lateFDs <= earlyFDs+20},
	}, nil
}

// missing counts the answered runs that the history does not know the end of.
func (l *load) missing() (n int, err error) {
	out, err := exec.Command(l.binary, "runs", "--all", "--json", "-n", "0").Output()
	if err != nil {
		return 0, err
	}
	var known []struct {
		ID  string
		End *struct{}
	}
	if err := json.Unmarshal(out, &known); err != nil {
		return 0, err
	}
	ended := map[string]bool{}
	for _, r := range known {
		ended[r.ID] = r.End != nil
	}
	for _, id := range l.asked {
		if !ended[id] {
			n++
		}
	}
	return n, nil
}

// unwritten counts the lines that answered runs wrote and that are not there.
func (l *load) unwritten() int {
	there := 0
	for _, tree := range l.trees {
		files, _ := filepath.Glob(filepath.Join(tree, "out", "*"))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			there += bytes.Count(text, []byte("\n"))
		}
	}
	return int(l.written.Load()) - there
}

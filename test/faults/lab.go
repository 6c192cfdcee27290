//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// lab is where one fault is injected: a project in git, a home, and folders for state and cache, all below dir.
type lab struct {
	binary  string
	dir     string
	project string
	env     []string
	chance  *rand.Rand
	// before are the project's files; mounted is what the fault mounted itself.
	before  map[string]string
	mounted []string
	// checked and seen are for the table.
	checked []string
	seen    string
}

// sessions is where sidecar has its sockets if the person has logged in.
const sessions = "/run/user"

func newLab(binary string, chance *rand.Rand, mounts bool) (*lab, error) {
	dir, err := os.MkdirTemp("/var/tmp", "sidecar-faults.")
	if err != nil {
		return nil, err
	}
	l := &lab{binary: filepath.Join(dir, "bin", "sidecar"), dir: dir, project: filepath.Join(dir, "project"), chance: chance}
	l.env = []string{"HOME=" + dir, "PATH=" + filepath.Dir(l.binary) + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C.UTF-8",
		"XDG_STATE_HOME=" + filepath.Join(dir, "state"), "XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), "XDG_CONFIG_HOME=" + filepath.Join(dir, "config")}
	if mounts {
		err = l.apart()
	}
	if err == nil {
		err = errors.Join(os.MkdirAll(l.project, 0o755), os.MkdirAll(filepath.Dir(l.binary), 0o755), l.write(".gitconfig", "[user]\n\tname = me\n\temail = me@example.org\n"),
			l.write("project/file", "1\n"), copyFile(binary, l.binary))
	}
	if err == nil {
		_, err = l.sh("git init -q . && git add . && git commit -qm one && git gc -q")
	}
	if err == nil {
		l.before, err = listing(l.project)
	}
	return l, err
}

// apart keeps mounts to this process's own namespace, and its sockets out of the person's folder.
func (l *lab) apart() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	if _, err := os.Stat(sessions); err != nil {
		return nil
	}
	return unix.Mount("tmpfs", sessions, "tmpfs", 0, "mode=755,size=1m")
}

// mount puts a small file system in memory at a folder of the lab, with what is there.
func (l *lab) mount(path, size string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	l.mounted = append(l.mounted, path)
	return unix.Mount("tmpfs", path, "tmpfs", 0, "mode=700,size="+size)
}

// unmount takes one away, also where somebody still has it.
func (l *lab) unmount(path string) error {
	l.mounted = slices.DeleteFunc(l.mounted, func(m string) bool { return m == path })
	return unix.Unmount(path, unix.MNT_DETACH)
}

// fill takes all the room of a file system; the file that does is given back by removing it.
func fill(name string) error {
	f, err := os.Create(name)
	for block := make([]byte, 64<<10); err == nil; {
		_, err = f.Write(block)
	}
	for one := []byte{0}; errors.Is(err, unix.ENOSPC) && len(one) > 0; one = nil {
		_, err = f.Write(one)
	}
	_ = f.Close()
	if errors.Is(err, unix.ENOSPC) {
		return nil
	}
	return err
}

func (l *lab) write(name, text string) error {
	path := filepath.Join(l.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

// in is a path in the project, is whether there is something.
func (l *lab) in(name string) string { return filepath.Join(l.project, name) }

func (l *lab) is(name string) bool {
	_, err := os.Lstat(l.in(name))
	return err == nil
}

// words are what a program says, as they come.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// started is a program that was started, and what it says.
type started struct {
	*exec.Cmd
	out, err words
	in       io.WriteCloser
	done     chan struct{}
}

// start starts a program in the project.
func (l *lab) start(program string, args ...string) (*started, error) {
	s := &started{Cmd: exec.Command(program, args...), done: make(chan struct{})}
	if program == "sidecar" {
		s.Path, s.Err = l.binary, nil
	}
	s.Dir, s.Env = l.project, l.env
	s.Stdout, s.Stderr = &s.out, &s.err
	var err error
	if s.in, err = s.StdinPipe(); err == nil {
		err = s.Start()
	}
	if err != nil {
		return nil, err
	}
	go func() {
		_ = s.Wait()
		close(s.done)
	}()
	return s, nil
}

// patient is how long anything may take that is to happen.
const patient = 20 * time.Second

// ended waits for a program's end and gives its exit status, -1 when a signal ended it.
func (s *started) ended() (int, error) {
	select {
	case <-s.done:
		return s.ProcessState.ExitCode(), nil
	case <-time.After(patient):
		return 0, fmt.Errorf("%q goes on; it said %s%s", s.Args, s.out.String(), s.err.String())
	}
}

// sidecar runs a command of sidecar to its end.
func (l *lab) sidecar(args ...string) (out string, status int, err error) {
	s, err := l.start("sidecar", args...)
	if err != nil {
		return "", 0, err
	}
	_ = s.in.Close()
	status, err = s.ended()
	return s.out.String() + s.err.String(), status, err
}

// sh is a command of the person's, which has to work.
func (l *lab) sh(script string) (string, error) {
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir, cmd.Env = l.project, l.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", script, err, out)
	}
	return string(out), nil
}

// program is what runs do. Its files say how far it is; its last words are an answer. Of SIGINT it
// takes no notice, so that the run is cancelled by it.
const program = `trap 'exit 3' TERM
trap '' INT
touch begun
until [ -e go ]; do sleep 0.02; done
echo answer
touch end`

// run starts a run that waits for the file go.
func (l *lab) run(flags ...string) (*started, error) {
	return l.start("sidecar", append(append([]string{"run", "--language", "bash"}, flags...), "-e", program)...)
}

// begun waits until the program of a run has begun.
func (l *lab) begun(s *started) error {
	return l.reached(s, func() bool { return l.is("begun") })
}

// reached waits for a stage of a run, or its end.
func (l *lab) reached(s *started, stage func() bool) error {
	for end := time.Now().Add(patient); !stage(); time.Sleep(time.Millisecond) {
		select {
		case <-s.done:
			return fmt.Errorf("the run ended before: %s%s", s.out.String(), s.err.String())
		default:
		}
		if time.Now().After(end) {
			return errors.New("the run never came to this stage")
		}
	}
	return nil
}

// goOn lets a run's program end, answered says that it has been answered with what it printed.
func (l *lab) goOn() error { return os.WriteFile(l.in("go"), nil, 0o644) }

func (l *lab) answered(s *started) error {
	if err := l.goOn(); err != nil {
		return err
	}
	status, err := s.ended()
	if err == nil && (status != 0 || s.out.String() != "answer\n") {
		err = fmt.Errorf("the run: exit status %d, %q, %q", status, s.out.String(), s.err.String())
	}
	return err
}

// await waits until something holds.
func await(what string, holds func() bool) error {
	for end := time.Now().Add(patient); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return errors.New("waited in vain: " + what)
		}
	}
	return nil
}

// close ends all that is below this process, and removes the lab unless it is to be looked at.
func (l *lab) close(keep bool) error {
	for range 100 {
		all := processes()
		for _, p := range all {
			_ = unix.Kill(p.pid, unix.SIGKILL)
		}
		if reap(); len(all) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, m := range l.mounted {
		_ = unix.Unmount(m, unix.MNT_DETACH)
	}
	if keep && os.Getenv("KEEP") != "" {
		fmt.Fprintln(os.Stderr, "kept:", l.dir)
		return nil
	}
	return os.RemoveAll(l.dir)
}

// listing is what a folder holds: each path, with its kind and content. What git rewrites whenever it likes is left out.
func listing(root string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		switch {
		case slices.Contains([]string{".git/index", "begun", "go", "end"}, rel):
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[rel] = string(data)
		default:
			to, _ := os.Readlink(path)
			all[rel] = d.Type().String() + " " + to
		}
		return nil
	})
	return all, err
}

// differences are between two listings.
func differences(was, is map[string]string) (out []string) {
	for path, text := range is {
		if old, ok := was[path]; !ok {
			out = append(out, "new: "+path)
		} else if old != text {
			out = append(out, "changed: "+path)
		}
	}
	for path := range was {
		if _, ok := is[path]; !ok {
			out = append(out, "gone: "+path)
		}
	}
	slices.Sort(out)
	return out
}

func (l *lab) check(what ...string) { l.checked = append(l.checked, what...) }

func join(lines []string) string { return strings.Join(lines, "; ") }

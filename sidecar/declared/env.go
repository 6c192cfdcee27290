package declared

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
)

const (
	// maxValue bounds the value of a variable; the kernel takes no longer text (MAX_ARG_STRLEN, execve(2)).
	maxValue = 128<<10 - 1
	// patience is how long a program may take to print a value: a person may have to unlock a store of secrets.
	patience = time.Minute
)

// Run starts a program, outside of any sandbox and without a shell, and gives what it printed.
type Run func(ctx context.Context, argv []string) ([]byte, error)

// Environment gives the variables that settings declare under a key ("profiles.claude.env"), with the values that are read
// now. It looks where Resolve looks: a file that is reached through a link which a run may have made, and a program that
// lies where runs write, are refused. mounts are those of the same run. No error shows a value.
func Environment(ctx context.Context, key string, env map[string]config.EnvValue, h Host, mounts []Mount, run Run) (map[string]string, error) {
	h = h.withoutLinks()
	r := reading{Host: h, writable: slices.Concat(h.Workspace, h.Writable), run: run}
	for _, m := range mounts {
		if m.Write {
			r.writable = append(r.writable, m.Source, m.Target)
		}
	}
	all := map[string]string{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value, err := r.value(ctx, env[name])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", key, name, err))
			continue
		}
		all[name] = value
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: err.Error(), Err: err}
	}
	return all, nil
}

// reading is the reading of values.
type reading struct {
	Host
	writable []string
	run      Run
}

func (r reading) value(ctx context.Context, v config.EnvValue) (string, error) {
	switch {
	case v.File != "":
		return r.file(v.File)
	case len(v.Command) > 0:
		return r.command(ctx, v.Command)
	case v.Variable != "":
		if value := r.Getenv(v.Variable); value != "" {
			return value, nil
		}
		return "", fmt.Errorf("the variable %s is not set where this was started", v.Variable)
	}
	return v.Text, nil
}

func (r reading) file(text string) (string, error) {
	path, err := r.expand(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", shown(text), err)
	}
	w, err := r.walk(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", shown(text), err)
	}
	if l := r.suspect(w, r.writable); l != nil {
		return "", fmt.Errorf("%s: the symbolic link %s, which a run may have made, leads to %s", shown(text), shown(l.at), shown(w.end))
	}
	value, err := readFile(w.end)
	if err != nil {
		return "", fmt.Errorf("%s: %w", shown(text), err)
	}
	return oneValue(value, shown(text))
}

// readFile reads a regular file that is no link now, and not more than a value.
func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", bare(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", bare(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("no regular file (%s)", info.Mode().Type())
	}
	value, err := io.ReadAll(io.LimitReader(f, maxValue+2))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", bare(err))
	}
	return value, nil
}

// bare drops the path that fs.PathError repeats.
func bare(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// oneValue cuts the newline at the end; from is where the value comes from.
func oneValue(value []byte, from string) (string, error) {
	value = bytes.TrimSuffix(bytes.TrimSuffix(value, []byte("\n")), []byte("\r"))
	switch {
	case len(value) > maxValue:
		return "", fmt.Errorf("%s: more than %d bytes", from, maxValue)
	case bytes.ContainsRune(value, 0):
		return "", fmt.Errorf("%s: a NUL byte, which no variable can hold", from)
	}
	return string(value), nil
}

func (r reading) command(ctx context.Context, argv []string) (string, error) {
	program, err := r.program(argv[0])
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := r.run(ctx, append([]string{program}, argv[1:]...))
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("%s: no answer in time", shown(argv[0]))
	case err != nil:
		return "", fmt.Errorf("%s: %w; start it by hand to see why", shown(argv[0]), err)
	}
	return oneValue(out, shown(argv[0]))
}

// program finds the program on PATH, or at its path, where no run can have put it.
func (r reading) program(name string) (string, error) {
	if strings.Contains(name, "/") || strings.HasPrefix(name, "$") || name == "~" {
		path, err := r.expand(name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", shown(name), err)
		}
		return path, r.executable(path, name)
	}
	reason := fmt.Errorf("%s: not found on PATH", shown(name))
	for _, folder := range filepath.SplitList(r.Getenv("PATH")) {
		if !filepath.IsAbs(folder) {
			continue
		}
		path := filepath.Join(folder, name)
		err := r.executable(path, name)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, errMissing) {
			reason = err
		}
	}
	return "", reason
}

// executable says what is wrong with a program.
func (r reading) executable(path, name string) error {
	w, err := r.walk(path)
	if err != nil {
		return fmt.Errorf("%s: %w", shown(name), err)
	}
	for _, at := range []string{path, w.end} {
		if slices.ContainsFunc(append(r.writtenAround(at), r.writable...), func(folder string) bool { return inside(at, folder) }) {
			return fmt.Errorf("%s: %s lies where runs write, and would be started outside of the sandbox", shown(name), shown(at))
		}
	}
	if r.suspect(w, r.writable) != nil || !w.info.Mode().IsRegular() || w.info.Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("%s: %s is no program", shown(name), shown(path))
	}
	return nil
}

// Exec is a Run with an environment. Of what the program says on its standard error nothing is kept.
func Exec(environ []string) Run {
	return func(ctx context.Context, argv []string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env, cmd.Dir = environ, "/"
		cmd.WaitDelay = time.Second
		out := &bounded{most: maxValue + 2}
		cmd.Stdout = out
		if err := cmd.Run(); err != nil {
			return nil, err
		}
		return out.kept.Bytes(), nil
	}
}

// bounded keeps the beginning of what is written, and takes the rest without a word: the caller sees that it is too long.
// The buffer is no embedded one, whose ReadFrom would take everything.
type bounded struct {
	kept bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	b.kept.Write(p[:min(len(p), b.most-b.kept.Len())])
	return len(p), nil
}

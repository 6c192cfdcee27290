package linked

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// maxOutput bounds what is read of one git: the names of some hundred thousand files.
const maxOutput = 256 << 20

var errTooMuch = fmt.Errorf("it printed more than %d bytes", maxOutput)

// git runs git in the private git dir and returns what it prints.
func (s *shadow) git(ctx context.Context, args ...string) (string, error) {
	var out, errs capped
	out.max, errs.max = maxOutput, 64<<10
	cmd := exec.CommandContext(ctx, s.trees.opts.Git, args...)
	cmd.Dir, cmd.Env = s.tree, s.env()
	cmd.Stdout, cmd.Stderr = &out, &errs
	if s.trees.lock != nil {
		cmd.ExtraFiles = []*os.File{s.trees.lock}
	}
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case out.full:
		err = errTooMuch
	}
	if err != nil {
		return "", &gitError{args: args, said: shown(errs.buf.String()), err: err}
	}
	return out.buf.String(), nil
}

// line is git's output without the line's end.
func (s *shadow) line(ctx context.Context, args ...string) (string, error) {
	out, err := s.git(ctx, args...)
	return strings.TrimRight(out, "\n"), err
}

// env is git's whole environment: nothing of the asker's reaches it.
func (s *shadow) env() []string {
	path := s.trees.opts.Path
	if path == "" {
		path = "/usr/local/bin:/usr/bin:/bin"
	}
	return []string{
		"PATH=" + path, "HOME=" + s.dir, "XDG_CONFIG_HOME=" + s.dir, "TMPDIR=" + s.dir, "LC_ALL=C",
		"GIT_DIR=" + s.dir, "GIT_WORK_TREE=" + s.tree, "GIT_INDEX_FILE=" + s.index,
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(s.trees.Common, "objects"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_LITERAL_PATHSPECS=0",
		"GIT_ADVICE=0", "GIT_PAGER=cat", "GIT_EDITOR=false", "GIT_ASKPASS=", "GIT_ALLOW_PROTOCOL=",
	}
}

// gitError is a git that failed.
type gitError struct {
	args []string
	said string
	err  error
}

func (e *gitError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("git %s: %v", e.args[0], e.err)
	}
	return fmt.Sprintf("git %s: %s", e.args[0], e.said)
}

func (e *gitError) Unwrap() error { return e.err }

// said is what git wrote to stderr before it failed.
func said(err error) string {
	if e := (*gitError)(nil); errors.As(err, &e) {
		return e.said
	}
	return ""
}

// capped is a buffer that keeps no more than max bytes. It goes on swallowing, so that git can end.
type capped struct {
	buf  bytes.Buffer // not embedded: its ReadFrom knows no bound
	max  int
	full bool
}

func (c *capped) Write(p []byte) (int, error) {
	keep := p[:min(len(p), c.max-c.buf.Len())]
	c.full = c.full || len(keep) < len(p)
	c.buf.Write(keep)
	return len(p), nil
}

// shown makes text of a repository fit for a terminal: what is not printable, such as the escape that begins a
// terminal's commands, becomes "?", and it is cut to some lines.
func shown(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 2000 {
		text = text[:2000] + " …"
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}

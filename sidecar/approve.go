package sidecar

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"code.sidecar.dev/sandbox/proxy"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/declared"
	"code.sidecar.dev/sidecar/protocol"
)

// ask puts a question to a person, if there is somebody to ask.
func (r Request) ask(ctx context.Context, q protocol.Question) protocol.Answer {
	if r.Approve == nil {
		return protocol.No
	}
	q.Run, q.Client = r.ID, r.Params.Client
	return r.Approve(ctx, q)
}

// approves asks whether a name may be reached. The run's time stands still meanwhile.
func (r Request) approves(ctx context.Context, q proxy.Question) proxy.Answer {
	defer r.control.Hold()()
	subject := net.JoinHostPort(q.Host, strconv.Itoa(int(q.Port)))
	answer := r.ask(ctx, protocol.Question{Kind: protocol.AskNetwork, Subject: subject, Text: "May this run reach " + subject + "?", Setting: q.Setting, Writes: "network.approved: [" + entry(subject) + "]"})
	if answer.Yes() {
		return proxy.Yes
	}
	return proxy.No
}

// Keep writes an answer of "always" into the settings file that the question names. A question without one has no such
// answer, and nothing is written.
func Keep(q protocol.Question) error {
	if q.File == "" {
		return nil
	}
	return config.Allow(q.File, entry(q.Subject))
}

// entry is a destination as the settings name it: the web's ports go without saying.
func entry(subject string) string {
	host, port, err := net.SplitHostPort(subject)
	switch {
	case err != nil:
		return subject
	case port == "80" || port == "443":
		return host
	}
	return subject
}

// errUntrusted is a project's Nix code that nobody has trusted as it is.
var errUntrusted = errors.New("not trusted")

// approvesTrust asks whether the project's Nix code may be evaluated, if that is what stands against a run, and records
// the answer. Only what was there when the person was asked is trusted.
func (e *Engine) approvesTrust(ctx context.Context, root string, r Request, why error) bool {
	if !errors.Is(why, errUntrusted) || r.Approve == nil {
		return false
	}
	files, err := nixCode(root)
	if err != nil || len(files) == 0 {
		return false
	}
	q := protocol.Question{Kind: protocol.AskTrust, Subject: root, Setting: "sidecar trust", Text: trustText(slices.Sorted(maps.Keys(files)))}
	if !r.ask(ctx, q).Yes() {
		return false
	}
	trust, err := e.Trust(root)
	if err == nil && maps.Equal(trust.Files, files) {
		return true
	}
	_ = e.Distrust(root)
	return false
}

// Of how many files a question says the names, and how much of each.
const (
	mostNamed  = 8
	longestSay = 100
)

func trustText(files []string) string {
	var names []string
	for _, name := range files[:min(len(files), mostNamed)] {
		if len(name) > longestSay {
			name = strings.ToValidUTF8(name[:longestSay], "") + "…"
		}
		names = append(names, named(name))
	}
	if more := len(files) - mostNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return "May Nix evaluate the project's code, as it is now, outside of the sandbox (" + strings.Join(names, ", ") + ")?"
}

// named is a path in a question. A run may have chosen it so that it reads like a question's end and another one's
// beginning, on lines of their own: what is not one plain word is quoted.
func named(path string) string {
	odd := func(r rune) bool { return r == ' ' || r == '"' || !unicode.IsPrint(r) }
	if utf8.ValidString(path) && strings.IndexFunc(path, odd) < 0 {
		return path
	}
	return strconv.Quote(path)
}

// requested looks up the files of the host that a request names. Those that lie in what is declared are there anyway; for
// others a person is asked.
func (e *Engine) requested(ctx context.Context, r Request, h declared.Host, have []declared.Mount) ([]declared.Mount, error) {
	var all []declared.Mount
	for _, list := range []struct {
		key   string
		texts []string
		write bool
	}{{"writableFiles", r.Params.WritableFiles, true}, {"files", r.Params.Files, false}} {
		for _, text := range list.texts {
			m, err := declared.Find(declared.Path{Key: list.key, Text: text, Write: list.write}, h)
			if err != nil {
				return nil, err
			}
			if declared.Covers(have, m) {
				continue
			}
			if err := e.approvesFile(ctx, r, m); err != nil {
				return nil, err
			}
			all = append(all, m)
		}
	}
	return all, nil
}

func (e *Engine) approvesFile(ctx context.Context, r Request, m declared.Mount) error {
	verb, setting, what := "read", "files.ro_files", named(m.Source)
	if m.Folder {
		setting, what = "files.ro_dirs", "the folder "+what
	}
	if m.Write {
		verb, setting = "change", strings.Replace(setting, "ro_", "rw_", 1)
	}
	setting += ": [" + named(m.Source) + "]"
	q := protocol.Question{Kind: protocol.AskFiles, Subject: m.Source, Text: "May this run " + verb + " " + what + "?", Setting: setting}
	if r.ask(ctx, q).Yes() {
		return nil
	}
	return &protocol.Error{Kind: protocol.Denied, Message: fmt.Sprintf("the run may not %s %s, which lies outside of the workspace", verb, what),
		Hint: "a person allows it in the settings: " + setting}
}

package sidecar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
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
	before, _ := e.trusted(root)
	files, err := nixCode(root, before.With)
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
	_, _ = e.Distrust(root)
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

// requested looks up the files of the host that a request names. Those that lie in the workspace, or in what is declared, are
// there anyway, as a run sees them; for others a person is asked. An agent may have chosen the paths: until somebody says
// yes, no answer tells whether one exists, what it is, or where it leads.
func (e *Engine) requested(ctx context.Context, r Request, h declared.Host, have []declared.Mount) ([]declared.Mount, error) {
	var all []declared.Mount
	for _, list := range []struct {
		key   string
		texts []string
		write bool
	}{{"writable_files", r.Params.WritableFiles, true}, {"files", r.Params.Files, false}} {
		for _, text := range list.texts {
			p := declared.Path{Key: list.key, Text: absolute(h.Workspace[0], text), Write: list.write}
			if declared.Shows(h, have, p) {
				continue
			}
			m, err := e.approved(ctx, r, h, p)
			if err != nil {
				return nil, err
			}
			all = append(all, m)
		}
	}
	return all, nil
}

// absolute is a path that a request names: a relative one starts from the workspace's root.
func absolute(root, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(root, path)
}

// approved is a file of the host that a person says yes to. They are asked also about what cannot be had, or how long the
// answer takes would tell.
func (e *Engine) approved(ctx context.Context, r Request, h declared.Host, p declared.Path) (declared.Mount, error) {
	if err := declared.Never(p.Text); err != nil {
		return declared.Mount{}, bad("", "%s: %s: %v", p.Key, named(p.Text), err)
	}
	verb, list := "read", "files.ro_"
	if p.Write {
		verb, list = "change", "files.rw_"
	}
	if r.Approve != nil {
		m, err := declared.Find(p, h)
		if err == nil { // what the person is asked about, whatever is there when they answer
			var all []declared.Mount
			if all, err = declared.Held(m); err == nil {
				m = all[0]
			}
		}
		kind := "files"
		if m.Folder {
			kind = "dirs"
		}
		q := protocol.Question{Kind: protocol.AskFiles, Subject: cmp.Or(m.Source, p.Text), Text: "May this run " + verb + " " + found(p, m, err) + "?", Setting: list + kind + ": [" + named(p.Text) + "]"}
		if r.ask(ctx, q).Yes() {
			return m, err
		}
	}
	return declared.Mount{}, &protocol.Error{Kind: protocol.Denied, Message: fmt.Sprintf("the run may not %s %s, which lies outside of the workspace", verb, named(p.Text)),
		Hint: fmt.Sprintf("a person allows it in the settings: %[1]sfiles: [%[2]s], or %[1]sdirs where it is a folder", list, named(p.Text))}
}

// found says to a person what a path is.
func found(p declared.Path, m declared.Mount, err error) string {
	what := named(p.Text)
	switch {
	case declared.IsMissing(err):
		return what + ", which does not exist"
	case err != nil:
		return what + ", which no run can have"
	case m.Folder:
		what = "the folder " + what
	}
	if m.Source != p.Text {
		what += ", which leads to " + named(m.Source)
	}
	return what
}

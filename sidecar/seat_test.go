package sidecar_test

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/seatbelt/sbpl"
	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/protocol"
)

// seated is a run that was planned for Seatbelt, and the profile that came of it.
type seated struct {
	t       testing.TB
	top     string
	plan    sandbox.Plan
	policy  sandbox.Policy
	profile *sbpl.Profile
	text    string
}

// bareShells are the variables that every command of these tests has.
func (s *seated) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.at("$HOME"), "HOST=" + s.at("$HOST"), "WS=" + s.at("."), "CANARY=" + s.at("$HOST/canary"),
		"XDG_RUNTIME_DIR=" + s.at("$HOST/run"), "GIT_CONFIG_NOSYSTEM=1"}
}

// newSeated makes the folders that the runner of the escapes makes, and runs a script in the workspace, on the host.
func newSeated(t testing.TB, setup string) *seated {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "seat")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	s := &seated{t: t, top: dir}
	for _, d := range []string{"ws", "host/home", "host/run", "state"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	config := "[user]\n\tname = T\n\temail = t@example.com\n[init]\n\tdefaultBranch = main\n"
	if err := os.WriteFile(s.at("$HOME/.gitconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-c", setup)
	cmd.Dir, cmd.Env = s.at("."), s.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("setup: %v: %s", err, out)
	}
	return s
}

// plans has the engine plan a run as on a Mac.
func (s *seated) plans(settings func(*sidecar.Options), r sidecar.Request) *seated {
	s.t.Helper()
	o := sidecar.Options{StateDir: filepath.Join(s.top, "state"), Home: s.at("$HOME"), Getenv: s.getenv,
		Host: &sandbox.Host{Backend: sandbox.Seatbelt, Shim: "/Applications/sidecar"}}
	if settings != nil {
		settings(&o)
	}
	e := sidecar.New(o)
	s.t.Cleanup(e.Close)
	if r.Dir == "" {
		r.Dir = s.at(".")
	}
	if r.Params.Language == "" && r.Params.Command == nil {
		r.Params.Command = []string{"/usr/bin/env"}
	}
	var err error
	if s.plan, s.policy, err = e.Plan(context.Background(), r); err != nil {
		s.t.Fatal(err)
	}
	s.load()
	return s
}

func (s *seated) getenv(name string) string {
	for _, v := range s.environ() {
		if n, value, _ := strings.Cut(v, "="); n == name {
			return value
		}
	}
	return ""
}

// load reads the profile with the parameters of the plan's arguments.
func (s *seated) load() {
	s.t.Helper()
	params := map[string]string{}
	for i, a := range s.plan.Argv {
		if name, value, ok := strings.Cut(a, "="); ok && s.plan.Argv[i-1] == "-D" {
			params[name] = value
		}
	}
	for _, f := range s.plan.Private.Files {
		if f.Target == s.plan.Argv[2] {
			s.text = string(f.Data)
		}
	}
	var err error
	if s.profile, err = sbpl.Load(s.text, params, nil); err != nil {
		s.t.Fatalf("%v\n%s", err, s.text)
	}
}

// at is a path of a question.
func (s *seated) at(path string) string {
	base := filepath.Join(s.top, "ws")
	for name, dir := range map[string]string{"$HOST": filepath.Join(s.top, "host"), "$HOME": filepath.Join(s.top, "host/home"), "$TMP": s.private("/tmp"), "$OWN": s.private("home")} {
		if rest, ok := strings.CutPrefix(path, name); ok {
			return dir + rest
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// private is where a private folder is here.
func (s *seated) private(target string) string {
	for i, scratch := range s.policy.Scratch {
		if scratch.Target == target || target == "home" && strings.HasSuffix(scratch.Target, "/home") {
			return s.plan.Private.Folders[i+1].Path // the first is what sidecar generates
		}
	}
	return "/nowhere"
}

// ask answers a question, "move a b".
func (s *seated) ask(question string) sbpl.Answer {
	s.t.Helper()
	verb, rest, _ := strings.Cut(question, " ")
	p := s.profile
	two := func() (string, string) {
		a, b, ok := strings.Cut(rest, " ")
		if !ok {
			s.t.Fatalf("%q names one path", question)
		}
		return s.at(a), s.at(b)
	}
	one := map[string]func(string) sbpl.Answer{"write": p.Write, "make": p.Create, "remove": p.Remove, "read": p.Read, "look": p.Look, "exec": p.Exec, "unix": p.ConnectUnix}
	if f, ok := one[verb]; ok {
		return f(s.at(rest))
	}
	switch verb {
	case "move", "new", "link":
		from, to := two()
		return map[string]func(string, string) sbpl.Answer{"move": p.Move, "new": p.MoveNew, "link": p.Link}[verb](from, to)
	case "tcp", "udp":
		return p.Connect(sbpl.Endpoint{Protocol: verb, Address: netip.MustParseAddrPort(rest)})
	case "mach":
		return p.Decide(sbpl.Query{Op: "mach-lookup", Name: rest})
	case "sysctl":
		return p.Decide(sbpl.Query{Op: "sysctl-read", Name: rest})
	case "sysctl-write":
		return p.Decide(sbpl.Query{Op: "sysctl-write", Name: rest})
	case "domain":
		return p.Decide(sbpl.Query{Op: "system-socket", Name: rest})
	case "signal":
		return p.Decide(sbpl.Query{Op: "signal", Target: rest})
	case "info":
		return p.Decide(sbpl.Query{Op: "process-info-pidinfo", Target: rest})
	case "op":
		return p.Decide(sbpl.Query{Op: rest, Path: s.at("f"), Name: "x"})
	}
	s.t.Fatalf("%q is no question", question)
	return sbpl.Answer{}
}

// answers checks questions: each is denied, or with a + allowed, and by either reading of the profile.
func (s *seated) answers(questions string) {
	s.t.Helper()
	for _, q := range strings.FieldsFunc(questions, func(r rune) bool { return r == ';' || r == '\n' }) {
		question, allowed := strings.CutPrefix(strings.TrimSpace(q), "+")
		if question == "" {
			continue
		}
		switch a := s.ask(question); {
		case a.Allowed != allowed:
			s.t.Errorf("%s: allowed is %v (by line %d)", question, a.Allowed, a.Line)
		case !a.Sure:
			s.t.Errorf("%s: allowed is %v (by line %d), but not by the order of the rules alone", question, a.Allowed, a.Line)
		}
	}
}

// section is a section of a case of the escapes.
func section(text []byte, name string) string {
	var out strings.Builder
	on := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --\n") {
			on = line == "-- "+name+" --\n"
			continue
		}
		if on {
			out.WriteString(line)
		}
	}
	return out.String()
}

// reasons are the kinds of reasons.
var reasons = []string{byAudit, byGuardian, byLimit, byServer, linuxOnly, bySystem}

// TestSeatAttacks asks the profile of each case's workspace for what the case tries. The table has to have every case.
func TestSeatAttacks(t *testing.T) {
	seen := map[string]bool{}
	for _, dir := range []string{"attacks", "exec/attacks"} {
		files, err := filepath.Glob(filepath.Join("../test/escapes", dir, "*"))
		if err != nil || len(files) == 0 {
			t.Fatal("no cases: ", err)
		}
		for _, file := range files {
			name := dir + "/" + filepath.Base(file)
			seen[name] = true
			t.Run(name, func(t *testing.T) { seatAttack(t, file, asked[name]) })
		}
	}
	for name := range asked {
		if !seen[name] {
			t.Errorf("%s is no case any more", name)
		}
	}
}

func seatAttack(t *testing.T, file, questions string) {
	if questions == "" {
		t.Fatal("has neither a question nor a reason why it is none: add it to the table of seat_attacks_test.go")
	}
	if slices.ContainsFunc(reasons, func(r string) bool { return strings.HasPrefix(questions, r) }) {
		return
	}
	t.Parallel()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	setup := section(text, "setup")
	if bytes.Contains(text, []byte("timeout 60 node")) || strings.Contains(setup, "sleep 120") || strings.Contains(setup, "ipcmk") || strings.Contains(setup, "/tmp/") {
		setup = "" // services, whose files and ports are asked about without them
	}
	s := newSeated(t, setup).plans(nil, sidecar.Request{})
	s.answers(questions)
}

// TestSeatAtHome: a repository of the home folder, in which sidecar's own folders lie.
func TestSeatAtHome(t *testing.T) {
	s := newSeated(t, "git init -q . && mkdir -p .local/state/sidecar/holds && echo x >.local/state/sidecar/secret")
	s.plans(func(o *sidecar.Options) {
		o.Home, o.StateDir = s.at("."), s.at(".local/state/sidecar")
		o.Getenv = func(name string) string {
			if name == "HOME" {
				return s.at(".")
			}
			return s.getenv(name)
		}
	}, sidecar.Request{})
	s.answers(`read .local/state/sidecar/secret; make .local/state/sidecar/holds/evil.run; new .local/state/sidecar .local/state/old
		new .local/state .local/old; new .local old; unix .local/state/sidecar/run/x.sock; +make .local/other; +write notes
		write .zshrc; write .ssh/config; make Library/LaunchAgents; make Library/LaunchAgents/x.plist`)
}

// TestSeatRun: what a run is told names what is there.
func TestSeatRun(t *testing.T) {
	s := newSeated(t, "git init -q .").plans(nil, sidecar.Request{Params: protocol.RunParams{Language: "bash", Code: "echo hi", Args: []string{"/tmp/x"}}})
	var made []string
	for _, f := range s.plan.Private.Files {
		made = append(made, f.Target)
	}
	work := fmt.Sprintf("%q", s.plan.Inputs[0])
	for _, want := range []string{"HOME=" + s.at("$OWN"), "TMPDIR=" + s.at("$TMP"), s.at("$TMP") + "/x", s.plan.Private.Dir + "/own/gitconfig"} {
		if !strings.Contains(work, want) {
			t.Errorf("the program is not told %s: %s", want, work)
		}
	}
	if strings.Contains(work, "/run/sidecar/") {
		t.Errorf("the program is told a path that does not exist: %s", work)
	}
	for _, f := range made[:len(made)-1] { // the last is the profile, which is not the run's to read
		s.answers("+read " + f + "; write " + f)
	}
}

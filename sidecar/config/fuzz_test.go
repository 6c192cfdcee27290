package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzLoad: whatever a project's file says, it widens nothing, and no text breaks the reader.
func FuzzLoad(f *testing.F) {
	f.Add("limits: {timeout: 5s}\n", "limits:\n  memory: 8GiB\n")
	f.Add("workspace: {access: read-only}\n", "workspace: {access: read-write}\n")
	f.Add("protect: {also: [a], except: [b]}\n", "protect: {also: [b, c], except: [d]}\n")
	f.Add("env: {pass: [A], set: {B: c}}\n", "env: &a {pass: *a}\nsandbox: {mounts: shim}\nhost: {path: /}\n")
	f.Add("a: &x [1]\n<<: *x\n", "? [a]\n: |\n  b\n")
	f.Add("network: {allowed_domains: {a: '*', b.a: [GET]}}\nprofiles: {x: {home: kept}}\n", "network: {allowed_domains: [c.a, b.a, '*'], exec: none}\nprofiles: {x: {}}\n")
	f.Add("network: {run: open}\n", "network: {allowed_domains: {a: [GET], b: [POST]}, allowed_ports: all}\nfiles: {rw_dirs: [/]}\n")
	f.Add("limits: {timeout_max: 2h, timeout: 90m}", "limits:\n  timeout_max: 30\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, user, project string) {
		src := Sources{System: filepath.Join(dir, "none"), User: filepath.Join(dir, "user.yaml"), Env: func(string) string { return "" }}
		if err := os.WriteFile(src.User, []byte(user), 0o600); err != nil {
			t.Fatal(err)
		}
		before, _, err := Load(src)
		if err != nil {
			checkText(t, err.Error())
			return
		}
		src.Project = filepath.Join(dir, "project")
		_ = os.Mkdir(src.Project, 0o700)
		if err := os.WriteFile(filepath.Join(src.Project, ProjectName), []byte(project), 0o600); err != nil {
			t.Fatal(err)
		}
		after, notes, err := Load(src)
		if err != nil {
			checkText(t, err.Error())
			return
		}
		for _, n := range notes {
			checkText(t, n.String())
		}
		checkNarrower(t, before, after)
	})
}

// checkText: what a hostile file wrote cannot reach the terminal raw.
func checkText(t *testing.T, text string) {
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 {
		t.Errorf("a control character in %q", text)
	}
}

func checkNarrower(t *testing.T, before, after Settings) {
	for _, f := range schema() {
		old, v := f.in(&before), f.in(&after)
		switch {
		case !f.mayNarrow():
			if diff := cmp.Diff(old.Interface(), v.Interface()); diff != "" {
				t.Errorf("a project changed %s: %s", f.key, diff)
			}
		case v.CanInt() && v.Int() > old.Int():
			t.Errorf("a project raised %s from %v to %v", f.key, old, v)
		}
	}
	checkReach(t, before, after)
	if diff := cmp.Diff(before.Profiles, after.Profiles); diff != "" {
		t.Errorf("a project changed profiles: %s", diff)
	}
	if before.Workspace.Access == "read-only" && after.Workspace.Access != "read-only" {
		t.Error("a project widened workspace.access")
	}
	for _, path := range before.Protect.Also {
		if !slices.Contains(after.Protect.Also, path) {
			t.Errorf("a project took %q away from protect.also", path)
		}
	}
	if after.Limits.Timeout > after.Limits.TimeoutMax {
		t.Errorf("timeout %v exceeds %v", after.Limits.Timeout, after.Limits.TimeoutMax)
	}
}

// checkReach: what was listed before still has to allow, and nothing is open that was not.
func checkReach(t *testing.T, before, after Settings) {
	for _, use := range []Use{UseRun, UseExec} {
		old, now := before.Reach(use, Profile{}), after.Reach(use, Profile{})
		if now.Open && !old.Open || len(now.Lists) > 0 && !old.Open && old.Lists == nil {
			t.Errorf("a project opened %s: from %s to %s", use, old, now)
		}
		for _, list := range old.Lists {
			kept := slices.ContainsFunc(now.Lists, func(l *Domains) bool { return l.String() == list.String() })
			if !kept && (now.Open || now.Lists != nil) {
				t.Errorf("a project took %s away from %s: %s", list, use, now)
			}
		}
	}
}

package workspace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// globalOf is what git reads from a text in place of the user's config.
func (l *lab) globalOf(text string) map[string]string {
	l.t.Helper()
	l.write("global", text)
	out := map[string]string{}
	for item := range strings.SplitSeq(l.git(".", "config", "-f", l.at("global"), "--list", "-z"), "\x00") {
		if key, value, ok := strings.Cut(item, "\n"); ok {
			out[key] = value
		}
	}
	return out
}

func TestHarmlessGlobal(t *testing.T) {
	l := newLab(t)
	l.repo("work/p")
	l.repo("other/q")
	l.git("work/p", "remote", "add", "origin", "https://corp.example/x")
	l.write("home/.config/git/config", "[user]\nname = Old\n[init]\ndefaultBranch = trunk\n")
	l.write("home/.gitconfig", `[user]
	name = "Ann \"A\" O'Neil # \\ é"
	email = ann@home
	signingKey = SECRET
[credential]
	helper = store
[alias]
	x = !evil
[core]
	editor = evil
	autocrlf = input
	fsmonitor = evil
	hooksPath = evil
[commit]
	gpgSign = true
[url "https://token@x/"]
	insteadOf = x
[filter "lfs"]
	clean = git-lfs clean -- %f
	smudge = evil
[push]
	default = current
	autoSetupRemote = true
[includeIf "gitdir:~/../work/"]
	path = never.cfg
[includeIf "gitdir:`+l.at("work")+`/"]
	path = work.cfg
[includeIf "onbranch:feature/"]
	path = feature.cfg
[includeIf "hasconfig:remote.*.url:https://corp.example/**"]
	path = corp.cfg
`)
	l.write("home/work.cfg", "[user]\nemail = ann@work\n")
	l.write("home/feature.cfg", "[pull]\nrebase = true\n")
	l.write("home/corp.cfg", "[log]\ndate = iso\n")
	fixed := map[string]string{}
	for _, s := range always {
		fixed[s[0]] = s[1]
	}
	with := func(more map[string]string) map[string]string {
		out := map[string]string{"user.name": `Ann "A" O'Neil # \ é`, "user.email": "ann@home", "init.defaultbranch": "trunk", "core.autocrlf": "input",
			"push.default": "current", "filter.lfs.clean": "git-lfs clean -- %f"}
		for _, m := range []map[string]string{fixed, more} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	for _, c := range []struct {
		dir, branch string
		want        map[string]string
	}{
		{"other/q", "main", with(nil)},
		{"work/p", "main", with(map[string]string{"user.email": "ann@work", "log.date": "iso"})},
		{"work/p", "feature/x", with(map[string]string{"user.email": "ann@work", "log.date": "iso", "pull.rebase": "true"})},
	} {
		l.git(c.dir, "checkout", "-q", "-B", c.branch)
		ws := l.discover(c.dir)
		if diff := cmp.Diff(c.want, l.globalOf(HarmlessGlobal(ws, l.getenv))); diff != "" {
			t.Errorf("%s on %s (-want +got):\n%s", c.dir, c.branch, diff)
		}
		// What git itself has for the identity.
		for _, key := range []string{"user.email", "pull.rebase", "log.date"} {
			want, _ := l.tryGit(c.dir, "config", "--get", key)
			if got := c.want[key]; strings.TrimSpace(want) != got {
				t.Errorf("%s on %s: git has %s = %q, not %q", c.dir, c.branch, key, want, got)
			}
		}
	}
}

func TestIncludeConditionsAsGit(t *testing.T) {
	l := newLab(t)
	l.repo("Work/p.x")
	l.git("Work/p.x", "worktree", "add", "-q", "../wt")
	for i, pattern := range []string{
		"gitdir:Work/", "gitdir:work/", "gitdir/i:work/", "gitdir:p.x", "gitdir:p.x/", "gitdir:**/p.x/**", "gitdir:p?x/.git", "gitdir:" + l.at("Work/p.x/.git"),
		"gitdir:" + l.at("Work/p.x"), "gitdir:~/x/", "gitdir:~/../Work/", "gitdir:./", "gitdir:./../Work/", "gitdir:.git", "gitdir:*", "gitdir:", "gitdir:/", "gitdir:[W]ork/",
		"onbranch:main", "onbranch:ma*", "onbranch:m/", "onbranch:**", "onbranch:wt", "hasconfig:x", "nonsense:x", "gitdir",
	} {
		l.write("home/.gitconfig", fmt.Sprintf("[includeIf %q]\npath = inc.cfg\n", pattern))
		l.write("home/inc.cfg", fmt.Sprintf("[user]\nname = n%d\n", i))
		for _, dir := range []string{"Work/p.x", "Work/wt"} {
			want, _ := l.tryGit(dir, "config", "--get", "user.name")
			got := l.globalOf(HarmlessGlobal(l.discover(dir), l.getenv))["user.name"]
			if strings.TrimSpace(want) != got {
				t.Errorf("%s in %s: git has %q, not %q", pattern, dir, want, got)
			}
		}
	}
}

// TestSubmoduleSettings lets git init its submodules with the settings passed, and finds the config unchanged.
func TestSubmoduleSettings(t *testing.T) {
	for _, remote := range []string{"", "https://example.invalid/org/main.git", "git@example.invalid:org/main", "git@example.invalid:main", "/srv/git/main/", "../beside/main", "file:///srv/x"} {
		for _, active := range []bool{false, true} {
			l := newLab(t)
			l.repo("p")
			l.repo("lib")
			for _, m := range []string{"a", "b with blank", "c/d", "e.f"} {
				l.git("p", "config", "-f", ".gitmodules", "submodule."+m+".path", "path/"+m)
				l.git("p", "update-index", "--add", "--cacheinfo", "160000,"+l.git("lib", "rev-parse", "HEAD")+",path/"+m)
				l.mkdir("p/path/" + m)
			}
			for m, url := range map[string]string{"a": "../lib", "b with blank": "./x/", "c/d": "https://example.invalid/y", "e.f": "../../up"} {
				l.git("p", "config", "-f", ".gitmodules", "submodule."+m+".url", url)
			}
			l.git("p", "config", "-f", ".gitmodules", "submodule.a.update", "rebase")
			if remote != "" {
				l.git("p", "remote", "add", "origin", remote)
			}
			if active {
				l.git("p", "config", "submodule.active", "path/nothing")
			}
			before := l.read("p/.git/config")
			ws := l.discover("p")
			settings := SubmoduleSettings(ws)
			l.env["GIT_CONFIG_COUNT"] = fmt.Sprint(len(settings))
			for i, kv := range settings {
				l.env[fmt.Sprintf("GIT_CONFIG_KEY_%d", i)], l.env[fmt.Sprintf("GIT_CONFIG_VALUE_%d", i)] = kv[0], kv[1]
			}
			if out, err := l.tryGit("p", "submodule", "init", "path"); err != nil && !strings.Contains(out, "cannot strip one component") {
				t.Errorf("remote %q: %v %s", remote, err, out)
			}
			if after := l.read("p/.git/config"); after != before {
				t.Errorf("remote %q, active %v: git wrote\n%s", remote, active, strings.TrimPrefix(after, before))
			}
			for k := range l.env {
				if strings.HasPrefix(k, "GIT_CONFIG_C") || strings.HasPrefix(k, "GIT_CONFIG_K") || strings.HasPrefix(k, "GIT_CONFIG_V") {
					delete(l.env, k)
				}
			}
			_, _ = l.tryGit("p", "submodule", "init", "path")
			for _, kv := range settings {
				if got := l.git("p", "config", "--get", kv[0]); got != kv[1] {
					t.Errorf("remote %q: %s is %q to git, not %q", remote, kv[0], got, kv[1])
				}
			}
			if got := SubmoduleSettings(l.discover("p")); len(got) != 0 && remote != "../beside/main" {
				t.Errorf("after init there is left %q", got)
			}
		}
	}
}

func TestRunSettings(t *testing.T) {
	l := newLab(t)
	l.repo("p")
	if got := RunSettings(l.discover("p")); len(got) != 0 {
		t.Errorf("%q", got)
	}
	l.git("p", "config", "commit.gpgSign", "true")
	l.git("p", "config", "core.fsmonitor", "true")
	want := [][2]string{{"commit.gpgsign", "false"}, {"core.fsmonitor", "false"}}
	if diff := cmp.Diff(want, RunSettings(l.discover("p"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	l.mkdir("home/none")
	if got := RunSettings(l.discover("home/none")); got != nil {
		t.Errorf("without a repository: %q", got)
	}
}

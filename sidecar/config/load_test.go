package config

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// same ignores where settings come from.
var same = cmp.Options{cmpopts.IgnoreUnexported(Settings{}), cmpopts.EquateEmpty()}

// fixture is a machine with files in a folder of its own; "" is no file.
type fixture struct {
	system, user, project string
	env                   map[string]string
	flags                 map[string]string
}

func (fx fixture) sources(t *testing.T) (Sources, string) {
	t.Helper()
	dir := t.TempDir()
	src := Sources{
		System: filepath.Join(dir, "system.yaml"), User: filepath.Join(dir, "user.yaml"),
		Project: filepath.Join(dir, "project"), Flags: fx.flags,
		Env: func(name string) string { return fx.env[name] }, Names: slices.Collect(maps.Keys(fx.env)),
	}
	write(t, src.System, fx.system)
	write(t, src.User, fx.user)
	write(t, filepath.Join(src.Project, ProjectName), fx.project)
	return src, dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if text == "" {
		return
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// load gives settings, notes and error with the fixture's folder cut off.
func (fx fixture) load(t *testing.T) (Settings, []string, string) {
	t.Helper()
	src, dir := fx.sources(t)
	s, notes, err := Load(src)
	var texts []string
	for _, n := range notes {
		texts = append(texts, strings.ReplaceAll(n.String(), dir+"/", ""))
	}
	if err == nil {
		return s, texts, ""
	}
	var pe *protocol.Error
	if !errors.As(err, &pe) || pe.Kind != protocol.BadRequest {
		t.Errorf("error is %#v, want a bad request", err)
	}
	return s, texts, strings.ReplaceAll(err.Error(), dir+"/", "")
}

func TestLoadPrecedence(t *testing.T) {
	for name, tc := range map[string]struct {
		fx   fixture
		want func(*Settings)
	}{
		"nothing":             {fixture{}, func(*Settings) {}},
		"empty files":         {fixture{system: "\n", user: "# nothing\n", project: "---\n"}, func(*Settings) {}},
		"empty sections":      {fixture{user: "limits:\nenv:\n  # pass: [A]\n"}, func(*Settings) {}},
		"short for a section": {fixture{user: "history: off\n"}, func(s *Settings) { s.History.Keep = "off" }},
		"short for a list":    {fixture{user: "hosts: [build1, me@build2]\n"}, func(s *Settings) { s.Hosts.Status = []string{"build1", "me@build2"} }},
		"a section, too":      {fixture{user: "history: {keep: metadata, age: 24h}\n"}, func(s *Settings) { s.History.Keep, s.History.Age = "metadata", 24*time.Hour }},
		"dotted key":          {fixture{user: "limits.timeout: 5s\n"}, func(s *Settings) { s.Limits.Timeout = 5 * time.Second }},
		"number of seconds":   {fixture{user: "limits: {timeout: 1.5}\n"}, func(s *Settings) { s.Limits.Timeout = 1500 * time.Millisecond }},
		"system":              {fixture{system: "limits: {memory: 8GiB}\n"}, func(s *Settings) { s.Limits.Memory = 8 * gib }},
		"user over system":    {fixture{system: "limits: {memory: 8GiB}\n", user: "limits:\n  memory: 2GiB\n"}, func(s *Settings) { s.Limits.Memory = 2 * gib }},
		"project over user":   {fixture{user: "limits: {memory: 2GiB}\n", project: "limits: {memory: 1GiB}\n"}, func(s *Settings) { s.Limits.Memory = gib }},
		"env over project":    {fixture{project: "limits: {memory: 1GiB}\n", env: map[string]string{"SIDECAR_LIMITS_MEMORY": "3GiB"}}, func(s *Settings) { s.Limits.Memory = 3 * gib }},
		"flag over env":       {fixture{env: map[string]string{"SIDECAR_LIMITS_MEMORY": "3GiB"}, flags: map[string]string{"limits.memory": "5GiB"}}, func(s *Settings) { s.Limits.Memory = 5 * gib }},
		"lists replace":       {fixture{system: "env: {pass: [A]}\n", user: "env: {pass: [B, C]}\n"}, func(s *Settings) { s.Env.Pass = []string{"B", "C"} }},
		"also adds":           {fixture{user: "protect: {also: [a, b]}\n", project: "protect: {also: [b, c/d]}\n"}, func(s *Settings) { s.Protect.Also = []string{"a", "b", "c/d"} }},
		"also, again by env":  {fixture{project: "protect: {also: [c]}\n", env: map[string]string{"SIDECAR_PROTECT_ALSO": "d, e,"}}, func(s *Settings) { s.Protect.Also = []string{"c", "d", "e"} }},
		"maps merge": {fixture{system: "env: {set: {A: 1, B: x}}\n", user: "env: {set: {B: yes, C: 1.10}}\n", env: map[string]string{"SIDECAR_ENV_SET": "D=a=b"}},
			func(s *Settings) { s.Env.Set = map[string]string{"A": "1", "B": "yes", "C": "1.10", "D": "a=b"} }},
		"short variables": {fixture{env: map[string]string{"SIDECAR_HISTORY": "off", "SIDECAR_HOSTS": "one, me@two"}}, func(s *Settings) { s.History.Keep, s.Hosts.Status = "off", []string{"one", "me@two"} }},
		"other variables": {fixture{env: map[string]string{"SIDECAR_WORKSPACE": "/w", "SIDECAR_BIN": "/b", "SIDECAR_SERVICE_HOST": "10.0.0.1", "SIDECAR_PORT_80_TCP": "tcp://10.0.0.1:80", "SIDECAR_X_SERVICE_PORT_HTTP": "80"}}, func(*Settings) {}},
		"lowered maximum": {fixture{user: "limits: {timeout_max: 30s}\n"}, func(s *Settings) { s.Limits.Timeout, s.Limits.TimeoutMax = 30*time.Second, 30*time.Second }},
		"texts": {fixture{user: "host: {path: '/opt/bin:/usr/bin'}\nsandbox: {bubblewrap: /opt/bwrap, mounts: argv}\nprotect: {except: [.npmrc]}\n"},
			func(s *Settings) {
				s.Host.Path, s.Sandbox.Bubblewrap, s.Sandbox.Mounts = "/opt/bin:/usr/bin", "/opt/bwrap", "argv"
				s.Protect.Except = []string{".npmrc"}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes, err := tc.fx.load(t)
			want := Defaults()
			tc.want(&want)
			if diff := cmp.Diff(want, got, same); diff != "" || notes != nil || err != "" {
				t.Errorf("notes %q, error %q, settings -want +got:\n%s", notes, err, diff)
			}
		})
	}
}

func TestLoadMistakes(t *testing.T) {
	for name, tc := range map[string]struct {
		fx   fixture
		want string
	}{
		"unknown key":      {fixture{user: "limits:\n  timeout: 1\n  tiemout: 2\n"}, "user.yaml:3: limits.tiemout: no such setting; did you mean limits.timeout?"},
		"unknown section":  {fixture{user: "limit:\n  timeout: 1\n"}, "user.yaml:1: limit: no such setting; did you mean limits?"},
		"no section":       {fixture{project: "timeout: 1\n"}, "project/.sidecar.yaml:1: timeout: no such setting; did you mean limits.timeout?"},
		"wrong section":    {fixture{user: "protect: {access: read-only}\n"}, "user.yaml:1: protect.access: no such setting; did you mean workspace.access?"},
		"nothing near":     {fixture{user: "protect:\n  zzz: 1\n"}, "user.yaml:2: protect.zzz: no such setting; known there: also, except"},
		"duration":         {fixture{user: "limits: {timeout: soon}\n"}, `user.yaml:1: limits.timeout: have "soon", want a duration such as 30s, 5m or a number of seconds, from 10ms to 168h`},
		"negative":         {fixture{user: "limits: {timeout: -5s}\n"}, `user.yaml:1: limits.timeout: have "-5s", want a duration such as 30s, 5m or a number of seconds, from 10ms to 168h`},
		"size":             {fixture{user: "limits:\n  memory: 4G\n"}, `user.yaml:2: limits.memory: have "4G", want a size such as 512MiB, 4GiB, 100kB or a number of bytes, from 16MiB to 1024TiB`},
		"too small":        {fixture{project: "limits:\n  memory: 1\n"}, `project/.sidecar.yaml:2: limits.memory: have "1", want a size such as 512MiB, 4GiB, 100kB or a number of bytes, from 16MiB to 1024TiB`},
		"no whole number":  {fixture{user: "limits: {processes: 1.5}\n"}, `user.yaml:1: limits.processes: have "1.5", want a whole number, from 1 to 4194304`},
		"null":             {fixture{user: "limits:\n  output:\n"}, "user.yaml:2: limits.output: have nothing, want a size such as 512MiB, 4GiB, 100kB or a number of bytes, from 1KiB to 1TiB"},
		"a list for one":   {fixture{user: "limits: {timeout: [1]}\n"}, "user.yaml:1: limits.timeout: have a list, want a duration such as 30s, 5m or a number of seconds, from 10ms to 168h"},
		"one for a list":   {fixture{user: "env: {pass: HOME}\n"}, `user.yaml:1: env.pass: have "HOME", want a list of names of environment variables`},
		"item":             {fixture{project: "protect:\n  also: [ok, ../up]\n"}, `project/.sidecar.yaml:2: protect.also: have "../up", want a name or a path inside the workspace, without ..`},
		"the root itself":  {fixture{user: "protect: {also: [./]}\n"}, `user.yaml:1: protect.also: have "./", want a name or a path inside the workspace, without ..`},
		"nested item":      {fixture{user: "protect: {also: [[a]]}\n"}, "user.yaml:1: protect.also: have a list in the list, want a text"},
		"variable":         {fixture{user: "env:\n  set: {A-B: 1}\n"}, `user.yaml:2: env.set: have "A-B", want the name of an environment variable`},
		"word":             {fixture{user: "workspace: {access: rw}\n"}, `user.yaml:1: workspace.access: have "rw", want read-write or read-only`},
		"relative program": {fixture{user: "sandbox: {bubblewrap: bin/bwrap}\n"}, `user.yaml:1: sandbox.bubblewrap: have "bin/bwrap", want an absolute path`},
		"neither":          {fixture{user: "nix: {offline: maybe}\n"}, `user.yaml:1: nix.offline: have "maybe", want true or false`},
		"nix of a project": {fixture{project: "nix: {package_denylist: [7]}\nlimits: {x: 1}\n"}, "project/.sidecar.yaml:2: limits.x: no such setting; did you mean limits?"},
		"section":          {fixture{user: "limits: 5\n"}, `user.yaml:1: limits: have "5", want a map of settings`},
		"no map":           {fixture{user: "- limits\n"}, `user.yaml:1: have a list, want a map of settings`},
		"syntax":           {fixture{user: "limits:\n  timeout: 1\n memory: 2\n"}, `user.yaml:3: no YAML: "value is not allowed in this context"`},
		"twice":            {fixture{user: "limits: {timeout: 1, timeout: 2}\n"}, `user.yaml:1: no YAML: "mapping key \"timeout\" already defined at [1:10]"`},
		"two documents":    {fixture{user: "limits: {}\n---\nenv: {}\n"}, "user.yaml:3: a second document; want one"},
		"anchor":           {fixture{project: "limits: &a {timeout: 1}\n"}, "project/.sidecar.yaml:1: limits: have a YAML anchor, alias or merge, want a map of settings"},
		"tag":              {fixture{user: "limits: {timeout: !!int 5}\n"}, "user.yaml:1: limits.timeout: have a YAML tag, which sidecar's files do not use"},
		"deep":             {fixture{project: strings.Repeat("[", 9)}, "project/.sidecar.yaml:1: nested deeper than any setting"},
		"too large":        {fixture{project: strings.Repeat("#\n", 40<<10)}, "project/.sidecar.yaml: have more than 64KiB, want at most that"},
		"hostile key":      {fixture{project: "\"a\\e[2J\\nb\": 1\n"}, `project/.sidecar.yaml:1: "a\x1b[2J\nb": no such setting; known there: limits, protect, workspace, host, sandbox, env, nix, files, network, performance, history, sessions, hosts, log, profiles`},
		"variable value":   {fixture{env: map[string]string{"SIDECAR_LIMITS_TIMEOUT": "x"}}, `SIDECAR_LIMITS_TIMEOUT: limits.timeout: have "x", want a duration such as 30s, 5m or a number of seconds, from 10ms to 168h`},
		"flag value":       {fixture{flags: map[string]string{"limits.processes": "many"}}, `flag: limits.processes: have "many", want a whole number, from 1 to 4194304`},
		"unknown variable": {fixture{env: map[string]string{"SIDECAR_LIMITS_TIMOUT": "5s"}}, "SIDECAR_LIMITS_TIMOUT: no such setting; did you mean SIDECAR_LIMITS_TIMEOUT?"},
		"no section in it": {fixture{env: map[string]string{"SIDECAR_TIMEOUT": "5s"}}, "SIDECAR_TIMEOUT: no such setting; did you mean SIDECAR_LIMITS_TIMEOUT?"},
		"far from all":     {fixture{env: map[string]string{"SIDECAR_FOO": "1"}}, "SIDECAR_FOO: no such setting; a setting's is its key in capitals: SIDECAR_LIMITS_TIMEOUT"},
		"near the tests'":  {fixture{env: map[string]string{"SIDECAR_BINS": "1"}}, "SIDECAR_BINS: no such setting; a setting's is its key in capitals: SIDECAR_LIMITS_TIMEOUT"},
		"no value":         {fixture{env: map[string]string{"SIDECAR_ENV_SET": "A=1, junk"}}, `SIDECAR_ENV_SET: env.set: have nothing for "junk" in the map, want a text`},
		"an option":        {fixture{user: "hosts: [build1, -oProxyCommand=x]\n"}, `user.yaml:1: hosts.status: have "-oProxyCommand=x", want a machine as ssh knows it, HOST or USER@HOST`},
		"a user's option":  {fixture{env: map[string]string{"SIDECAR_HOSTS": "me@-oX"}}, `SIDECAR_HOSTS: hosts.status: have "me@-oX", want a machine as ssh knows it, HOST or USER@HOST`},
		"relative PATH":    {fixture{user: "host: {path: '/usr/bin:rel'}\n"}, `user.yaml:1: host.path: have "/usr/bin:rel", want absolute paths of folders, with : between them`},
		"of a profile":     {fixture{env: map[string]string{"SIDECAR_PROFILES_CLAUDE_HOME": "kept"}}, "SIDECAR_PROFILES_CLAUDE_HOME: no such setting; profiles have no variables"},
		"short variable":   {fixture{env: map[string]string{"SIDECAR_HISTORY": "of"}}, "SIDECAR_HISTORY: history.keep: have \"of\", want full or metadata or off"},
		"flag":             {fixture{flags: map[string]string{"limits.time": "1"}}, "flag: limits.time: no such setting; did you mean limits.timeout?"},
		"explicit":         {fixture{env: map[string]string{"SIDECAR_CONFIG": "/nonexistent/c.yaml"}}, "/nonexistent/c.yaml: no such file; it is what --config or SIDECAR_CONFIG names"},
		"beyond the maximum": {fixture{user: "limits:\n  timeout: 2h\n"},
			"user.yaml:2: limits.timeout: have 2h0m0s, want at most limits.timeout_max, 1h0m0s"},
		"all at once": {fixture{system: "xxxx: 1\n", user: "limits: {code: no, zz: 1}\n", project: "["},
			"system.yaml:1: xxxx: no such setting; known there: limits, protect, workspace, host, sandbox, env, nix, files, network, performance, history, sessions, hosts, log, profiles\n" +
				"user.yaml:1: limits.zz: no such setting; known there: timeout, timeout_max, memory, processes, file_size, open_files, scratch, output, code\n" +
				`user.yaml:1: limits.code: have "no", want a size such as 512MiB, 4GiB, 100kB or a number of bytes, from 1 to 1GiB` + "\n" +
				`project/.sidecar.yaml:1: no YAML: "sequence end token ']' not found"`},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, got := tc.fx.load(t)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(Settings{}, s, same); diff != "" {
				t.Errorf("an error gave settings:\n%s", diff)
			}
		})
	}
}

func TestManyMistakesAreCut(t *testing.T) {
	_, _, err := fixture{user: strings.Repeat("limits: 1\n", 1) + manyKeys(500)}.load(t)
	if n := strings.Count(err, "\n") + 1; n != maxErrors {
		t.Errorf("told %d mistakes, want %d", n, maxErrors)
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("k" + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + strings.Repeat("y", i/26) + ": 1\n")
	}
	return b.String()
}

func TestProjectNarrows(t *testing.T) {
	const only = "; it is only allowed in the user's config (user.yaml)"
	for name, tc := range map[string]struct {
		user, project string
		want          func(*Settings)
		notes         []string
	}{
		"lower":      {"", "limits: {timeout: 5s, processes: 8}\n", func(s *Settings) { s.Limits.Timeout, s.Limits.Processes = 5*time.Second, 8 }, nil},
		"the same":   {"", "limits: {timeout: 60s}\nworkspace: {access: read-write}\n", func(*Settings) {}, nil},
		"higher":     {"", "limits:\n  timeout: 61s\n", func(*Settings) {}, []string{"project/.sidecar.yaml:2: limits.timeout: ignored: 1m1s is more than 1m0s, and a project may only lower it" + only}},
		"per user":   {"limits: {memory: 1GiB}\n", "limits: {memory: 2GiB}\n", func(s *Settings) { s.Limits.Memory = gib }, []string{"project/.sidecar.yaml:1: limits.memory: ignored: 2GiB is more than 1GiB, and a project may only lower it" + only}},
		"read-only":  {"", "workspace: {access: read-only}\n", func(s *Settings) { s.Workspace.Access = "read-only" }, nil},
		"read-write": {"workspace: {access: read-only}\n", "workspace: {access: read-write}\n", func(s *Settings) { s.Workspace.Access = "read-only" }, []string{"project/.sidecar.yaml:1: workspace.access: ignored: read-write would widen read-only" + only}},
		"maximum":    {"", "limits: {timeout_max: 10s}\n", func(s *Settings) { s.Limits.Timeout, s.Limits.TimeoutMax = 10*time.Second, 10*time.Second }, nil},
		"not theirs": {"", "protect: {except: [.npmrc]}\nhost: {path: /tmp}\nsandbox:\n  bubblewrap: /tmp/x\nenv: {pass: [SSH_AUTH_SOCK]}\n", func(*Settings) {}, []string{
			"project/.sidecar.yaml:1: protect.except: ignored: a project cannot set this" + only,
			"project/.sidecar.yaml:2: host.path: ignored: a project cannot set this" + only,
			"project/.sidecar.yaml:4: sandbox.bubblewrap: ignored: a project cannot set this" + only,
			"project/.sidecar.yaml:5: env.pass: ignored: a project cannot set this" + only,
		}},
		"too many": {"", "protect: {also: [" + strings.Repeat("a, ", 257) + "]}\n", func(*Settings) {}, []string{"project/.sidecar.yaml:1: protect.also: ignored: have 257, want at most 256" + only}},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes, err := fixture{user: tc.user, project: tc.project}.load(t)
			want := Defaults()
			tc.want(&want)
			if diff := cmp.Diff(want, got, same); diff != "" || err != "" {
				t.Errorf("error %q, settings -want +got:\n%s", err, diff)
			}
			if diff := cmp.Diff(tc.notes, notes); diff != "" {
				t.Errorf("notes -want +got:\n%s", diff)
			}
		})
	}
}

// TestProjectFileKinds plants what an earlier run, or a clone, could have put in place of the project's file.
func TestProjectFileKinds(t *testing.T) {
	for name, tc := range map[string]struct {
		plant func(path, secret string) error
		want  string
	}{
		"link":   {func(path, secret string) error { return os.Symlink(secret, path) }, "project/.sidecar.yaml: a symbolic link, which sidecar does not follow; want a regular file"},
		"pipe":   {func(path, _ string) error { return syscall.Mkfifo(path, 0o644) }, "project/.sidecar.yaml: no regular file (p---------)"},
		"folder": {func(path, _ string) error { return os.Mkdir(path, 0o755) }, "project/.sidecar.yaml: no regular file (d---------)"},
	} {
		t.Run(name, func(t *testing.T) {
			fx := fixture{user: "env: {set: {TOKEN: hunter2}}\n"}
			src, dir := fx.sources(t)
			if err := tc.plant(filepath.Join(src.Project, ProjectName), src.User); err != nil {
				t.Fatal(err)
			}
			_, _, err := Load(src)
			if err == nil || strings.ReplaceAll(err.Error(), dir+"/", "") != tc.want {
				t.Errorf("have %v, want %s", err, tc.want)
			}
		})
	}
}

// TestOwnFileInWorkspace is a repository of dotfiles: the person's file is protected, whatever it is called there.
func TestOwnFileInWorkspace(t *testing.T) {
	src, _ := fixture{}.sources(t)
	write(t, filepath.Join(src.Project, "dot/sidecar.yaml"), "limits: {processes: 9}\n")
	if err := os.Symlink(filepath.Join(src.Project, "dot/sidecar.yaml"), src.User); err != nil {
		t.Fatal(err)
	}
	got, notes, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.Limits.Processes, want.Protect.Also = 9, []string{"dot/sidecar.yaml"}
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]Note{{File: src.User, Text: "lies in the workspace; runs cannot change it"}}, notes); diff != "" {
		t.Errorf("notes -want +got:\n%s", diff)
	}
}

// TestOwnFileToCome: a run must not write the first config of somebody whose workspace is the folder of all configs.
func TestOwnFileToCome(t *testing.T) {
	src, _ := fixture{}.sources(t)
	src.User = filepath.Join(src.Project, "sidecar/config.yaml")
	got, notes, err := Load(src)
	want := Defaults()
	want.Protect.Also = []string{"sidecar/config.yaml"}
	if diff := cmp.Diff(want, got, same); diff != "" || err != nil || len(notes) != 1 {
		t.Errorf("error %v, notes %v, -want +got:\n%s", err, notes, diff)
	}
}

// TestOwnFileLost: settings that a link no longer leads to are not taken for none.
func TestOwnFileLost(t *testing.T) {
	for name, tc := range map[string]struct{ link, to, user, want string }{
		"the file":            {"user.yaml", "gone/config.yaml", "user.yaml", `user.yaml: the symbolic link user.yaml leads to "gone/config.yaml", which does not exist; make what it leads to, or remove the link`},
		"its folder":          {"config", "gone", "config/sidecar/config.yaml", `config/sidecar/config.yaml: the symbolic link config leads to "gone", which does not exist; make what it leads to, or remove the link`},
		"through another":     {"user.yaml", "user.yaml.2", "user.yaml", `user.yaml: the symbolic link user.yaml leads to "user.yaml.2", which does not exist; make what it leads to, or remove the link`},
		"below a file":        {"config", "system.yaml", "config/config.yaml", ""},
		"in a folder's links": {"config", "project", "config/config.yaml", ""},
		"none":                {"other", "gone", "user.yaml", ""},
	} {
		t.Run(name, func(t *testing.T) {
			src, dir := fixture{system: "limits: {processes: 9}\n"}.sources(t)
			for link, to := range map[string]string{tc.link: tc.to, "user.yaml.2": "gone"} {
				if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
					t.Fatal(err)
				}
			}
			src.User = filepath.Join(dir, tc.user)
			got := ""
			if _, _, err := Load(src); err != nil {
				got = strings.ReplaceAll(err.Error(), dir+"/", "")
			}
			if got != tc.want {
				t.Errorf("have %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestExplicitReplacesUser(t *testing.T) {
	src, dir := fixture{user: "limits: {processes: 9}\n"}.sources(t)
	src.Explicit = filepath.Join(dir, "other.yaml")
	write(t, src.Explicit, "limits: {open_files: 99}\n")
	got, _, err := Load(src)
	want := Defaults()
	want.Limits.OpenFiles = 99
	if diff := cmp.Diff(want, got, same); diff != "" || err != nil {
		t.Errorf("error %v, -want +got:\n%s", err, diff)
	}
}

func BenchmarkLoadNothing(b *testing.B) {
	dir := b.TempDir()
	src := Sources{System: dir + "/s", User: dir + "/u", Project: dir}
	for b.Loop() {
		if _, _, err := Load(src); err != nil {
			b.Fatal(err)
		}
	}
}

func TestPerson(t *testing.T) {
	for name, test := range map[string]struct {
		src  Sources
		want string
	}{
		"the flag":     {Sources{Explicit: "/flag", User: "/user", Env: func(string) string { return "/variable" }}, "/flag"},
		"the variable": {Sources{User: "/user", Env: func(string) string { return "/variable" }}, "/variable"},
		"the user's":   {Sources{User: "/user", Env: func(string) string { return "" }}, "/user"},
		"the default":  {Sources{Env: func(string) string { return "" }}, ConfigFile()},
	} {
		if got := test.src.Person(); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSchema holds each setting to what the tags promise: its bounds parse, its default is within them.
func TestSchema(t *testing.T) {
	defaults := Defaults()
	for _, f := range schema() {
		text := strings.Trim(show(f.in(&defaults)), `"[]{}`)
		if _, err := f.value(f.rawText(text)); err != nil {
			t.Errorf("%s: the default %q: %v", f.key, text, err)
		}
		if each := f.tag.Get("each"); each != "" && kinds[each].ok == nil {
			t.Errorf("%s: no kind %q", f.key, each)
		}
		if f.typ.Kind() == 0 || (f.tag.Get("min") == "") != (f.tag.Get("max") == "") {
			t.Errorf("%s: only one bound", f.key)
		}
	}
}

// TestDocumentedDefaults compares the comments of settings.go with Defaults.
func TestDocumentedDefaults(t *testing.T) {
	text, err := os.ReadFile("settings.go")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for section := range strings.SplitSeq(string(text), "\ntype ") {
		name, _, _ := strings.Cut(section, " ")
		for _, m := range regexp.MustCompile("Default (\\S+(?: [KMGT]iB)?)\\.\n\t.*yaml:\"(\\w+)\"").FindAllStringSubmatch(section, -1) {
			documented[strings.ToLower(name)+"."+m[2]] = strings.ReplaceAll(m[1], " ", "")
		}
	}
	if len(documented) < 9 {
		t.Fatalf("found only %v", documented)
	}
	defaults := Defaults()
	for _, f := range schema() {
		want, ok := documented[f.key]
		if !ok {
			continue
		}
		v, err := f.value(f.rawText(want))
		if err != nil || !v.Equal(f.in(&defaults)) {
			t.Errorf("%s: documented as %s, is %s", f.key, want, show(f.in(&defaults)))
		}
	}
}

func TestKeys(t *testing.T) {
	keys := Keys()
	want := Key{Name: "limits.timeout", Variable: "SIDECAR_LIMITS_TIMEOUT", Default: "1m0s", Project: true,
		Want: "a duration such as 30s, 5m or a number of seconds, from 10ms to 168h"}
	if diff := cmp.Diff(want, keys[0]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var narrowed []string
	for _, k := range keys {
		if k.Project {
			narrowed = append(narrowed, k.Name)
		}
	}
	const may = "limits.timeout limits.timeout_max limits.memory limits.processes limits.file_size limits.open_files " +
		"limits.scratch limits.output limits.code protect.also workspace.access nix.package_denylist nix.build_timeout " +
		"network.run network.exec network.allowed_domains sessions.idle sessions.lifetime sessions.most"
	if diff := cmp.Diff(strings.Fields(may), narrowed); diff != "" {
		t.Errorf("what a project may narrow: -want +got:\n%s", diff)
	}
}

// TestStringReadsBack: what String prints is a config file.
func TestStringReadsBack(t *testing.T) {
	fx := fixture{user: `
limits: {timeout: 90s, memory: 1536MiB, processes: 7}
protect: {also: [a b, "#c", "yes", "12"], except: [.npmrc]}
workspace: {access: read-only}
host: {path: "/opt/x:/usr/bin"}
env: {pass: [LANG, TERM]}
nix: {use: always, offline: true, substituters: [], package_denylist: [nmap]}
files: {ro_dirs: [~/a, "$HOME/b c"]}
network: {run: open, allowed_domains: {"a.example:80": "*", b.example: [GET]}, allowed_ports: all}
profiles: {claude: {allowed_domains: [], allowed_ports: [1, 2], env: {A: {file: /x}, B: {command: [/y]}, C: {variable: D}}, memory: 8GiB}, bare: {}}
`}
	want, _, err := fx.load(t)
	if err != "" {
		t.Fatal(err)
	}
	got, _, err := fixture{user: want.String()}.load(t)
	if diff := cmp.Diff(want, got, same); diff != "" || err != "" {
		t.Errorf("error %q, -want +got:\n%s\nof:\n%s", err, diff, want)
	}
}

func TestExplain(t *testing.T) {
	src, dir := fixture{
		user:    "limits:\n  timeout: 5s\nenv: {set: {TOKEN: hunter2}}\nprofiles:\n  claude: {env: {A: hunter2, B: {command: [pass, hunter2]}},\n    home: kept}\n",
		project: "protect: {also: [x]}\nnetwork: {allowed_domains: [a.example]}\n",
		env:     map[string]string{"SIDECAR_PROTECT_ALSO": "y"}, flags: map[string]string{"limits.processes": "3"},
	}.sources(t)
	s, _, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	want := `
limits.timeout          5s             # user.yaml:2
limits.timeout_max      1h0m0s         # default
limits.memory           4GiB           # default
limits.processes        3              # flag
limits.file_size        4GiB           # default
limits.open_files       4096           # default
limits.scratch          1GiB           # default
limits.output           256MiB         # default
limits.code             8MiB           # default
protect.also            [x, y]         # project/.sidecar.yaml:1, SIDECAR_PROTECT_ALSO
protect.except          []             # default
workspace.access        read-write     # default
host.path               ""             # default
sandbox.bubblewrap      ""             # default
sandbox.mounts          auto           # default
env.pass                []             # default
env.set                 {TOKEN: "…"}   # user.yaml:3
nix.use                 auto           # default
nix.nixpkgs             ""             # default
nix.follow_lock         false          # default
nix.program             ""             # default
nix.store               ""             # default
nix.allow_nix           false          # default
nix.package_denylist    []             # default
nix.allow_unfree        false          # default
nix.allow_broken        false          # default
nix.allow_insecure      []             # default
nix.environments        {}             # default
nix.substituters        []             # default
nix.trusted_keys        []             # default
nix.builders            []             # default
nix.offline             false          # default
nix.build_timeout       30m0s          # default
files.rw_dirs           []             # default
files.rw_files          []             # default
files.ro_dirs           []             # default
files.ro_files          []             # default
network.run             none           # default
network.exec            open           # default
network.allowed_domains [a.example]    # project/.sidecar.yaml:2
network.approved        unset          # default
network.allowed_ports   []             # default
network.hosts           {}             # default
network.sockets         []             # default
network.ask             auto           # default
performance.warm        auto           # default
history.keep            full           # default
history.age             2160h0m0s      # default
history.size            256MiB         # default
sessions.idle           30m0s          # default
sessions.lifetime       24h0m0s        # default
sessions.most           8              # default
hosts.status            []             # default
hosts.program           ""             # default
log.level               info           # default
log.format              text           # default
log.size                1MiB           # default
log.files               4              # default
profiles.claude.home    kept           # user.yaml:6
profiles.claude.env     {A: "…", B: {command: [pass, "…"]}} # user.yaml:5
`
	explained := ""
	for _, e := range s.Explain() {
		explained += e.String() + "\n"
	}
	if diff := cmp.Diff(want[1:], strings.ReplaceAll(explained, dir+string(filepath.Separator), "")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

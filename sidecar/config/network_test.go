package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// domains is a list of rules.
func domains(t *testing.T, names ...Domain) *Domains {
	t.Helper()
	return &Domains{Names: append([]Domain{}, names...)}
}

func TestLoadNetwork(t *testing.T) {
	for name, tc := range map[string]struct {
		fx   fixture
		want func(*Settings)
	}{
		"list": {fixture{user: "network: {allowed_domains: [b.example, a.example:8443, b.example, 10.0.0.7, '*.c.example']}\n"}, func(s *Settings) {
			s.Network.AllowedDomains = domains(t, Domain{Name: "b.example"}, Domain{Name: "a.example:8443"}, Domain{Name: "10.0.0.7"}, Domain{Name: "*.c.example"})
		}},
		"map": {fixture{user: "network:\n  allowed_domains:\n    z.example: \"*\"\n    a.example: [GET, HEAD]\n"}, func(s *Settings) {
			s.Network.AllowedDomains = domains(t, Domain{"z.example", nil}, Domain{"a.example", []string{"GET", "HEAD"}})
		}},
		"ports": {fixture{user: "network:\n  allowed_domains:\n  - a.example:8443\n  - \"[fd00::7]:80\"\n"}, func(s *Settings) {
			s.Network.AllowedDomains = domains(t, Domain{Name: "a.example:8443"}, Domain{Name: "[fd00::7]:80"})
		}},
		"ports in a map": {fixture{user: "network:\n  allowed_domains:\n    a.example:8443: [GET]\n"}, func(s *Settings) {
			s.Network.AllowedDomains = domains(t, Domain{"a.example:8443", []string{"GET"}})
		}},
		"nothing": {fixture{user: "network: {allowed_domains: []}\n"}, func(s *Settings) { s.Network.AllowedDomains = domains(t) }},
		"every":   {fixture{user: "network: {allowed_domains: ['*']}\n"}, func(s *Settings) { s.Network.AllowedDomains = domains(t, Domain{Name: "*"}) }},
		"replaced": {fixture{system: "network: {allowed_domains: [a.example], allowed_ports: [1]}\n", user: "network: {allowed_domains: [b.example], allowed_ports: [2]}\n"},
			func(s *Settings) {
				s.Network.AllowedDomains, s.Network.AllowedPorts = domains(t, Domain{Name: "b.example"}), Ports{List: []int{2}}
			}},
		"by variable": {fixture{env: map[string]string{"SIDECAR_NETWORK_ALLOWED_DOMAINS": "a.example, b.example", "SIDECAR_NETWORK_ALLOWED_PORTS": "80,5432"}},
			func(s *Settings) {
				s.Network.AllowedDomains, s.Network.AllowedPorts = domains(t, Domain{Name: "a.example"}, Domain{Name: "b.example"}), Ports{List: []int{80, 5432}}
			}},
		"by variable, with methods": {fixture{env: map[string]string{"SIDECAR_NETWORK_ALLOWED_DOMAINS": "a.example=GET|HEAD,b.example,c.example=*"}},
			func(s *Settings) {
				s.Network.AllowedDomains = domains(t, Domain{"a.example", []string{"GET", "HEAD"}}, Domain{Name: "b.example"}, Domain{Name: "c.example"})
			}},
		"by variable, none": {fixture{env: map[string]string{"SIDECAR_NETWORK_ALLOWED_DOMAINS": "none", "SIDECAR_NETWORK_ALLOWED_PORTS": "[]"}},
			func(s *Settings) {
				s.Network.AllowedDomains, s.Network.AllowedPorts = domains(t), Ports{List: []int{}}
			}},
		"by flag, all ports": {fixture{flags: map[string]string{"network.allowed_ports": "all"}}, func(s *Settings) { s.Network.AllowedPorts.All = true }},
		"all ports":          {fixture{user: "network:\n  allowed_ports: null\n"}, func(s *Settings) { s.Network.AllowedPorts.All = true }},
		"all ports, a word":  {fixture{user: "network:\n  allowed_ports: all\n"}, func(s *Settings) { s.Network.AllowedPorts.All = true }},
		"hosts and sockets": {fixture{user: "network:\n  hosts: {git.corp: 10.0.0.7, x.corp: 10.0.0.7:8443, ci.corp: '[fd00::7]:8443'}\n  sockets: [$SSH_AUTH_SOCK, /run/x, '${XDG_RUNTIME_DIR}/y']\n  ask: never\n"}, func(s *Settings) {
			s.Network.Hosts = map[string]string{"git.corp": "10.0.0.7", "x.corp": "10.0.0.7:8443", "ci.corp": "[fd00::7]:8443"}
			s.Network.Sockets, s.Network.Ask = []string{"$SSH_AUTH_SOCK", "/run/x", "${XDG_RUNTIME_DIR}/y"}, "never"
		}},
		"files": {fixture{user: "files:\n  rw_dirs: [~/.cache/go]\n  ro_files: [$HOME/.netrc]\n"}, func(s *Settings) {
			s.Files.RWDirs, s.Files.ROFiles = []string{"~/.cache/go"}, []string{"$HOME/.netrc"}
		}},
		"profiles": {fixture{
			system: "profiles:\n  claude: {rw_dirs: [~/a], env: {A: b, C: d}, memory: 8GiB}\n  bare:\n",
			user:   "profiles:\n  bare: {}\n  claude:\n    rw_dirs: [~/b]\n    allow_nix: true\n    allowed_ports: [5432]\n    allowed_domains: []\n    env:\n      C: {file: ~/c}\n      D: {command: [pass, d]}\n      E: {variable: F}\n"}, func(s *Settings) {
			s.Profiles = map[string]Profile{"bare": {}, "claude": {
				RWDirs: []string{"~/b"}, Memory: 8 * gib, AllowNix: true, AllowedPorts: &Ports{List: []int{5432}}, AllowedDomains: domains(t),
				Env: map[string]EnvValue{"A": {Text: "b"}, "C": {File: "~/c"}, "D": {Command: []string{"pass", "d"}}, "E": {Variable: "F"}},
			}}
		}},
		"dotted": {fixture{user: "profiles.claude.home: kept\n", flags: map[string]string{"profiles.x.command": "vim, -R"}}, func(s *Settings) {
			s.Profiles = map[string]Profile{"claude": {Home: "kept"}, "x": {Command: []string{"vim", "-R"}}}
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

func TestNetworkMistakes(t *testing.T) {
	const domainsWanted = `, want a list of domains, or a map from domains to "*" or lists of HTTP methods; [] is none`
	const envWanted = ", want a text, {file: PATH}, {command: [PROGRAM, ARGUMENT]} or {variable: NAME}"
	for text, want := range map[string]string{
		"network:\n  allowed_domain: [a]\n":                             "2: network.allowed_domain: no such setting; did you mean network.allowed_domains?",
		"network:\n  allowed_domains: a.example\n":                      `2: network.allowed_domains: have "a.example"` + domainsWanted,
		"network:\n  allowed_domains:\n":                                "2: network.allowed_domains: have nothing" + domainsWanted,
		"network:\n  allowed_domains:\n  - a\n  - \"b c\"\n":            `4: network.allowed_domains: "b c": has a space in it`,
		"network:\n  allowed_domains:\n  - https://a.example\n":         `3: network.allowed_domains: "https://a.example": a name is wanted, without the scheme`,
		"network:\n  allowed_domains:\n  - 'a.*.example'\n":             `3: network.allowed_domains: "a.*.example": a * stands alone or before the first dot`,
		"network:\n  allowed_domains:\n  - a.example:99999\n":           `3: network.allowed_domains: "a.example:99999": port "99999" is not between 1 and 65535`,
		"network:\n  allowed_domains:\n  - a\n  - [b]\n":                "4: network.allowed_domains: have a list in the list, want a text",
		"network:\n  allowed_domains:\n    a.example: GET\n":            `3: network.allowed_domains: have "GET" for "a.example", want "*" or a list of HTTP methods`,
		"network:\n  allowed_domains:\n    a: '*'\n    b: [get]\n":      `4: network.allowed_domains: have "get", want an HTTP method in capitals, such as GET`,
		"network:\n  allowed_domains:\n    a.b: [FROB]\n":               `3: network.allowed_domains: "a.b": unknown HTTP method "FROB"`,
		"network:\n  allowed_domains:\n    a.b: '*'\n    A.b.: [GET]\n": `2: network.allowed_domains: "a.b": named twice, with different methods`,
		"network:\n  allowed_ports:\n":                                  "2: network.allowed_ports: have nothing, want a list of ports from 1 to 65535, or all",
		"network:\n  allowed_ports:\n  - 80\n  - 65536\n":               `4: network.allowed_ports: have "65536", want a port from 1 to 65535`,
		"network:\n  allowed_ports: [http]\n":                           `2: network.allowed_ports: have "http", want a port from 1 to 65535`,
		"network:\n  hosts:\n    a: 1.2.3.4\n    b: elsewhere\n":        `4: network.hosts: have "elsewhere", want an IP address, or one with a port (10.0.0.7:8443, [fd00::7]:8443)`,
		"network:\n  hosts:\n    a b: 1.2.3.4\n":                        `3: network.hosts: have "a b", want a host's name`,
		"network:\n  sockets: [agent.sock]\n":                           `2: network.sockets: have "agent.sock", want an absolute path, or one that starts with ~, $HOME or another variable`,
		"files:\n  rw_dirs:\n  - ~/a\n  - b\n":                          `4: files.rw_dirs: have "b", want an absolute path, or one that starts with ~, $HOME or another variable`,
		"network:\n  run: all\n":                                        `2: network.run: have "all", want open or none`,
		"profiles:\n  a b: {}\n":                                        `2: profiles: have "a b", want a name with letters, digits, _ and -`,
		"profiles: [a]\n":                                               "1: profiles: have a list, want a map of settings",
		"profiles:\n  claude: yes\n":                                    `2: profiles.claude: have "yes", want a map of settings`,
		"profiles:\n  claude:\n    rw_dir: [~/a]\n":                     "3: profiles.claude.rw_dir: no such setting; did you mean profiles.claude.rw_dirs?",
		"profiles:\n  claude:\n    zzz: 1\n":                            "3: profiles.claude.zzz: no such setting; known there: command, home, rw_dirs, rw_files, ro_dirs, ro_files, env, pass, environment, packages, network, allowed_domains, allowed_ports, sockets, allow_nix, memory, processes",
		"profile:\n  claude: {}\n":                                      "1: profile: no such setting; did you mean profiles?",
		"profiles:\n  claude:\n    memory: 1\n":                         `3: profiles.claude.memory: have "1", want a size such as 512MiB, 4GiB, 100kB or a number of bytes, from 16MiB to 1024TiB`,
		"profiles:\n  c:\n    env:\n      A: b\n      C: {fil: x}\n":    "5: profiles.c.env: have something else for C" + envWanted,
		"profiles:\n  c:\n    env:\n      A: {file: a, variable: b}\n":  "4: profiles.c.env: have something else for A" + envWanted,
		"profiles:\n  c:\n    env:\n      A: {file: secret}\n":          `4: profiles.c.env: have "secret", want an absolute path, or one that starts with ~, $HOME or another variable`,
		"profiles:\n  c:\n    env:\n      A: {command: []}\n":           "4: profiles.c.env: have something else for A" + envWanted,
		"profiles:\n  c:\n    env:\n      A: [x]\n":                     "4: profiles.c.env: have something else for A" + envWanted,
		"profiles:\n  c:\n    env:\n      A-B: x\n":                     `4: profiles.c.env: have "A-B", want the name of an environment variable`,
	} {
		_, _, err := fixture{user: text}.load(t)
		if diff := cmp.Diff("user.yaml:"+want, err); diff != "" {
			t.Errorf("%q: -want +got:\n%s", text, diff)
		}
	}
}

// TestReach is what settings, a project and a profile come to.
func TestReach(t *testing.T) {
	const only = "; it is only allowed in the user's config (user.yaml)"
	type reach struct{ run, exec string }
	for name, tc := range map[string]struct {
		user, project string
		env           map[string]string
		profile       Profile
		want          reach
		notes         []string
	}{
		"default":                           {want: reach{"none", "open"}},
		"open":                              {user: "network: {run: open}", want: reach{"open", "open"}},
		"names":                             {user: "network: {allowed_domains: [a.example]}", want: reach{"[a.example]", "[a.example]"}},
		"approved":                          {user: "network: {approved: [a.example]}", want: reach{"[a.example]", "open"}},
		"approved beside names":             {user: "network: {allowed_domains: {a.example: [GET]}, approved: [a.example, b.example]}", want: reach{"{a.example: [GET], b.example: \"*\"}", "{a.example: [GET], b.example: \"*\"}"}},
		"approved, and nothing at all":      {user: "network: {allowed_domains: [], approved: [a.example]}", want: reach{"[]", "[]"}},
		"approved, and a profile's none":    {user: "network: {approved: [a.example]}", profile: Profile{Network: "none"}, want: reach{"none", "none"}},
		"a project shuts what was approved": {user: "network: {approved: [a.example]}", project: "network: {run: none}", want: reach{"none", "open"}},
		"no names":                          {user: "network: {run: open, allowed_domains: []}", want: reach{"[]", "[]"}},
		"the profile's network":             {user: "network: {allowed_domains: [a.example]}", profile: Profile{Network: "open"}, want: reach{"open", "open"}},
		"the profile's names":               {profile: Profile{AllowedDomains: domains(t, Domain{Name: "b.example"})}, want: reach{"[b.example]", "[b.example]"}},
		"a project shuts":                   {user: "network: {run: open}", project: "network: {run: none, exec: none}", want: reach{"none", "none"}},
		"a project shuts runs":              {user: "network: {allowed_domains: [a.example]}", project: "network: {run: none}", want: reach{"none", "[a.example]"}},
		"a project shuts, a variable opens": {project: "network: {exec: none}", env: map[string]string{"SIDECAR_NETWORK_EXEC": "open"}, want: reach{"none", "open"}},
		"a project shuts a profile":         {project: "network: {exec: none}", profile: Profile{Network: "open"}, want: reach{"open", "none"}},
		"a project cannot open": {project: "network:\n  run: open\n", want: reach{"none", "open"},
			notes: []string{"project/.sidecar.yaml:2: network.run: ignored: open would widen none" + only}},
		"a project narrows what is open": {project: "network: {allowed_domains: [a.example]}", want: reach{"none", "[a.example]"}},
		"a project's names where all is shut": {user: "network: {exec: none}", project: "network: {allowed_domains: [a.example]}", want: reach{"none", "none"},
			notes: []string{"project/.sidecar.yaml:1: network.allowed_domains: ignored: nothing is allowed that this could narrow" + only}},
		"and a profile": {project: "network: {allowed_domains: [a.example, b.example]}",
			profile: Profile{AllowedDomains: domains(t, Domain{Name: "b.example"}, Domain{Name: "c.example"})},
			want:    reach{"[b.example, c.example] within [a.example, b.example]", "[b.example, c.example] within [a.example, b.example]"}},
		"names within names": {user: "network: {allowed_domains: [a.example, b.example]}", project: "network: {allowed_domains: [x.a.example, c.example]}",
			want:  reach{"[a.example, b.example] within [x.a.example, c.example]", "[a.example, b.example] within [x.a.example, c.example]"},
			notes: []string{`project/.sidecar.yaml:1: network.allowed_domains: ignored: "c.example"` + only}},
		"nothing within names": {user: "network: {allowed_domains: [a.example]}", project: "network: {allowed_domains: []}", want: reach{"[a.example] within []", "[a.example] within []"}},
		"every name, and ports": {user: "network: {allowed_domains: {'*': '*'}}", project: "network: {allowed_domains: [A.example., 'a.example:8443']}",
			want: reach{`["*"] within [A.example., "a.example:8443"]`, `["*"] within [A.example., "a.example:8443"]`}},
		"labels, ports, subdomains": {user: "network: {allowed_domains: [a.example, 'b.example:8443', '*.c.example']}", project: "network: {allowed_domains: [xa.example, 'a.example:8443', 'a.example:443', 'x.b.example:8443', b.example, c.example, x.c.example]}",
			want: reach{`[a.example, "b.example:8443", "*.c.example"] within [xa.example, "a.example:8443", "a.example:443", "x.b.example:8443", b.example, c.example, x.c.example]`,
				`[a.example, "b.example:8443", "*.c.example"] within [xa.example, "a.example:8443", "a.example:443", "x.b.example:8443", b.example, c.example, x.c.example]`},
			notes: []string{`project/.sidecar.yaml:1: network.allowed_domains: ignored: "xa.example", "a.example:8443", "b.example", "c.example"` + only}},
		"a project opens nothing else": {project: "network: {allowed_ports: [1], hosts: {a: 1.2.3.4}, sockets: [/x], ask: never}\nfiles: {rw_dirs: [/]}\nprofiles: {claude: {network: open}, x: {}}\n",
			want: reach{"none", "open"},
			notes: []string{
				"project/.sidecar.yaml:1: network.allowed_ports: ignored: a project cannot set this" + only,
				"project/.sidecar.yaml:1: network.hosts: ignored: a project cannot set this" + only,
				"project/.sidecar.yaml:1: network.sockets: ignored: a project cannot set this" + only,
				"project/.sidecar.yaml:1: network.ask: ignored: a project cannot set this" + only,
				"project/.sidecar.yaml:2: files.rw_dirs: ignored: a project cannot set this" + only,
				"project/.sidecar.yaml:3: profiles.claude.network: ignored: a project cannot set this" + only,
				"project/.sidecar.yaml:3: profiles.x: ignored: a project cannot set this" + only,
			}},
		"a variable over a project's names": {project: "network: {allowed_domains: [a.example], run: none}", env: map[string]string{"SIDECAR_NETWORK_ALLOWED_DOMAINS": "b.example"}, want: reach{"[b.example]", "[b.example]"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, notes, err := fixture{user: tc.user, project: tc.project, env: tc.env}.load(t)
			got := reach{s.Reach(UseRun, tc.profile).String(), s.Reach(UseExec, tc.profile).String()}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(reach{})); diff != "" || err != "" {
				t.Errorf("error %q, -want +got:\n%s", err, diff)
			}
			if diff := cmp.Diff(tc.notes, notes); diff != "" {
				t.Errorf("notes -want +got:\n%s", diff)
			}
			if s.Profiles != nil {
				t.Errorf("a project made profiles: %v", s.Profiles)
			}
		})
	}
}

// TestShutByTheProject: a project's "none" is told from the default, since nobody is asked about what it shuts.
func TestShutByTheProject(t *testing.T) {
	for project, want := range map[string][2]bool{
		"":                               {false, false},
		"network: {run: none}":           {true, false},
		"network: {exec: none}":          {false, true},
		"network: {allowed_domains: []}": {true, true},
		"network: {allowed_domains: [a.example]}": {false, false},
	} {
		s, _, err := fixture{user: "network: {exec: open}", project: project}.load(t)
		if got := [2]bool{s.Reach(UseRun, Profile{}).Shut, s.Reach(UseExec, Profile{}).Shut}; got != want || err != "" {
			t.Errorf("%q: %v, %q, want %v", project, got, err, want)
		}
	}
}

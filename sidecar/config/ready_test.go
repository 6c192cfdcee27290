package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adrg/xdg"
	"github.com/google/go-cmp/cmp"
)

// TestReadyProfiles holds the table to the schema: a person could write each of them, and narrow to what it needs.
func TestReadyProfiles(t *testing.T) {
	var names []string
	for _, r := range ReadyProfiles() {
		names = append(names, r.Name)
		text := Settings{Profiles: map[string]Profile{r.Name: r.Profile}}
		back := Settings{}
		for _, f := range text.profileFields() {
			if f.key == "profiles."+r.Name+".env" {
				f.put(&back, f.in(&text))
				continue
			}
			entries, err := document("ready", []byte(f.key+": "+show(f.in(&text))))
			if err != nil {
				t.Fatal(err)
			}
			v, err := f.value(entries[0].raw)
			if err != nil {
				t.Fatalf("%s: %v", f.key, err)
			}
			f.put(&back, v)
		}
		if diff := cmp.Diff(text.Profiles, back.Profiles); diff != "" {
			t.Errorf("%s: -want +got:\n%s", r.Name, diff)
		}
		if _, err := listedDomains(textDomains(strings.Join(r.Needs, ","))); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %v", names)
	}
}

func TestProfile(t *testing.T) {
	s, _, err := fixture{user: `
profiles:
  claude: {home: empty, pass: [], env: {A: b}, allowed_domains: [api.anthropic.com]}
  goose: {env: {A: b}}
  mine: {command: [vim]}
`}.load(t)
	if err != "" {
		t.Fatal(err)
	}
	for name, want := range map[string]Profile{
		"mine": {Command: []string{"vim"}},
		"amp":  {Command: []string{"amp"}, Home: "kept", Pass: []string{"AMP_API_KEY"}},
		"claude": {Command: []string{"claude"}, Home: "empty", Pass: []string{}, Env: map[string]EnvValue{"A": {Text: "b"}},
			AllowedDomains: domains(t, Domain{Name: "api.anthropic.com"})},
		"goose": {Command: []string{"goose"}, Home: "kept", Env: map[string]EnvValue{"A": {Text: "b"}, "GOOSE_DISABLE_KEYRING": {Text: "1"}},
			Pass: []string{"GOOSE_PROVIDER", "GOOSE_MODEL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"}},
	} {
		got, err := s.Profile(name)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v, -want +got:\n%s", name, err, diff)
		}
	}
	for name, want := range map[string]string{
		"cluade":  `no profile "cluade"; did you mean "claude"?`,
		"min":     `no profile "min"; did you mean "mine"?`,
		"xyzxyzx": `no profile "xyzxyzx"; known: aider, amp, claude, codex, copilot, cursor-agent, gemini, goose, mine, opencode`,
		"":        `no profile ""; known: aider, amp, claude, codex, copilot, cursor-agent, gemini, goose, mine, opencode`,
	} {
		if _, err := s.Profile(name); err == nil || err.Error() != want {
			t.Errorf("%s: have %v, want %s", name, err, want)
		}
	}
}

// TestHomeDir: a kept home is private, its profile's own, and below the state folder whatever the name.
func TestHomeDir(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	t.Cleanup(xdg.Reload) // after the variable is as it was
	t.Setenv("XDG_STATE_HOME", state)
	xdg.Reload()
	got, err := HomeDir("claude")
	if err != nil || got != filepath.Join(state, "sidecar/homes/claude") {
		t.Fatal(got, err)
	}
	info, err := os.Stat(got)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info, err)
	}
	for _, name := range []string{"", "..", "a/b", "."} {
		if _, err := HomeDir(name); err == nil {
			t.Errorf("%q has a home", name)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(state, "sidecar/homes/codex")); err != nil {
		t.Fatal(err)
	}
	if _, err := HomeDir("codex"); err == nil {
		t.Error("a link is a home")
	}
}

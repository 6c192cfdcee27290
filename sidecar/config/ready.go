package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"code.sidecar.dev/sidecar/protocol"
)

// Ready is a profile that sidecar brings.
type Ready struct {
	Name    string
	Profile Profile
	// Needs are the names that the agent reaches by itself, for a person who narrows: nothing holds it to them. Those of
	// the provider of its model come on top where the agent lets one choose.
	Needs []string
}

// ReadyProfiles are profiles for agents' command lines, by name. Each has a home of its own that is kept (HomeDir), where
// the agent finds its login, settings and history again; never the person's real ~/.claude or the like: what an agent
// writes there (hooks in settings.json, MCP servers) is executed by the agent that is started outside of a sandbox.
//
// The variables are those that the agent's own documentation reads a login from: code.claude.com/docs (env-vars,
// network-config), developers.openai.com/codex (auth), geminicli.com/docs/get-started/authentication, docs.github.com
// (authenticating Copilot CLI; Copilot allowlist reference), opencode.ai/docs/providers, aider.chat/docs/config/api-keys,
// ampcode.com/manual, cursor.com/docs/cli (authentication, network), goose's guides/environment-variables.
func ReadyProfiles() []Ready {
	return []Ready{
		ready("aider", nil, "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY"),
		ready("amp", []string{"ampcode.com"}, "AMP_API_KEY"),
		ready("claude", []string{"api.anthropic.com", "claude.ai", "platform.claude.com"},
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"),
		ready("codex", []string{"api.openai.com", "auth.openai.com", "chatgpt.com"}, "OPENAI_API_KEY", "CODEX_API_KEY"),
		ready("copilot", []string{"api.github.com", "github.com", "githubcopilot.com", "copilot-proxy.githubusercontent.com"},
			"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"),
		ready("cursor-agent", []string{"cursor.sh", "cursorapi.com", "cursor-cdn.com"}, "CURSOR_API_KEY"),
		ready("gemini", []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com", "aiplatform.googleapis.com"},
			"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_USE_VERTEXAI"),
		goose(),
		ready("opencode", []string{"opencode.ai", "models.dev"},
			"OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
	}
}

func ready(program string, needs []string, pass ...string) Ready {
	return Ready{Name: program, Needs: needs, Profile: Profile{Command: []string{program}, Home: "kept", Pass: pass}}
}

// goose keeps its secrets in a file: there is no keyring in a sandbox.
func goose() Ready {
	r := ready("goose", nil, "GOOSE_PROVIDER", "GOOSE_MODEL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY")
	r.Profile.Env = map[string]EnvValue{"GOOSE_DISABLE_KEYRING": {Text: "1"}}
	return r
}

// Profile is the profile of a name: the ready one, with each field that the person's own sets in its place (variables are
// added). An unknown name is a bad request that names the nearest.
func (s Settings) Profile(name string) (Profile, error) {
	all := ReadyProfiles()
	i := slices.IndexFunc(all, func(r Ready) bool { return r.Name == name })
	own, ok := s.Profiles[name]
	switch {
	case i < 0 && !ok:
		return Profile{}, s.noProfile(name)
	case i < 0:
		return own, nil
	case !ok:
		return all[i].Profile, nil
	}
	return s.over(name, all[i].Profile), nil
}

// over puts what the person's profile sets over a ready one.
func (s Settings) over(name string, p Profile) Profile {
	into := reflect.ValueOf(&p).Elem()
	for _, f := range profileSchema() {
		if f = f.of(name); !s.isSet(f) {
			continue
		}
		at, v := into.FieldByIndex(f.index), f.in(&s)
		if f.adds() {
			v = join(at, v)
		}
		at.Set(v)
	}
	return p
}

// ProfileNames are all that Profile knows, sorted.
func (s Settings) ProfileNames() []string {
	all := sortedNames(s.Profiles)
	for _, r := range ReadyProfiles() {
		all = append(all, r.Name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s Settings) noProfile(name string) error {
	known := s.ProfileNames()
	hint := "known: " + strings.Join(known, ", ")
	least := 1 + max(2, len(name)/2)
	for _, k := range known {
		if d := distance(cut(name), k); d < least {
			least, hint = d, fmt.Sprintf("did you mean %q?", k)
		}
	}
	return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("no profile %s; %s", quote(name), hint)}
}

// cut keeps the search for near names short.
func cut(name string) string { return name[:min(len(name), 64)] }

// HomeDir is the kept home of a profile, in StateDir; it is made when it is missing, and private like that.
func HomeDir(profile string) (string, error) {
	if !isName(profile) {
		return "", fmt.Errorf("no home for the profile %s: want %s", quote(profile), kinds["name"].one)
	}
	state, err := StateDir()
	if err != nil {
		return "", err
	}
	homes, err := privateDir(filepath.Join(state, "homes"))
	if err != nil {
		return "", err
	}
	return privateDir(filepath.Join(homes, profile))
}

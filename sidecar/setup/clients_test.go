package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func on(system string, env map[string]string, files ...string) Machine {
	return Machine{OS: system, Home: "/home/me", Env: func(n string) string { return env[n] }, Exists: func(p string) bool { return slices.Contains(files, p) }}
}

func TestPaths(t *testing.T) {
	paths := func(m Machine) map[string][2]string {
		all := map[string][2]string{}
		for _, c := range Clients() {
			all[c.Name] = [2]string{c.Path(User, m, "/p"), c.Path(Project, m, "/p")}
		}
		return all
	}
	linux := map[string][2]string{
		"claude":          {"/home/me/.claude.json", "/p/.mcp.json"},
		"claude-desktop":  {"/home/me/.config/Claude/claude_desktop_config.json", ""},
		"vscode":          {"/home/me/.config/Code/User/mcp.json", "/p/.vscode/mcp.json"},
		"vscode-insiders": {"/home/me/.config/Code - Insiders/User/mcp.json", "/p/.vscode/mcp.json"},
		"vscodium":        {"/home/me/.config/VSCodium/User/mcp.json", "/p/.vscode/mcp.json"},
		"cursor":          {"/home/me/.cursor/mcp.json", "/p/.cursor/mcp.json"},
		"zed":             {"/home/me/.config/zed/settings.json", "/p/.zed/settings.json"},
		"opencode":        {"/home/me/.config/opencode/opencode.json", "/p/opencode.json"},
		"codex":           {"/home/me/.codex/config.toml", "/p/.codex/config.toml"},
		"gemini":          {"/home/me/.gemini/settings.json", "/p/.gemini/settings.json"},
	}
	if diff := cmp.Diff(linux, paths(on("linux", nil))); diff != "" {
		t.Error(diff)
	}
	mac := map[string][2]string{}
	for name, p := range linux {
		mac[name] = p
	}
	const support = "/home/me/Library/Application Support/"
	mac["claude-desktop"] = [2]string{support + "Claude/claude_desktop_config.json", ""}
	mac["vscode"] = [2]string{support + "Code/User/mcp.json", "/p/.vscode/mcp.json"}
	mac["vscode-insiders"] = [2]string{support + "Code - Insiders/User/mcp.json", "/p/.vscode/mcp.json"}
	mac["vscodium"] = [2]string{support + "VSCodium/User/mcp.json", "/p/.vscode/mcp.json"}
	if diff := cmp.Diff(mac, paths(on("darwin", nil))); diff != "" {
		t.Error(diff)
	}
	moved := paths(on("linux", map[string]string{"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/d", "GEMINI_CLI_HOME": "/g"},
		"/x/opencode/opencode.jsonc", "/p/.opencode/opencode.json"))
	want := map[string][2]string{
		"claude": {"/d/.claude.json", "/p/.mcp.json"}, "zed": {"/x/zed/settings.json", "/p/.zed/settings.json"},
		"opencode": {"/x/opencode/opencode.jsonc", "/p/.opencode/opencode.json"}, "codex": {"/c/config.toml", "/p/.codex/config.toml"},
		"gemini": {"/g/.gemini/settings.json", "/p/.gemini/settings.json"},
	}
	for name, p := range want {
		if diff := cmp.Diff(p, moved[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestInstalled(t *testing.T) {
	none := func(string) bool { return false }
	for _, test := range []struct {
		client string
		m      Machine
		onPath func(string) bool
		want   bool
	}{
		{"claude", on("linux", nil, "/home/me"), none, false},
		{"claude", on("linux", nil, "/home/me", "/home/me/.claude.json"), none, true},
		{"zed", on("linux", nil, "/home/me/.config/zed"), none, true},
		{"zed", on("linux", nil), func(p string) bool { return p == "zeditor" }, true},
	} {
		if got := client(t, test.client).Installed(test.m, test.onPath); got != test.want {
			t.Errorf("%s: %v", test.client, got)
		}
	}
}

// editors/README.md has what is printed, word for word, and the README has the entries.
func TestSettingsAreDocumented(t *testing.T) {
	readme := read(t, "../../editors/README.md")
	for _, e := range Editors() {
		if text := e.Settings(); len(text) < 20 || !strings.Contains(readme, "\n"+text+"```") {
			t.Errorf("editors/README.md lacks the settings of %s:\n%s", e.Name, text)
		}
	}
	for _, c := range Clients() {
		if !strings.Contains(readme, "`"+c.Name+"`") {
			t.Errorf("editors/README.md lacks the client %s", c.Name)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

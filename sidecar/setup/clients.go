package setup

import (
	"path/filepath"
	"slices"
)

// Scope is whom an entry is for.
type Scope string

// The scopes.
const (
	// User is all projects of this person.
	User Scope = "user"
	// Project is whoever opens the project. The files are protected paths: runs cannot change them.
	Project Scope = "project"
)

// Machine is what decides where settings are.
type Machine struct {
	// OS is as runtime.GOOS has it, Home the home folder.
	OS, Home string
	// Env looks up a variable, Exists a file or folder.
	Env    func(name string) string
	Exists func(path string) bool
}

// Client is an MCP client whose settings are known.
type Client struct {
	// Name is what `sidecar setup` calls it, Title what its makers do.
	Name, Title string
	// Programs are names of its command, for finding it on PATH.
	Programs []string
	// Folderless clients start servers in no folder of a project, and tell them none.
	Folderless bool
	// Locked says that it changes its settings all the time, under a lock: see Hold.
	Locked bool
	// Then says what the person has to do afterwards, by scope.
	Then map[Scope]string

	user    func(m Machine) []string // candidates; the first is for when there is none
	project []string                 // the same, in a project; none where the client has no such scope
	key     string                   // of the table of servers
	syntax  syntax
	entry   func(Command) entry
}

// What several clients say.
const (
	restart = "restart it"
	trusts  = "it starts servers in folders that it trusts"
)

// clients is the table. The places and forms are from each client's own documentation (November 2026):
// code.claude.com/docs/en/mcp, support.claude.com (Claude Desktop), code.visualstudio.com/docs/agents/reference/mcp-configuration,
// cursor.com/docs/context/mcp, zed.dev/docs/ai/mcp, opencode.ai/docs/config, developers.openai.com/codex/mcp,
// geminicli.com/docs/tools/mcp-server. Claude Code, Codex, opencode and Gemini CLI are tested with entries that are
// written here (test/agents).
var clients = []Client{
	{
		Name: "claude", Title: "Claude Code", Programs: []string{"claude"}, Locked: true,
		user: inFolder("CLAUDE_CONFIG_DIR", "", ".claude.json"), project: []string{".mcp.json"},
		key: "mcpServers", syntax: jsonc, entry: typed,
		Then: map[Scope]string{User: "sessions that go on see it after a restart", Project: "it asks each person once whether to start the server"},
	},
	{
		Name: "claude-desktop", Title: "Claude Desktop", Programs: []string{"claude-desktop"}, Folderless: true,
		user: inConfig("Claude", "claude_desktop_config.json"),
		key:  "mcpServers", syntax: jsonc, entry: apart,
		Then: map[Scope]string{User: restart},
	},
	vscode("vscode", "VS Code", "code", "Code"),
	vscode("vscode-insiders", "VS Code Insiders", "code-insiders", "Code - Insiders"),
	vscode("vscodium", "VSCodium", "codium", "VSCodium"),
	{
		Name: "cursor", Title: "Cursor", Programs: []string{"cursor", "cursor-agent"},
		user: inFolder("", ".cursor", "mcp.json"), project: []string{".cursor/mcp.json"},
		key: "mcpServers", syntax: jsonc, entry: apart,
		Then: map[Scope]string{User: "Settings, MCP has it", Project: "it asks whether to switch the server on"},
	},
	{
		Name: "zed", Title: "Zed", Programs: []string{"zed", "zeditor", "zedit"},
		user: inXDG("zed", "settings.json"), project: []string{".zed/settings.json"},
		key: "context_servers", syntax: jsonc, entry: apart,
		Then: map[Scope]string{Project: "it asks whether to trust the project"},
	},
	{
		Name: "opencode", Title: "opencode", Programs: []string{"opencode"},
		user:    inXDG("opencode", "opencode.json", "opencode.jsonc", "config.json"),
		project: []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"},
		key:     "mcp", syntax: jsonc, entry: together,
	},
	{
		Name: "codex", Title: "Codex", Programs: []string{"codex"},
		user: inFolder("CODEX_HOME", ".codex", "config.toml"), project: []string{".codex/config.toml"},
		key: "mcp_servers", syntax: tables, entry: apart,
		Then: map[Scope]string{Project: "it reads the file in projects that it trusts"},
	},
	{
		Name: "gemini", Title: "Gemini CLI", Programs: []string{"gemini"},
		user: geminiFile, project: []string{".gemini/settings.json"},
		key: "mcpServers", syntax: jsonc, entry: apart,
		Then: map[Scope]string{User: trusts, Project: trusts},
	},
}

// vscode is one of the editors that are made of VS Code's source.
func vscode(name, title, program, folder string) Client {
	return Client{
		Name: name, Title: title, Programs: []string{program},
		user: inConfig(folder, "User", "mcp.json"), project: []string{".vscode/mcp.json"},
		key: "servers", syntax: jsonc, entry: typed,
		Then: map[Scope]string{User: "the entry is in the default profile; MCP: Open User Configuration shows that of another one", Project: "it asks whether to trust the server"},
	}
}

// Clients are all clients, in the order of the table.
func Clients() []Client { return slices.Clone(clients) }

// Named is the client of a name.
func Named(name string) (Client, bool) {
	i := slices.IndexFunc(clients, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return clients[i], true
}

// Path is the settings file of a scope: the first candidate that is there, else the usual one. It is empty where the
// client has no such scope. root is the project's root.
func (c Client) Path(s Scope, m Machine, root string) string {
	candidates := c.user(m)
	if s == Project {
		candidates = nil
		for _, p := range c.project {
			candidates = append(candidates, filepath.Join(root, filepath.FromSlash(p)))
		}
	}
	if len(candidates) == 0 {
		return ""
	}
	if i := slices.IndexFunc(candidates, m.Exists); i >= 0 {
		return candidates[i]
	}
	return candidates[0]
}

// Installed says that the client seems to be on this machine: its command is on PATH (onPath asks), or it has its
// folder of settings.
func (c Client) Installed(m Machine, onPath func(program string) bool) bool {
	file := c.Path(User, m, "")
	folder := filepath.Dir(file)
	return slices.ContainsFunc(c.Programs, onPath) || m.Exists(file) || folder != filepath.Clean(m.Home) && m.Exists(folder)
}

// inFolder is a file in a folder of the home, or in the one that a variable names.
func inFolder(variable, folder, file string) func(Machine) []string {
	return func(m Machine) []string {
		if dir := m.Env(variable); variable != "" && dir != "" {
			return []string{filepath.Join(dir, file)}
		}
		return []string{filepath.Join(m.Home, folder, file)}
	}
}

// inConfig is a file where the system has applications' settings, as Electron finds it.
func inConfig(parts ...string) func(Machine) []string {
	return func(m Machine) []string {
		base := xdgConfig(m)
		if m.OS == "darwin" {
			base = filepath.Join(m.Home, "Library", "Application Support")
		}
		return []string{filepath.Join(append([]string{base}, parts...)...)}
	}
}

// inXDG is one of some files in a folder of XDG_CONFIG_HOME, on every system.
func inXDG(folder string, files ...string) func(Machine) []string {
	return func(m Machine) []string {
		var all []string
		for _, f := range files {
			all = append(all, filepath.Join(xdgConfig(m), folder, f))
		}
		return all
	}
}

func xdgConfig(m Machine) string {
	if dir := m.Env("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(m.Home, ".config")
}

func geminiFile(m Machine) []string {
	if dir := m.Env("GEMINI_CLI_HOME"); dir != "" { // it stands for the home folder
		m.Home = dir
	}
	return inFolder("", ".gemini", "settings.json")(m)
}

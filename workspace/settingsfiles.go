package workspace

import (
	"path/filepath"
	"strings"
)

// starting are files of the table at a project's top that name programs, by the program that starts them.
var starting = []struct{ name, who string }{
	{".claude/settings.json", "Claude Code"},
	{".claude/settings.local.json", "Claude Code"},
	{".mcp.json", "Claude Code"},
	{".cursor/mcp.json", "Cursor"},
	{".cursor/hooks.json", "Cursor"},
	{".codex/config.toml", "Codex"},
	{".gemini/settings.json", "Gemini CLI"},
	{".vscode/tasks.json", "VS Code"},
	{".vscode/mcp.json", "VS Code"},
	{".devcontainer/devcontainer.json", "the editor"},
	{".devcontainer.json", "the editor"},
	{".pre-commit-config.yaml", "pre-commit"},
	{".pre-commit-config.yml", "pre-commit"},
	{"lefthook.yml", "lefthook"},
	{"lefthook.yaml", "lefthook"},
	{"lefthook.toml", "lefthook"},
	{".lefthook.yml", "lefthook"},
	{".lefthook.yaml", "lefthook"},
	{".lefthook.toml", "lefthook"},
}

// maxSettings is how much of one is read.
const maxSettings = 256 << 10

// settingsFiles protects the programs of the workspace that agents' and editors' settings and hook managers' lists name.
// Which of their words are commands each of them says in its own way: what is executable, or says by "#!" what executes it,
// is taken for one. Other files are left: a server or a task is as often the very source that a run is to write.
func (p *protector) settingsFiles() {
	for _, f := range starting {
		path := filepath.Join(p.ws.Root, f.name)
		if first, _, _ := strings.Cut(f.name, "/"); p.rules.excepts(Entry{Name: first}, first) || !p.list(p.ws.Root).has(first) {
			continue
		}
		data, err := p.looks.ReadHead(realPath(p.looks, path), maxSettings)
		if err != nil {
			continue
		}
		p.pieces(reader{claim: claim{reason: f.who + " may start it, since " + f.name + " names it", absent: nothing}, repo: &Repository{WorkTree: p.ws.Root}}, string(data))
	}
}

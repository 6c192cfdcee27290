package setup

import (
	"embed"
	"slices"
)

// Editor is an editor that starts `sidecar lsp`. Its settings are code or are spread over languages, so that they are
// printed only.
type Editor struct {
	// Name is what `sidecar setup` calls it, Title what its makers do.
	Name, Title string
	// Program is the name of its command.
	Program string
	// Where says for people which file the text belongs to.
	Where string
	file  string
}

//go:embed editors
var notes embed.FS

var editors = []Editor{
	{Name: "emacs", Program: "emacs", Title: "Emacs (eglot)", Where: "~/.emacs.d/init.el", file: "emacs.el"},
	{Name: "helix", Program: "hx", Title: "Helix", Where: "~/.config/helix/languages.toml", file: "helix.toml"},
	{Name: "kate", Program: "kate", Title: "Kate", Where: "Settings, LSP Client, User Server Settings", file: "kate.json"},
	{Name: "neovim", Program: "nvim", Title: "Neovim, without the plugin", Where: "~/.config/nvim/init.lua", file: "neovim.lua"},
}

// Editors are all editors, by name.
func Editors() []Editor { return slices.Clone(editors) }

// EditorNamed is the editor of a name.
func EditorNamed(name string) (Editor, bool) {
	i := slices.IndexFunc(editors, func(e Editor) bool { return e.Name == name })
	if i < 0 {
		return Editor{}, false
	}
	return editors[i], true
}

// Settings is the text, which editors/README.md has too.
func (e Editor) Settings() string {
	text, err := notes.ReadFile("editors/" + e.file)
	if err != nil {
		panic(err) // it is embedded: a test reads all
	}
	return string(text)
}

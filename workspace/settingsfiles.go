package workspace

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// text is a file that programs of the host obey because of its name, and whose words may name programs.
type text struct {
	path string
	// top is the project's folder for the programs that obey it, reason and rank are its claim's.
	top, reason string
	rank        int
}

// Bounds of what is read of the texts of one workspace. Those that lie near the root come first.
const (
	maxSettings  = 256 << 10 // of one
	mostSettings = 400
	maxTexts     = 4 << 20 // of all
	mostNamed    = 300     // programs: each is a mount
	// depthOfTexts is how many folders down in a folder of the table its files are read.
	depthOfTexts = 2
)

// isText takes note of a file that is to be read for what it names.
func (c *claims) isText(w claim, path string) {
	if w.top != "" && c.kind(path) == kindFile && namesPrograms(filepath.Base(path)) {
		c.texts = append(c.texts, text{path, w.top, w.reason, w.rank})
	}
}

// textsIn does so for the files in a folder. What lies in a work tree of its own is that one's.
func (c *claims) textsIn(w claim, dir string, in listing) {
	if _, own := in[".git"]; own || built[filepath.Base(dir)] {
		return
	}
	for name, kind := range in {
		if kind == kindFile && namesPrograms(name) {
			c.texts = append(c.texts, text{filepath.Join(dir, name), w.top, w.reason, w.rank})
		}
	}
}

// namesPrograms: what editors and agents write down of their own doings names every file that was open.
func namesPrograms(name string) bool {
	switch filepath.Ext(name) {
	case ".jsonl", ".log", ".lock", ".txt", ".RData":
		return false
	}
	return !strings.HasPrefix(name, "workspace.") && !strings.HasPrefix(name, "workspace-")
}

// topOfText is the claim's top for a name of the table: not of a file that is read in another way, or that is made of one, nor of
// what is a home folder's.
func topOfText(top string, e Entry) string {
	switch {
	case e.Name == ".envrc", e.Name == ".direnv", e.Reason == whySidecar, e.Reason == whyAlso:
		return ""
	case slices.ContainsFunc(homeObeyed, func(h Entry) bool { return h.Reason == e.Reason }):
		return ""
	}
	return top
}

// settingsFiles protects the programs of the workspace that the files name which editors, agents and their like obey.
// Which of their words are commands each of them says in its own way: what is executable, or says by "#!" what executes it,
// is taken for one. Other files are left: a server or a task is as often the very source that a run is to write.
func (p *protector) settingsFiles() {
	slices.SortFunc(p.texts, func(a, b text) int {
		return cmp.Or(cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/")), strings.Compare(a.path, b.path))
	})
	all := slices.CompactFunc(p.texts, func(a, b text) bool { return a.path == b.path })
	left, before := maxTexts, len(p.held)
	for i, t := range all {
		if i >= mostSettings || left <= 0 || len(p.held)-before > mostNamed {
			p.ws.note("programs that the settings of editors and agents name are held for the first %d of %d files: name others in protect.also", i, len(all))
			return
		}
		data, err := p.looks.ReadHead(t.path, maxSettings)
		if err != nil || strings.ContainsRune(string(data), 0) {
			continue
		}
		left -= len(data)
		p.settings(t, string(data))
	}
}

// macros are IntelliJ's names for the project's folder, which end as they begin.
var macros = strings.NewReplacer("$PROJECT_DIR$/", "./", "$MODULE_DIR$/", "./", "$ProjectFileDir$/", "./", "$ModuleFileDir$/", "./", "$WORKSPACE_DIR$/", "./")

func (p *protector) settings(t text, data string) {
	if ext := filepath.Ext(t.path); ext == ".md" || ext == ".mdc" {
		data = commandsOf(data)
	}
	data = macros.Replace(data)
	name := strings.TrimPrefix(t.path, p.ws.Root+"/")
	w := claim{reason: name + " names it: " + t.reason, rank: t.rank, absent: nothing}
	p.pieces(reader{claim: w, repo: &Repository{WorkTree: t.top}, bases: []string{p.ws.Root}}, data)
}

// commandsOf are the parts of a text for models that clients execute by themselves: its front matter, with hooks and servers, and
// lines with !`command`.
func commandsOf(text string) string {
	var out []string
	front := strings.HasPrefix(text, "---")
	for i, line := range strings.Split(text, "\n") {
		if i > 0 && strings.HasPrefix(line, "---") {
			front = false
		}
		if front || strings.Contains(line, "!`") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

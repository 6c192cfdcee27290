package workspace

import "path/filepath"

// controlFile is a file of another version control that its program obeys or executes from.
type controlFile struct {
	name   string
	folder bool
	absent Hold
	reason string
}

// control is a version control other than git.
type control struct {
	dir   string
	files []controlFile
}

// controls: Mercurial (hgrc(5): hooks, aliases, extensions; "hg help internals.requirements"), Sapling, which
// reads .sl/config alike, Jujutsu ("jj help -k config": tools, aliases, fix commands; .jj/repo is a folder, or in
// a second workspace a file with the path), Pijul (hooks in .pijul/config), darcs (posthook in _darcs/prefs/
// defaults), Bazaar (branch.conf: hooks of plugins). Fossil keeps its settings in a database outside the tree or
// in .fossil-settings, which names no programs.
var controls = []control{
	{".hg", []controlFile{
		{"hgrc", false, Placeholder, "Mercurial executes hooks, aliases and extensions that it names"},
		{"hgrc-not-shared", false, Placeholder, "Mercurial executes hooks, aliases and extensions that it names"},
		{"requires", false, Watch, "Mercurial takes from it how to read the repository"},
		{"sharedpath", false, Watch, "Mercurial takes from it where the repository is"},
		{"store/requires", false, Watch, "Mercurial takes from it how to read the repository"},
	}},
	{".sl", []controlFile{
		{"config", false, Placeholder, "Sapling executes hooks, aliases and extensions that it names"},
		{"requires", false, Watch, "Sapling takes from it how to read the repository"},
		{"sharedpath", false, Watch, "Sapling takes from it where the repository is"},
	}},
	{".pijul", []controlFile{
		{"config", false, Placeholder, "Pijul executes hooks that it names"},
	}},
	{"_darcs", []controlFile{
		{"prefs", true, Watch, "darcs executes hooks that its defaults name"},
	}},
	{".bzr", []controlFile{
		{"branch/branch.conf", false, Watch, "Bazaar obeys it"},
		{"branch/location", false, Watch, "Bazaar takes from it where the repository is"},
	}},
}

const whyJujutsu = "Jujutsu executes programs that its config names"

// jujutsuFiles are those of .jj when .jj/repo is a folder.
var jujutsuFiles = []controlFile{
	{"repo/config.toml", false, Placeholder, whyJujutsu},
	{"repo/config-id", false, Watch, "Jujutsu takes from it where its config is"},
	{"repo/store/type", false, Watch, "Jujutsu takes from it where the repository is"},
	{"repo/store/git_target", false, Watch, "Jujutsu takes from it where the git repository is"},
	{"workspace-config.toml", false, Placeholder, whyJujutsu},
	{"workspace-config-id", false, Watch, "Jujutsu takes from it where its config is"},
}

// otherControls protects the root's repositories of other version controls.
func (p *protector) otherControls() {
	for _, c := range controls {
		p.control(c.dir, c.files)
	}
	files := jujutsuFiles
	if repo := filepath.Join(p.ws.Root, ".jj", "repo"); p.kind(repo) == kindFile || p.kind(repo) == kindLink {
		files = []controlFile{{"repo", false, Watch, "Jujutsu takes from it where the repository is"}, jujutsuFiles[4], jujutsuFiles[5]}
	}
	p.control(".jj", files)
}

func (p *protector) control(name string, files []controlFile) {
	dir := filepath.Join(p.ws.Root, name)
	if p.kind(dir) == kindAbsent {
		p.add(claim{path: dir, folder: true, absent: Watch, reason: "its version control obeys a repository that appears at the root"})
		return
	}
	for _, f := range files {
		p.add(claim{path: filepath.Join(dir, f.name), folder: f.folder, absent: f.absent, content: stub, reason: f.reason})
	}
}

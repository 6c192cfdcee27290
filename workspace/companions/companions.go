// Package companions is the table of what programs other than git keep in a git directory, or git itself there for few, and obey.
// Package workspace holds it in the repositories that are known when a run begins; package guard judges it in those that a run makes.
package companions

// Companion is a file or folder, by its path in the git directory.
type Companion struct {
	Name   string
	Folder bool
	// Reason says what obeys it.
	Reason string
}

// What the reasons of more than one place say.
const (
	Lazygit = "lazygit executes commands that it names"
	Replace = "git checks out and shows what it names in the place of what was committed"
)

// All are all of them.
var All = []Companion{
	{"lazygit.yml", false, Lazygit},
	{"glab-cli/config.yml", false, "glab executes aliases, an editor and a browser that it names"},
	{"sl/config", false, "Sapling executes programs that its config names"},
	{"refs/replace", true, Replace},
	{"gitweb", true, "git instaweb executes servers and settings in it"},
	{"pid", false, "git instaweb ends the processes that it names"},
	{"safe", true, "a PATH with .git/safe/../../bin in it, as of many dotfiles, has programs of the tree executed where it is there"},
}

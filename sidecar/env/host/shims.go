package host

import (
	"path/filepath"
	"strings"

	"code.sidecar.dev/sidecar/env"
)

// manager is a kind of version manager, named as people know it.
type manager string

// The managers whose shims are followed.
const (
	noManager manager = ""
	asdf      manager = "asdf"
	mise      manager = "mise"
	volta     manager = "volta"
)

// xenvs are pyenv and its relatives, which share one layout: ROOT/shims, ROOT/versions/VERSION/bin, a file
// with the version's name in the project, and a variable each for root and version.
var xenvs = []struct {
	name manager
	file string
}{
	{"pyenv", ".python-version"},
	{"rbenv", ".ruby-version"},
	{"nodenv", ".node-version"},
	{"plenv", ".perl-version"},
	{"goenv", ".go-version"},
	{"luaenv", ".lua-version"},
	{"phpenv", ".php-version"},
}

// managerOf says whose shims a folder holds, and where that manager keeps its things. Only folders' names
// are asked; a shim is a script or a link to the manager, and is never run.
func (f *finder) managerOf(path string) (manager, string) {
	root := filepath.Dir(path)
	switch filepath.Base(path) {
	case "shims":
		for _, x := range xenvs {
			if filepath.Base(root) == "."+string(x.name) || root == f.rootOf(x.name) {
				return x.name, root
			}
		}
		if filepath.Base(root) == "mise" || root == f.miseData() {
			return mise, f.miseData()
		}
		if filepath.Base(root) == ".asdf" || root == f.asdfData() {
			return asdf, f.asdfData()
		}
	case "bin":
		if home := f.variableOr("VOLTA_HOME", ".volta"); root == home {
			return volta, home
		}
	}
	return noManager, ""
}

// rootOf is where one of the xenvs keeps its things.
func (f *finder) rootOf(x manager) string {
	return f.variableOr(strings.ToUpper(string(x))+"_ROOT", "."+string(x))
}

// variableOr is the folder that a variable names, or one below the home.
func (f *finder) variableOr(variable, below string) string {
	if path := f.getenv(variable); filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	if f.home.given == "" {
		return ""
	}
	return filepath.Join(f.home.given, below)
}

// candidate is a program that was found in a folder of PATH.
type candidate struct {
	lang    env.Language
	program env.Program
	// name is the program's path, no shim's once throughShim has passed.
	name string
	dir  *folder
	via  string
}

// throughShim replaces a shim by the program that it would start. False means to look further on PATH: the
// manager says "system", or has no such program, which is kept as the reason.
func (f *finder) throughShim(c *candidate) bool {
	var program, version string
	switch c.dir.manager {
	case noManager:
		return f.throughMise(c)
	case asdf:
		program, version = f.asdfProgram(c.dir.managed, c.program.Name)
	case mise:
		program, version = f.miseProgram(c.dir.managed, c.program.Name)
	case volta:
		program, version = f.voltaProgram(c.dir.managed, c.program.Name)
	default:
		program, version = f.xenvProgram(c.dir.manager, c.dir.managed, c.program.Name)
	}
	return f.settleShim(c, program, version)
}

// settleShim takes the program that a manager chose, or keeps why it chose none.
func (f *finder) settleShim(c *candidate, program, version string) bool {
	if program != "" {
		c.name, c.via = program, strings.TrimSpace(string(c.dir.manager)+" "+version)
		return true
	}
	if version != "system" {
		f.reject(c.lang, string(c.dir.manager)+" has no "+c.program.Name+" for "+orNone(version))
	}
	return false
}

// throughMise follows a link to the mise binary that lies outside of mise's own folder of shims.
func (f *finder) throughMise(c *candidate) bool {
	real, _, err := f.real(c.name)
	if err != nil || filepath.Base(real) != "mise" {
		return err == nil
	}
	program, version := f.miseProgram(f.miseData(), c.program.Name)
	shim := *c.dir
	shim.manager = mise
	c.dir = &shim
	return f.settleShim(c, program, version)
}

// orNone names a version for a message.
func orNone(version string) string {
	if version == "" {
		return "this folder (no version is set)"
	}
	return "version " + version
}

// xenvProgram is the program that a shim of x starts, and its version.
func (f *finder) xenvProgram(x manager, root, name string) (program, version string) {
	wanted := f.xenvVersions(x, root)
	versions := filepath.Join(root, "versions")
	for _, want := range wanted {
		if want == "system" {
			return "", "system"
		}
		v, ok := choose(f.installed(versions), unprefixed(want))
		if path := filepath.Join(versions, v, "bin", name); ok && f.executable(path) {
			return path, v
		}
	}
	return "", strings.Join(wanted, ":")
}

// unprefixed removes what the managers allow before a version ("python-3.12").
func unprefixed(version string) string {
	for _, prefix := range []string{"python-", "ruby-", "node-", "perl-", "go-"} {
		if rest, ok := strings.CutPrefix(version, prefix); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return rest
		}
	}
	return version
}

// xenvVersions are the versions that x is set to, the preferred one first: its variable, the nearest version
// file from the workspace upwards, its global file, "system". (PYENV_DIR is not asked: shims export it to
// their children, so it tells where some parent was started, not where the run will be.)
func (f *finder) xenvVersions(x manager, root string) []string {
	if set := f.getenv(strings.ToUpper(string(x)) + "_VERSION"); set != "" {
		return validVersions(strings.Split(set, ":"))
	}
	file := ""
	for _, known := range xenvs {
		if known.name == x {
			file = known.file
		}
	}
	for _, dir := range f.upwards() {
		if versions := versionLines(f.read(filepath.Join(dir, file))); len(versions) > 0 {
			return versions
		}
	}
	if versions := versionLines(f.read(filepath.Join(root, "version"))); len(versions) > 0 {
		return versions
	}
	return []string{"system"}
}

// versionLines reads a version file: the first word of each line, # begins a comment.
func versionLines(text string) []string {
	var words []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 0 {
			words = append(words, strings.Split(fields[0], ":")...)
		}
	}
	return validVersions(words)
}

// maxVersions bounds how many versions a file can ask for.
const maxVersions = 16

// validVersions leaves out what can be no version's name.
func validVersions(words []string) []string {
	var valid []string
	for _, word := range words {
		if versionName().MatchString(word) && len(valid) < maxVersions {
			valid = append(valid, word)
		}
	}
	return valid
}

// installed are the names of the versions in a folder.
func (f *finder) installed(dir string) []string {
	names, ok := f.installs[dir]
	if !ok {
		names = f.list(dir)
		f.installs[dir] = names
	}
	return names
}

// upwards are the folders from the workspace up to the home, or to / when it is not below the home.
func (f *finder) upwards() []string {
	var dirs []string
	for dir := f.workspace.real; dir != ""; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == f.home.real || dir == "/" {
			break
		}
	}
	return dirs
}

package host

import (
	"path/filepath"
	"strings"

	"code.sidecar.dev/sidecar/lazyregexp"
)

// toolNames are what asdf and mise call the tool that brings a program, where it is not the program's name.
var toolNames = map[string][]string{
	"python3": {"python"}, "python": {"python"},
	"node": {"nodejs", "node"}, "nodejs": {"nodejs", "node"},
	"tsx": {"nodejs", "node"}, "ts-node": {"nodejs", "node"},
	"runhaskell": {"haskell", "ghc"}, "runghc": {"haskell", "ghc"},
	"octave-cli": {"octave"},
	"go":         {"golang", "go"},
	"Rscript":    {"R", "r"},
}

// toolsOf are the names of the tool that brings a program.
func toolsOf(program string) []string {
	if names := toolNames[program]; names != nil {
		return names
	}
	return []string{program}
}

// asdfData is where asdf keeps its installs.
func (f *finder) asdfData() string { return f.variableOr("ASDF_DATA_DIR", ".asdf") }

// miseData is where mise keeps its installs.
func (f *finder) miseData() string {
	if path := f.getenv("MISE_DATA_DIR"); filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	if path := f.getenv("XDG_DATA_HOME"); filepath.IsAbs(path) {
		return filepath.Join(path, "mise")
	}
	return f.variableOr("MISE_DATA_DIR", ".local/share/mise")
}

// asdfProgram is the program that asdf's shim starts, and its version.
func (f *finder) asdfProgram(root, name string) (program, version string) {
	for _, tool := range toolsOf(name) {
		versions := f.asdfVersions(tool)
		if program, version := f.toolProgram(root, tool, name, versions); program != "" || len(versions) > 0 {
			return program, version
		}
	}
	return "", ""
}

// asdfVersions are the versions that asdf is set to for a tool: its variable, the nearest .tool-versions, the
// home's.
func (f *finder) asdfVersions(tool string) []string {
	if set := f.getenv("ASDF_" + strings.ToUpper(tool) + "_VERSION"); set != "" {
		return validVersions(strings.Fields(set))
	}
	for _, dir := range append(f.upwards(), f.home.given) {
		if dir == "" {
			continue
		}
		if versions := toolVersions(f.read(filepath.Join(dir, ".tool-versions")), tool); len(versions) > 0 {
			return versions
		}
	}
	return nil
}

// toolVersions reads a tool's line of .tool-versions.
func toolVersions(text, tool string) []string {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == tool {
			return validVersions(fields[1:])
		}
	}
	return nil
}

// toolProgram is the program in the first of the versions that is installed.
func (f *finder) toolProgram(root, tool, name string, versions []string) (program, version string) {
	installs := filepath.Join(root, "installs", tool)
	for _, want := range versions {
		if want == "system" {
			return "", "system"
		}
		v, ok := choose(f.installed(installs), want)
		if !ok {
			continue
		}
		// Go's archive unpacks to a folder of its own; some tools have no bin.
		for _, bin := range []string{"bin", "go/bin", ""} {
			if path := filepath.Join(installs, v, bin, name); f.executable(path) {
				return path, v
			}
		}
	}
	return "", strings.Join(versions, " ")
}

// miseFiles are the project's files that mise reads, the strongest first.
var miseFiles = []string{"mise.local.toml", "mise.toml", ".mise.local.toml", ".mise.toml", "mise/config.toml",
	".mise/config.toml", ".config/mise.toml", ".config/mise/config.toml"}

// miseProgram is the program that mise starts, and its version.
func (f *finder) miseProgram(root, name string) (program, version string) {
	tools := toolsOf(name)
	versions := f.miseVersions(tools)
	for _, tool := range tools {
		if program, version := f.toolProgram(root, tool, name, versions); program != "" || version == "system" {
			return program, version
		}
	}
	return "", strings.Join(versions, " ")
}

// miseVersions are the versions that mise is set to for a tool: its variable, the nearest file, the user's.
func (f *finder) miseVersions(tools []string) []string {
	for _, tool := range tools {
		if set := f.getenv("MISE_" + strings.ToUpper(tool) + "_VERSION"); set != "" {
			return validVersions(strings.Fields(set))
		}
	}
	for _, dir := range f.upwards() {
		if versions := f.miseFolder(dir, tools); len(versions) > 0 {
			return versions
		}
	}
	if f.home.given == "" {
		return nil
	}
	config := f.variableOr("XDG_CONFIG_HOME", ".config")
	if versions := miseTools(f.read(filepath.Join(config, "mise/config.toml")), tools); len(versions) > 0 {
		return versions
	}
	return f.asdfVersions(tools[0])
}

// miseFolder are the versions that the files of one folder set.
func (f *finder) miseFolder(dir string, tools []string) []string {
	for _, file := range miseFiles {
		if versions := miseTools(f.read(filepath.Join(dir, file)), tools); len(versions) > 0 {
			return versions
		}
	}
	text := f.read(filepath.Join(dir, ".tool-versions"))
	for _, tool := range tools {
		if versions := toolVersions(text, tool); len(versions) > 0 {
			return versions
		}
	}
	return nil
}

// quotedWord is a quoted string of TOML.
var quotedWord = lazyregexp.New(`"([^"\\]*)"|'([^']*)'`)

// miseTools reads a tool's versions from the [tools] table of mise's TOML: python = "3.12", a list of strings,
// a table with version =, and [tools.python]. Whole TOML is not needed to choose among installed versions.
func miseTools(text string, tools []string) []string {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[] \t")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		key = strings.TrimPrefix(strings.Trim(strings.TrimSpace(key), `"'`), "core:")
		for _, tool := range tools {
			if section == "tools" && key == tool || section == "tools."+tool && key == "version" {
				return tomlVersions(value)
			}
		}
	}
	return nil
}

// tomlVersions are the versions in a value: of a table, only what its key version says.
func tomlVersions(value string) []string {
	if inner, ok := strings.CutPrefix(strings.TrimSpace(value), "{"); ok {
		_, value, _ = strings.Cut(inner, "version")
		value, _, _ = strings.Cut(value, ",")
	}
	var words []string
	for _, m := range quotedWord().FindAllStringSubmatch(value, maxVersions) {
		words = append(words, m[1]+m[2])
	}
	return validVersions(words)
}

package host

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// maxAliases bounds a chain of nvm's aliases.
const maxAliases = 8

// nvmFolder is the bin folder of the version that nvm would choose: .nvmrc's, or its default alias.
func (f *finder) nvmFolder() (path, via string) {
	root := f.variableOr("NVM_DIR", ".nvm")
	versions := filepath.Join(root, "versions/node")
	if root == "" || len(f.installed(versions)) == 0 {
		return "", ""
	}
	wanted := "default"
	for _, dir := range f.upwards() {
		if lines := nvmLine(f.read(filepath.Join(dir, ".nvmrc"))); lines != "" {
			wanted = lines
			break
		}
	}
	for _, name := range []string{wanted, "default"} {
		if v, ok := f.nvmVersion(root, name); ok {
			return filepath.Join(versions, v, "bin"), "nvm " + v
		}
	}
	return "", ""
}

// nvmLine is the first word of a file of nvm, comments aside.
func nvmLine(text string) string {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 0 {
			return fields[0]
		}
	}
	return ""
}

// nvmVersion follows nvm's aliases ("default", "lts/*", "node") to an installed version.
func (f *finder) nvmVersion(root, name string) (string, bool) {
	installed := f.installed(filepath.Join(root, "versions/node"))
	for range maxAliases {
		if name == "node" || name == "stable" {
			return newest(installed, "latest")
		}
		if v, ok := choose(installed, name); ok {
			return v, true
		}
		if name = f.nvmAlias(root, name); name == "" {
			return "", false
		}
	}
	return "", false
}

// nvmAlias reads one alias. The name may come from the project, so it can only be one plain word, or one
// below lts.
func (f *finder) nvmAlias(root, name string) string {
	word := strings.TrimPrefix(name, "lts/")
	if !versionName().MatchString(word) && name != "lts/*" {
		return ""
	}
	return nvmLine(f.read(filepath.Join(root, "alias", name)))
}

// voltaProgram is the program that Volta's shim starts. Only Node itself is followed: what Volta installs of
// npm's packages starts through a launcher of its own.
func (f *finder) voltaProgram(root, name string) (program, version string) {
	if name != "node" && name != "nodejs" {
		return "", ""
	}
	version = f.voltaVersion(root)
	v, ok := choose(f.installed(filepath.Join(root, "tools/image/node")), version)
	if path := filepath.Join(root, "tools/image/node", v, "bin/node"); ok && f.executable(path) {
		return path, v
	}
	return "", version
}

// voltaVersion is Node's version that the nearest package.json with a volta section pins, or the default.
func (f *finder) voltaVersion(root string) string {
	for _, dir := range f.upwards() {
		var project struct{ Volta struct{ Node string } }
		text := f.read(filepath.Join(dir, "package.json"))
		if text != "" && json.Unmarshal([]byte(text), &project) == nil && project.Volta.Node != "" {
			return strings.Join(validVersions([]string{project.Volta.Node}), "")
		}
	}
	var user struct{ Node struct{ Runtime string } }
	if json.Unmarshal([]byte(f.read(filepath.Join(root, "tools/user/platform.json"))), &user) != nil {
		return ""
	}
	return user.Node.Runtime
}

package host

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"code.sidecar.dev/sidecar/env"
)

// multicall are programs that act by the name they are called by, so that the link must stay the program.
var multicall = []string{"busybox", "toybox", "coreutils"}

// launchers are programs that only start another one, which their files do not tell plainly.
var launchers = map[string]string{
	"snap":          "a snap, which cannot start inside a sandbox",
	"volta-shim":    "Volta's launcher, which is not followed here",
	"julialauncher": "juliaup's launcher, which is not followed; put the bin folder of its Julia on PATH",
}

// settle makes an interpreter of a program that was found: the real program, and what must be mounted for it.
func (f *finder) settle(c candidate) (env.Interpreter, error) {
	real, hops, err := f.real(c.name)
	if err != nil {
		return env.Interpreter{}, fmt.Errorf("%s leads nowhere", c.name)
	}
	if why := launchers[filepath.Base(real)]; why != "" {
		return env.Interpreter{}, fmt.Errorf("%s is %s", c.name, why)
	}
	if f.astray(c, real) {
		return env.Interpreter{}, errAstray(c.name, real)
	}
	if root, ok := f.virtualEnv(c); ok {
		return f.settleVirtualEnv(c, root, real, hops)
	}
	if f.leadsOut(c.name, real) && !f.trusted(c, real) {
		return env.Interpreter{}, fmt.Errorf("%s lies in the workspace and leads to %s, which no folder of PATH outside it names", c.name, real)
	}
	mounts, err := f.mountsFor(c, real, hops)
	if err != nil {
		return env.Interpreter{}, err
	}
	program := real
	if slices.Contains(multicall, filepath.Base(real)) {
		program = c.name
	}
	interp := f.interpreter(c, program, real)
	interp.Mounts = mounts
	interp.Bin = f.binOf(c, real, mounts)
	return interp, nil
}

func errAstray(name, real string) error {
	return fmt.Errorf("%s lies where runs of another project write and leads to %s, which is not among the programs installed; put its folder on PATH", name, real)
}

// interpreter is an interpreter without its mounts.
func (f *finder) interpreter(c candidate, program, real string) env.Interpreter {
	language := c.lang.Name
	if isNode(real) {
		language = "node"
	}
	interp := env.Interpreter{
		Language: c.lang,
		Program:  program,
		Argv:     append([]string{program}, c.program.Args...),
		Version:  f.versionOf(language, real),
		Via:      c.via,
	}
	if language == "go" {
		// A go.mod that asks for a newer toolchain is to say so, and not to try a download.
		interp.Env = []string{"GOTOOLCHAIN=local"}
	}
	return interp
}

// leadsOut says whether a name in the workspace leads to a file outside of it.
func (f *finder) leadsOut(name, real string) bool {
	return f.workspace.holds(name) && !f.workspace.holds(real)
}

// binOf is the folder for PATH inside: the one that the user's PATH names when it is visible there, so that
// the tools beside the interpreter are found too, else the one of the real program.
func (f *finder) binOf(c candidate, real string, mounts []env.Mount) string {
	dir := filepath.Dir(c.name)
	if folder, _, err := f.real(dir); err == nil {
		dir = folder
	}
	if !visible(dir, mounts) && !f.workspace.holds(dir) {
		dir = filepath.Dir(real)
	}
	if slices.Contains(standard, dir) {
		return ""
	}
	return dir
}

// visible says whether a folder is there in a sandbox with these mounts.
func visible(dir string, mounts []env.Mount) bool {
	return isSystem(dir) || slices.ContainsFunc(mounts, func(m env.Mount) bool { return within(dir, m.Path) })
}

// isNode says whether a program is Node itself.
func isNode(program string) bool {
	base := filepath.Base(program)
	return base == "node" || base == "nodejs"
}

// usable says whether what an interpreter needs besides itself is there.
func (f *finder) usable(interp env.Interpreter) error {
	if interp.Language.Name != "typescript" {
		return nil
	}
	if isNode(interp.Program) {
		if v := f.nodeMajor(interp); v != "" && less(v, "22.6") {
			return fmt.Errorf("%s is version %s, and runs TypeScript from 22.6 on", interp.Program, v)
		}
		return nil
	}
	if _, ok := f.found["node"]; !ok && strings.Contains(interp.Program, "/node_modules/") {
		return fmt.Errorf("%s needs node", interp.Program)
	}
	return nil
}

// nodeAbi are the versions of Node whose shared library Debian and its kin install, by the library's number.
var nodeAbi = map[string]string{"83": "14", "93": "16", "108": "18", "115": "20", "120": "21"}

// nodeMajor is Node's version: as known, or, for Debian's, which says it nowhere else, as its library's name.
func (f *finder) nodeMajor(interp env.Interpreter) string {
	if interp.Version != "" || !isSystem(interp.Program) {
		return interp.Version
	}
	for abi, version := range nodeAbi {
		for _, machine := range []string{"x86_64", "aarch64"} {
			if f.exists("/usr/lib/" + machine + "-linux-gnu/libnode.so." + abi) {
				return version
			}
		}
	}
	return ""
}

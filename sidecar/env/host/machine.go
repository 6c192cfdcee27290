// Package host finds the interpreters that the user's own PATH names, for runs without Nix.
//
//	e := host.Find(host.This("/home/me/project"))
//	fmt.Print(env.Text(e))
//
// It follows version managers' shims and symbolic links to the real program by reading files; it starts no
// process. What it mounts is the program's own prefix and nothing that holds the home or the workspace.
// A run can change what lies in the workspace, so nothing there (a version file, a virtual environment)
// can name more than a choice among what the user has installed.
package host

import (
	"os"
)

// Machine is what Find looks at.
type Machine struct {
	// Path is the user's PATH.
	Path string
	// Home is the user's home folder.
	Home string
	// Getenv reads the user's environment.
	Getenv func(string) string
	// Dir is the workspace's root.
	Dir string
	// Written says whether runs could ever write a folder, as in another project; nil knows of none. Record changes
	// whenever it may answer otherwise.
	Written func(folder string) bool
	Record  int64
	// Root stands for /, for tests; "" is the real one.
	Root string
}

// This is the machine that the process runs on, for the workspace at dir.
func This(dir string) Machine {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return Machine{Path: os.Getenv("PATH"), Home: home, Getenv: os.Getenv, Dir: dir}
}

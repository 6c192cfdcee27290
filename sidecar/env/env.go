// Package env says what code can run with: the table of languages, and environments, which are
// interpreters and packages from one provider.
//
//	lang, err := env.Lookup("py")        // python
//	e := host.Find(host.This(workspace)) // the interpreters of this machine
//	interp, err := e.Interpreter(lang)   // the program that runs it here
//	argv, vars, links := env.Invocation(interp, file, cwd, root, nil)
//
// It starts nothing and enforces nothing: what an environment names is what the sandbox mounts, read-only.
package env

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Mount is a file or folder of the host that an environment needs, read-only, at its own path.
type Mount struct {
	Path string
}

// Interpreter is a program that runs one language.
type Interpreter struct {
	Language Language
	// Program is what the sandbox executes: absolute, the real program, no version manager's shim.
	Program string
	// Argv is the program and the arguments that precede the file with the code.
	Argv []string
	// Version is the version as far as paths tell it, or "".
	Version string
	// Via says how it was found, for people ("PATH", "pyenv 3.11.2", "nvm v22.1.0").
	Via string
	// Mounts are the folders outside /usr that it needs: its own prefix, what links lead to.
	Mounts []Mount
	// Bin is the folder to put on the sandbox's PATH; "" when it is on it anyway.
	Bin string
	// Env are variables that it needs, NAME=VALUE.
	Env []string
}

// Missing is a language that this environment cannot run, and how to get it.
type Missing struct {
	Language Language
	Hint     string
}

// Environment is what one provider offers.
type Environment struct {
	// ID names it in requests ("host").
	ID string
	// Provider is "host" or "nix".
	Provider string
	// Interpreters, by the name of their language.
	Interpreters map[string]Interpreter
	Missing      []Missing
	// Path is PATH inside the sandbox, in order.
	Path []string
	// Mounts are all folders it needs, read-only, parents before children, none inside another.
	Mounts []Mount
	// Env are variables for every run, NAME=VALUE.
	Env []string
	// Store is what of a Nix store it consists of; the machine's own system is not shown then. Nil is an environment of
	// the machine's own programs.
	Store *Store
	// Daemon lets nix itself work in it. Nil is none, as nearly always.
	Daemon *Daemon
}

// Daemon is Nix's daemon in the hands of a run, with the whole store.
type Daemon struct {
	// Socket is where it listens on this machine.
	Socket string
	// Nixpkgs is the store path that the run's nix knows as nixpkgs, NixpkgsHash its narHash; empty is none.
	Nixpkgs, NixpkgsHash string
	// Notes are for people.
	Notes []string
}

// Store is the closure of an environment that Nix built.
type Store struct {
	// Folder is where the store is on this machine; in the sandbox it is /nix/store.
	Folder string
	// Out is the store path of the environment itself. Shell says that it is a dev shell, which is more than that path.
	Out   string
	Shell bool
	// Names are the store paths' names.
	Names []string
	// Links are programs that scripts count on by their path (/bin/sh, /usr/bin/env), and where they lead.
	Links map[string]string
}

// StoreFolder is where every sandbox, and Nix itself, has the store.
const StoreFolder = "/nix/store"

// Real is where a path of the sandbox is on this machine.
func (e Environment) Real(path string) string {
	if e.Store == nil {
		return path
	}
	if name, ok := strings.CutPrefix(path, StoreFolder+"/"); ok {
		return filepath.Join(e.Store.Folder, name)
	}
	return path
}

// Interpreter is the program that runs lang here; the error is a *MissingError with the hint.
func (e Environment) Interpreter(lang Language) (Interpreter, error) {
	if found, ok := e.Interpreters[lang.Name]; ok {
		return found, nil
	}
	missing := &MissingError{Environment: e.ID, Language: lang.Name}
	for _, l := range Languages {
		if _, ok := e.Interpreters[l.Name]; ok {
			missing.Have = append(missing.Have, l.Name)
		}
	}
	for _, m := range e.Missing {
		if m.Language.Name == lang.Name {
			missing.Hint = m.Hint
		}
	}
	return Interpreter{}, missing
}

// MissingError says that an environment cannot run a known language.
type MissingError struct {
	Environment string
	Language    string
	// Have are the languages that it can run.
	Have []string
	// Hint says how to get the language.
	Hint string
}

// Error names the language, what there is instead, and the hint on a line of its own.
func (e *MissingError) Error() string {
	text := fmt.Sprintf("environment %q cannot run %s; it has %s", e.Environment, e.Language, listed(e.Have))
	if e.Hint == "" {
		return text
	}
	return text + "\n" + e.Hint
}

// Named finds an environment by its id; "" is the first. The error is an *UnknownEnvironmentError.
func Named(id string, envs []Environment) (Environment, error) {
	known := make([]string, len(envs))
	for i, e := range envs {
		if e.ID == id || id == "" {
			return e, nil
		}
		known[i] = e.ID
	}
	return Environment{}, &UnknownEnvironmentError{Name: id, Near: near(id, known), Known: known}
}

// UnknownEnvironmentError says that no environment has this id.
type UnknownEnvironmentError struct {
	Name string
	// Near are ids like it, the nearest first.
	Near []string
	// Known are all ids.
	Known []string
}

// Error names the near ids and all of them.
func (e *UnknownEnvironmentError) Error() string {
	return fmt.Sprintf("unknown environment %q%s; known are %s", e.Name, suggestion(e.Near), listed(e.Known))
}

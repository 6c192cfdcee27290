// Package env says what code can run with: the table of languages, and environments, which are
// interpreters and packages from one provider.
//
//	lang, err := env.Lookup("py")        // python
//	e := host.Find(host.This(workspace)) // the interpreters of this machine
//	cmd, err := e.Command(lang)          // how to run a file of that language
package env

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
}

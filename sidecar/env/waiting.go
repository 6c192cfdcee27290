package env

import (
	"path/filepath"
	"strings"
)

// Waiting is how an interpreter is started ahead of its code: up to where it would read that, it waits at Fifo, of which it
// then reads Release. Env are variables that it needs for it, and that the code does not see.
type Waiting struct {
	Fifo    string
	Release []byte
	Env     []string
}

// Wait says how the program that Invocation gives can wait for the code in file, which is source; false where it cannot
// without the code being able to tell. vars is its whole environment, NAME=VALUE.
//
//   - Python and Node open the file themselves, in their line of bootstrap, and go to the working folder when they have read it.
//   - Bash reads the file that BASH_ENV names before it opens its script (bash(1), INVOCATION).
//
// Perl, Ruby and Lua have nothing to wait with, and start in a millisecond.
func Wait(interp Interpreter, file, source, cwd string, vars []string) (Waiting, bool) {
	if !isPlain(interp.Language.Name, vars) {
		return Waiting{}, false
	}
	switch interp.Language.Name {
	case "python", "node":
		return Waiting{Fifo: file, Release: []byte(source)}, true
	case "bash":
		fifo := filepath.Join(filepath.Dir(file), "start")
		return Waiting{Fifo: fifo, Release: []byte(bashRelease(interp.Program, cwd)), Env: []string{"BASH_ENV=" + fifo}}, true
	}
	return Waiting{}, false
}

// bashRelease puts bash into the state in which it is when it starts in cwd.
func bashRelease(program, cwd string) string {
	return "cd -- " + shellWord(cwd) + "\nunset BASH_ENV OLDPWD\nexport OLDPWD\nSECONDS=0\n: " + shellWord(program) + "\n"
}

// shellWord is a word of the shell.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// starting are variables by whose names an interpreter, or the loader of programs, does something at its start that may
// depend on what it finds in the workspace then.
var starting = map[string][]string{
	"python": {"PYTHON", "LD_"},
	"node":   {"NODE_", "OPENSSL_", "SSL_", "ICU_", "LD_"},
	"bash":   {"BASH", "SHELLOPTS", "ENV", "POSIXLY_CORRECT", "OLDPWD", "SECONDS", "LD_"},
}

func isPlain(language string, vars []string) bool {
	for _, kv := range vars {
		for _, prefix := range starting[language] {
			if strings.HasPrefix(kv, prefix) {
				return false
			}
		}
	}
	return true
}

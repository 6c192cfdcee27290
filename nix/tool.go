package nix

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Tool is a nix that can be used.
type Tool struct {
	// Program is nix itself, Store the nix-store beside it.
	Program, Store string
	Version        Version
	// Warnings are what will not work with it, for people.
	Warnings []string
}

// Finding is where nix is looked for.
type Finding struct {
	// Program is a certain nix; if it is "", the first on Path is taken.
	Program string
	// Path is a list of folders like PATH. Folders that are not absolute are passed over: they would be the
	// project's.
	Path string
	// Environ is what nix may take from, as for Options.
	Environ []string
}

// findLimit ends a nix that hangs when it is asked for its version.
const findLimit = 10 * time.Second

// features are what is used of Nix beyond what it does by itself; in no release they are on without asking.
const features = "nix-command flakes"

// Find finds nix and asks it for its version and for flakes: two processes, tens of milliseconds. The error is
// a *MissingError, a *VersionError or a *StoreError.
func Find(ctx context.Context, where Finding) (Tool, error) {
	program, err := where.program()
	if err != nil {
		return Tool{}, err
	}
	tool := Tool{Program: program, Store: filepath.Join(filepath.Dir(program), "nix-store")}
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	out, err := output(ctx, where.Environ, program, "--version")
	if err != nil {
		return Tool{}, &VersionError{Program: program, Reason: err.Error()}
	}
	version, ok := parseVersion(out)
	switch {
	case !ok:
		return Tool{}, &VersionError{Program: program, Reason: "it printed " + strings.TrimSpace(out)}
	case version.Before(Oldest):
		return Tool{}, &VersionError{Program: program, Version: version.String(), Reason: "which has no flakes"}
	case version.Before(Nixpkgs):
		tool.Warnings = append(tool.Warnings, "nix "+version.String()+" is older than "+Nixpkgs.String()+": today's nixpkgs does not evaluate with it")
	}
	tool.Version = version
	return tool, tool.tryFlakes(ctx, where.Environ)
}

// tryFlakes asks for something that needs both features, and no store.
func (t Tool) tryFlakes(ctx context.Context, environ []string) error {
	_, err := output(ctx, environ, t.Program, "--extra-experimental-features", features, "eval", "--store", "dummy://", "--expr", "builtins ? getFlake")
	if err == nil {
		return nil
	}
	return &VersionError{Program: t.Program, Version: t.Version.String(), Reason: "and does not evaluate with flakes: " + reason(err.Error())}
}

// program is the named nix, or the first one on the path.
func (f Finding) program() (string, error) {
	if f.Program != "" {
		if !filepath.IsAbs(f.Program) || !isProgram(f.Program) {
			return "", &MissingError{Program: f.Program}
		}
		return f.Program, nil
	}
	for _, dir := range filepath.SplitList(f.Path) {
		if program := filepath.Join(dir, "nix"); filepath.IsAbs(dir) && isProgram(program) {
			return program, nil
		}
	}
	return "", &MissingError{Path: f.Path}
}

// isProgram says whether a file can be executed.
func isProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// output is what a short program prints; an error holds what it said.
func output(ctx context.Context, environ []string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = environ
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = attributes()
	runtime.LockOSThread() // as in run
	defer runtime.UnlockOSThread()
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return "", errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}

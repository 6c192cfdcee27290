package nix

import (
	"fmt"
	"strings"
	"time"
)

// MissingError says that there is no nix.
type MissingError struct {
	// Program is the one that was named, or "" when PATH was searched.
	Program string
	Path    string
}

// Error says where it was looked for, and how to get it.
func (e *MissingError) Error() string {
	if e.Program != "" {
		return fmt.Sprintf("nix: %q is no program that can be executed", e.Program)
	}
	return fmt.Sprintf("nix: there is none on PATH (%s)\ninstall it (https://nixos.org/download), or run with the host's own interpreters", e.Path)
}

// VersionError says that a nix cannot do what is needed.
type VersionError struct {
	Program string
	// Version is "" if it did not tell any.
	Version string
	Reason  string
}

// Error names the program and what is wanted.
func (e *VersionError) Error() string {
	if e.Version == "" {
		return fmt.Sprintf("nix: %s does not tell its version: %s\nis it Nix?", e.Program, e.Reason)
	}
	return fmt.Sprintf("nix: %s is %s, %s\ninstall %d.%d or newer (nixpkgs wants %d.%d)", e.Program, e.Version, e.Reason,
		Oldest.Major, Oldest.Minor, Nixpkgs.Major, Nixpkgs.Minor)
}

// StoreError says that Nix's store cannot be used.
type StoreError struct {
	// Reason is Nix's own.
	Reason string
	Hint   string
}

// Error has Nix's reason and what to do.
func (e *StoreError) Error() string {
	return "the Nix store cannot be used: " + e.Reason + "\n" + e.Hint
}

// SpecError says that a part of a request can never be right.
type SpecError struct {
	Field, Value, Reason string
}

// Error quotes what was sent.
func (e *SpecError) Error() string {
	value := e.Value
	if len(value) > longestAttr {
		value = strings.ToValidUTF8(value[:longestAttr], "") + "…"
	}
	return fmt.Sprintf("invalid %s %q: %s", e.Field, value, e.Reason)
}

// DeniedError says that a package may not be asked for.
type DeniedError struct {
	Package string
	// Pattern is the denylist's that refuses it; Reason is given where no setting would allow it.
	Pattern string
	Reason  string
}

// Error names the pattern and the setting.
func (e *DeniedError) Error() string {
	if e.Pattern == "" {
		return fmt.Sprintf("package %q is not allowed: %s", e.Package, e.Reason)
	}
	return fmt.Sprintf("package %q is not allowed: %q is in nix.package_denylist", e.Package, e.Pattern)
}

// UnknownError says that nixpkgs has no such package.
type UnknownError struct {
	Package string
	// Why says it in other words, where it exists but is no package.
	Why string
	// Near are packages with a name like it, the nearest first.
	Near    []string
	Nixpkgs Source
}

// Error names the near packages.
func (e *UnknownError) Error() string {
	text := fmt.Sprintf("package %q is not in %s", e.Package, e.Nixpkgs)
	if e.Why != "" {
		text = fmt.Sprintf("%q of %s %s", e.Package, e.Nixpkgs, e.Why)
	}
	if len(e.Near) > 0 {
		text += "\ndid you mean " + strings.Join(e.Near, " or ") + "?"
	}
	return text
}

// RefusedError says that nixpkgs itself refuses a package.
type RefusedError struct {
	Package string
	// Kind is "unfree", "insecure", "broken" or "unsupported".
	Kind string
	// Reason is nixpkgs' own sentence, Details what it adds to it (known vulnerabilities).
	Reason  string
	Details []string
	// Setting allows it, "" if none does.
	Setting string
}

// Error has nixpkgs' reason and the setting.
func (e *RefusedError) Error() string {
	text := "nixpkgs refuses a package: " + e.Reason
	if len(e.Details) > 0 {
		text += "\n" + strings.Join(e.Details, "\n")
	}
	if e.Setting != "" {
		text += "\nyour own settings can allow it: " + e.Setting
	}
	return text
}

// EvalError says that Nix code could not be evaluated.
type EvalError struct {
	// What was evaluated, and Reason what Nix said of it.
	What, Reason string
	LogFile      string
}

// Error has Nix's own words.
func (e *EvalError) Error() string {
	return fmt.Sprintf("evaluating %s: %s", e.What, e.Reason) + logHint(e.LogFile)
}

// FetchError says that something could not be fetched.
type FetchError struct {
	What, Reason string
	Offline      bool
	LogFile      string
}

// Error says whether the network was forbidden.
func (e *FetchError) Error() string {
	text := fmt.Sprintf("fetching for %s: %s", e.What, e.Reason)
	if e.Offline {
		return text + "\nthe setting nix.offline forbids the network" + logHint(e.LogFile)
	}
	return text + "\nis the network there, and the address right? what is in the store needs neither" + logHint(e.LogFile)
}

// BuildError says that a build failed.
type BuildError struct {
	What string
	// Derivation is the store path of the one that failed, Reason what Nix said.
	Derivation, Reason string
	// Tail is the end of its log, LogFile the whole.
	Tail    []string
	LogFile string
}

// Error has the end of the log.
func (e *BuildError) Error() string {
	text := fmt.Sprintf("building %s: %s", e.What, e.Reason)
	if len(e.Tail) > 0 {
		text += "\nthe end of its log:\n  " + strings.Join(e.Tail, "\n  ")
	}
	return text + logHint(e.LogFile)
}

// LimitError says that a build took longer than it may.
type LimitError struct {
	What    string
	Limit   time.Duration
	Tail    []string
	LogFile string
}

// Error names the limit and the setting.
func (e *LimitError) Error() string {
	text := fmt.Sprintf("building %s: it was ended after %v, the limit (nix.build_timeout); what is built so far is kept", e.What, e.Limit)
	if len(e.Tail) > 0 {
		text += "\nthe end of its log:\n  " + strings.Join(e.Tail, "\n  ")
	}
	return text + logHint(e.LogFile)
}

// logHint names the file with the whole log, on a line of its own.
func logHint(file string) string {
	if file == "" {
		return ""
	}
	return "\nthe whole log: " + file
}

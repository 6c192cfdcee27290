package mcp

import (
	"fmt"
	"strings"

	"code.sidecar.dev/sidecar/protocol"
)

// Those whose client's entry may still be the one of before (docs/migrating.md).
const (
	nixExec       = "nix-exec"
	nixSandboxMCP = "nix-sandbox-mcp"
)

// replaced is a flag or variable of one of them that has no effect here, and what has: a setting, or other words.
type replaced struct{ name, of, setting, words string }

var replacedFlags = []replaced{
	{"config", nixExec, "", "--config FILE, with two dashes, names a file of settings, whose keys are sidecar's own"},
	{"name", nixExec, "", "clients name their servers themselves"},
	{"timeout", nixExec, "limits.timeout", ""},
	{"max-output-bytes", nixExec, "limits.output", ""},
	{"workspace-path", nixExec, "", "--workspace FOLDER names it; the setting workspace.access: read-only keeps it as it is"},
	{"package-denylist", nixExec, "nix.package_denylist", ""},
	{"cache-dir", nixExec, "", "XDG_CACHE_HOME moves the cache"},
	{"cache-max-size", nixExec, "", "`sidecar gc` lets go of what is not used"},
	{"build-timeout", nixExec, "nix.build_timeout", ""},
	{"temp-dir", nixExec, "limits.scratch", "/tmp of a run is in memory"},
	{"nixpkgs-url", nixExec, "nix.nixpkgs", ""},
	{"substituters", nixExec, "nix.substituters", ""},
	{"log-level", nixExec + " and " + nixSandboxMCP, "log.level", ""},
	{"log-format", nixExec, "log.format", ""},
	{"stdio", nixSandboxMCP, "", "sidecar mcp speaks nothing else"},
}

var replacedVariables = []replaced{
	{"NIX_EXEC_CONFIG", nixExec, "", "SIDECAR_CONFIG names a file of settings, whose keys are sidecar's own"},
	{"PROJECT_MOUNT", nixSandboxMCP, "", "the project is at its own path"},
	{"NIX_SANDBOX_DIR", nixSandboxMCP, "", "environments that were built before are links in ~/.config/sidecar/environments"},
	{"NIX_SANDBOX_METADATA", nixSandboxMCP, "", "nothing is baked in: nix.environments has further environments"},
	{"SESSION_IDLE_TIMEOUT", nixSandboxMCP, "sessions.idle", ""},
	{"SESSION_MAX_LIFETIME", nixSandboxMCP, "sessions.lifetime", ""},
}

// instead says what has the effect here.
func (r replaced) instead() string {
	switch {
	case r.setting == "":
		return r.words
	case r.words == "":
		return "its setting is " + r.setting + ", in ~/.config/sidecar/config.yaml"
	}
	return r.words + "; the setting is " + r.setting
}

// ReplacedFlag refuses a flag of a server that sidecar takes the place of, however it is written: one of them would be read
// as another of sidecar's own (-workspace-path=/x as -w orkspace-path=/x). The error is a *protocol.Error.
func ReplacedFlag(args []string) error {
	for _, arg := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		dashes := len(arg) - len(strings.TrimLeft(arg, "-"))
		if arg == "--" {
			return nil
		}
		for _, r := range replacedFlags {
			if r.name == name && (dashes == 1 || dashes == 2 && name != "config") {
				return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("%s is a flag of %s, and none of sidecar mcp", arg[:dashes]+name, r.of),
					Hint: "take it out of the client's settings: " + r.instead()}
			}
		}
	}
	return nil
}

// ReplacedVariables are those that are set for a server that sidecar takes the place of, and have no effect here.
func ReplacedVariables(getenv func(string) string) []string {
	var notes []string
	for _, r := range replacedVariables {
		if getenv(r.name) != "" {
			notes = append(notes, fmt.Sprintf("%s, a variable of %s, is set and has no effect here: %s", r.name, r.of, r.instead()))
		}
	}
	return notes
}

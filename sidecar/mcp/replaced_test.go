package mcp

import (
	"slices"
	"strings"
	"testing"

	"code.sidecar.dev/sidecar/config"
	"github.com/google/go-cmp/cmp"
)

func TestReplacedFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-workspace-path=/x":   "-workspace-path is a flag of nix-exec, and none of sidecar mcp\ntake it out of the client's settings: --workspace FOLDER names it; the setting workspace.access: read-only keeps it as it is",
		"-v -timeout 30s":      "-timeout is a flag of nix-exec, and none of sidecar mcp\ntake it out of the client's settings: its setting is limits.timeout, in ~/.config/sidecar/config.yaml",
		"--log-level=debug":    "--log-level is a flag of nix-exec and nix-sandbox-mcp, and none of sidecar mcp\ntake it out of the client's settings: its setting is log.level, in ~/.config/sidecar/config.yaml",
		"-config /c.yaml":      "-config is a flag of nix-exec, and none of sidecar mcp\ntake it out of the client's settings: --config FILE, with two dashes, names a file of settings, whose keys are sidecar's own",
		"--stdio":              "--stdio is a flag of nix-sandbox-mcp, and none of sidecar mcp\ntake it out of the client's settings: sidecar mcp speaks nothing else",
		"-temp-dir=/t":         "-temp-dir is a flag of nix-exec, and none of sidecar mcp\ntake it out of the client's settings: /tmp of a run is in memory; the setting is limits.scratch",
		"--config /c.yaml":     "",
		"-w timeout":           "",
		"--in-process -w=/x":   "",
		"--workspace /name":    "",
		"-- -timeout=30s":      "",
		"":                     "",
		"--timeouts -timeout-": "",
	} {
		got := ""
		if err := ReplacedFlag(strings.Fields(args)); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", args, diff)
		}
	}
}

func TestReplacedVariables(t *testing.T) {
	got := ReplacedVariables(variables("SESSION_IDLE_TIMEOUT", "300", "NIX_EXEC_CONFIG", "/c.yaml", "PROJECT_DIR", "/p", "NIX_SANDBOX_ENVS", "/e#x"))
	want := []string{"NIX_EXEC_CONFIG, a variable of nix-exec, is set and has no effect here: SIDECAR_CONFIG names a file of settings, whose keys are sidecar's own",
		"SESSION_IDLE_TIMEOUT, a variable of nix-sandbox-mcp, is set and has no effect here: its setting is sessions.idle, in ~/.config/sidecar/config.yaml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestReplacedSettings: what is named instead is there.
func TestReplacedSettings(t *testing.T) {
	known := config.Keys()
	for _, r := range slices.Concat(replacedFlags, replacedVariables) {
		if r.setting != "" && !slices.ContainsFunc(known, func(k config.Key) bool { return k.Name == r.setting }) {
			t.Errorf("%s: there is no setting %s", r.name, r.setting)
		}
	}
}

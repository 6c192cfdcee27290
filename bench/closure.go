//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// closures compares a run in an environment of Nix that is built with the same arguments, its store paths as mounts
// among them, under plain bubblewrap. It takes root and Nix, for the stand-in for nixpkgs.
func closures(binary, dir string, rounds int) ([]row, error) {
	if _, err := exec.LookPath("nix"); err != nil || os.Geteuid() != 0 {
		return []row{{what: "a run in an environment of Nix", got: "not measured: takes root and Nix"}}, nil
	}
	undo, err := withNixpkgs(dir)
	if err != nil {
		return nil, err
	}
	defer undo()
	ws := filepath.Join(dir, "small")
	c, err := dial(binary, ws)
	if err != nil {
		return nil, err
	}
	defer c.close()
	again := func() error { return c.runIn("python", "pass", "nix") }
	if err := again(); err != nil { // the first one builds it
		return nil, err
	}
	plain, err := newPlain(binary, ws, "--environment", "nix")
	if err != nil {
		return nil, err
	}
	times, err := inTurns(rounds, again, plain.run)
	if err != nil {
		return nil, err
	}
	ratio := float64(times[0]) / float64(times[1])
	beside, err := besideNix(binary, ws, min(rounds, 10))
	if err != nil {
		return nil, err
	}
	size, err := sizes(binary, dir, rounds)
	if err != nil {
		return nil, err
	}
	beside = append(size, beside...)
	return append([]row{
		{what: "the arguments of a run in a closure under plain bwrap", got: ms(times[1]), unit: " ms"},
		{what: "run_code of `pass` in a closure", got: ms(times[0]), unit: " ms"},
		{what: "run_code in a closure / plain bwrap", got: fmt.Sprintf("%.2f", ratio), want: "at most 1.35", met: ratio <= 1.35},
	}, beside...), nil
}

// besideNix times the same command in an environment that is new, in one that is built, and as Nix itself runs it.
func besideNix(binary, ws string, rounds int) ([]row, error) {
	c, err := dial(binary, ws)
	if err != nil {
		return nil, err
	}
	defer c.close()
	packages := []string{"jq", "tree", "file", "ripgrep", "which", "bc", "gnutar", "gzip", "diffutils", "findutils"}
	var cold []time.Duration
	for i := range min(rounds, len(packages)) { // each another environment
		began := time.Now()
		if err := c.runWith("bash", "jq -n 1 >/dev/null", append([]string{"jq"}, packages[:i]...)); err != nil {
			return nil, err
		}
		cold = append(cold, time.Since(began))
	}
	restarted := func() error {
		if err := exec.Command(binary, "--workspace", ws, "stop").Run(); err != nil {
			return err
		}
		return c.runWith("bash", "jq -n 1 >/dev/null", []string{"jq"})
	}
	warm := func() error { return c.runWith("bash", "jq -n 1 >/dev/null", []string{"jq"}) }
	shell := func() error {
		cmd := exec.Command("nix", "--extra-experimental-features", "nix-command flakes", "shell", os.Getenv("SIDECAR_NIX_NIXPKGS")+"#jq", os.Getenv("SIDECAR_NIX_NIXPKGS")+"#bash", "-c", "bash", "-c", "jq -n 1 >/dev/null")
		cmd.Env = append(os.Environ(), "NIX_CONFIG=build-users-group =\nsubstituters =\n")
		return cmd.Run()
	}
	times, err := inTurns(rounds, warm, restarted, shell)
	if err != nil {
		return nil, err
	}
	return []row{
		{what: "jq, a new environment: evaluated and built", got: ms(median(cold)), unit: " ms"},
		{what: "jq, the first run after the sidecar was restarted", got: ms(times[1]), unit: " ms"},
		{what: "jq, a run in an environment that is built", got: ms(times[0]), unit: " ms"},
		{what: "jq, by `nix shell`, no sandbox", got: ms(times[2]), unit: " ms"},
	}, nil
}

// withNixpkgs sets the stand-in up and has every sidecar use it.
func withNixpkgs(dir string) (undo func(), err error) {
	tree := filepath.Join(dir, "nixpkgs")
	if err := os.CopyFS(tree, os.DirFS("test/nixpkgs")); err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "nix.conf")
	if err := os.WriteFile(conf, []byte("build-users-group =\n"), 0o600); err != nil {
		return nil, err
	}
	setup := exec.Command("bash", filepath.Join(tree, "setup.sh"))
	setup.Env = append(os.Environ(), "NIX_CONFIG=build-users-group =")
	if out, err := setup.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("setup.sh: %w: %s", err, out)
	}
	vars := map[string]string{"XDG_CONFIG_HOME": filepath.Join(dir, "config"), "SIDECAR_NIX_NIXPKGS": "path:" + tree, "SIDECAR_NIX_OFFLINE": "true", "NIX_USER_CONF_FILES": conf, "XDG_CACHE_HOME": filepath.Join(dir, "cache")}
	for name, value := range vars {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	return func() {
		for name := range vars {
			_ = os.Unsetenv(name)
		}
	}, nil
}

//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// manyPaths is a large closure, about what a desktop's worth of packages comes to.
const manyPaths = 2000

// sizes compares runs in two environments that differ in nothing but the number of store paths in their closures.
func sizes(binary, dir string, rounds int) ([]row, error) {
	c, err := dial(binary, filepath.Join(dir, "small"))
	if err != nil {
		return nil, err
	}
	defer c.close()
	var calls []func() error
	for name, paths := range map[string]int{"few": 20, "many": manyPaths} {
		if err := environment(dir, name, paths); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"few", "many"} {
		calls = append(calls, func() error { return c.runIn("bash", ":", name) })
	}
	times, err := inTurns(rounds, calls...)
	if err != nil {
		return nil, err
	}
	more, ratio := times[1]-times[0], float64(times[1])/float64(times[0])
	return []row{
		{what: "a run in a closure of some 20 store paths", got: ms(times[0]), unit: " ms"},
		{what: "2,000 store paths / 20", got: fmt.Sprintf("%.2f", ratio)},
		{what: "2,000 store paths add to a run", got: ms(more), unit: " ms", want: "at most 5 ms", met: more <= 5*time.Millisecond},
	}, nil
}

// environment builds one whose closure has this many store paths beside bash's own, under a name that runs can ask for.
func environment(dir, name string, paths int) error {
	folder := filepath.Join(dir, "config", "sidecar", "environments")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	expr := fmt.Sprintf(`let pkgs = import %s { };
		paths = builtins.genList (i: builtins.toFile "path-${toString i}" "") %d;
		list = builtins.toFile "paths" (builtins.concatStringsSep "\n" (map toString paths)); in
		pkgs.runCommand "%s" { } "mkdir -p $out/bin; ln -s ${pkgs.bash}/bin/* $out/bin; cp ${list} $out/paths"`, filepath.Join(dir, "nixpkgs"), paths, name)
	build := exec.Command("nix-build", "-o", filepath.Join(folder, name), "-E", expr)
	build.Env = append(os.Environ(), "NIX_CONFIG=build-users-group =\nsubstituters =")
	if out, err := build.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("building an environment of %d store paths: %w", paths, err), errors.New(string(out)))
	}
	return nil
}

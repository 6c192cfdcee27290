package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The rooms import one way: sidecar stands on workspace, sandbox and nix, which know nothing of each other or of it.
func TestTheLeavesStandAlone(t *testing.T) {
	const module = "code.sidecar.dev/"
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Deps \" \"}}", module+"workspace/...", module+"sandbox/...", module+"nix/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		leaf, _, _ := strings.Cut(strings.TrimPrefix(words[0], module), "/")
		for _, dep := range words[1:] {
			room, ours := strings.CutPrefix(dep, module)
			if room, _, _ = strings.Cut(room, "/"); ours && room != leaf {
				t.Errorf("%s imports %s", words[0], dep)
			}
		}
	}
}

package sidecar

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sandbox"
)

// TestRefusals reads a log, in the place of which a program writes what log(1) would.
func TestRefusals(t *testing.T) {
	program := filepath.Join(t.TempDir(), "log")
	script := "#!/bin/sh\n" + `[ "$1 $3 $5" = "stream ndjson eventMessage ENDSWITH \"sidecar-1\"" ] || exit 1
echo 'Filtering the log data'
for p in a b a; do printf '{"eventMessage":"Sandbox: sh(5) deny(1) file-write-create \\/x\\/%s\\nsidecar-1"}\n' $p; done
`
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	want := []string{"the sandbox refused: sh: file-write-create /x/a; sh: file-write-create /x/b"}
	follow := followRefusals(program, "sidecar-1")
	if diff := cmp.Diff(want, follow(sandbox.End{ExitCode: 1})); diff != "" {
		t.Error(diff)
	}
	for name, notes := range map[string][]string{
		"a run that did well": followRefusals(program, "sidecar-1")(sandbox.End{}),
		"no log":              followRefusals("/nowhere/log", "sidecar-1")(sandbox.End{ExitCode: 1}),
		"no tag":              (&prepared{}).refusals()(sandbox.End{ExitCode: 1}),
	} {
		if notes != nil {
			t.Errorf("%s: %q", name, notes)
		}
	}
}

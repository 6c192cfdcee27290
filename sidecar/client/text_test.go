package client

import (
	"testing"

	"code.sidecar.dev/sidecar/protocol"
)

// TestCheckText: nothing is asked for under another name than it has.
func TestCheckText(t *testing.T) {
	const latin = "caf\xe9"
	for name, tt := range map[string]struct {
		params protocol.RunParams
		want   string
	}{
		"text":     {protocol.RunParams{Language: "bash", Code: "echo é", Args: []string{"é"}, Env: map[string]string{"A": "é"}, Cwd: "é"}, ""},
		"code":     {protocol.RunParams{Language: "python", Code: "# coding: latin-1\nprint('" + latin + "')"}, "the code is not UTF-8"},
		"command":  {protocol.RunParams{Command: []string{"rm", latin}}, `"caf\xe9" is not UTF-8`},
		"argument": {protocol.RunParams{Args: []string{latin}}, `"caf\xe9" is not UTF-8`},
		"folder":   {protocol.RunParams{Cwd: latin}, `"caf\xe9" is not UTF-8`},
		"variable": {protocol.RunParams{Env: map[string]string{"A": latin}}, `the variable "A" is not UTF-8`},
	} {
		got := ""
		if err := checkText(protocol.RunRequest{RunParams: tt.params}); err != nil {
			got = protocol.AsError(err).Message
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

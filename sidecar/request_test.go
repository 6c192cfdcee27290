package sidecar

import (
	"strings"
	"testing"

	"code.sidecar.dev/sidecar/protocol"
)

// TestLengths: what the kernel starts no program with is refused, and the last that it does is not.
func TestLengths(t *testing.T) {
	most := strings.Repeat("a", 128<<10-1)
	for name, tc := range map[string]struct {
		params protocol.RunParams
		want   string
	}{
		"argument":           {protocol.RunParams{Args: []string{"a", most}}, ""},
		"too long":           {protocol.RunParams{Args: []string{"a", most + "a"}}, "argument 2 has 131072 bytes, and a program starts with at most 131071 in one"},
		"of a command":       {protocol.RunParams{Command: []string{"sh", "-c", most + "a"}}, "argument 2 has 131072 bytes, and a program starts with at most 131071 in one"},
		"variable":           {protocol.RunParams{Env: map[string]string{"AB": most[3:]}}, ""},
		"long variable":      {protocol.RunParams{Env: map[string]string{"AB": most[2:]}}, "the environment variable AB has 131072 bytes with its name, and a program starts with at most 131071 in one"},
		"a session's call":   {protocol.RunParams{SessionName: "s", Args: []string{most + "a"}}, ""},
		"input and its code": {protocol.RunParams{Code: most + "a", Stdin: most + "a"}, ""},
	} {
		got := ""
		if err := checkTexts(tc.params); err != nil {
			got = protocol.AsError(err).Message
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

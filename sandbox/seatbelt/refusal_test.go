package seatbelt

import "testing"

func TestParseRefusal(t *testing.T) {
	for line, want := range map[string]Refusal{
		`{"eventMessage":"Sandbox: bash(1234) deny(1) file-write-create \/Users\/me\/p\/.git\/config\nsidecar-1","processID":0}`: {"bash", "file-write-create", "/Users/me/p/.git/config"},
		`{"eventMessage":"Sandbox: my tool (x)(77) deny(1) mach-lookup com.apple.SecurityServer\nsidecar-1"}`:                    {"my tool (x)", "mach-lookup", "com.apple.SecurityServer"},
		`{"eventMessage":"node(5) deny(1) network-outbound 1.1.1.1:443 sidecar-1"}`:                                              {"node", "network-outbound", "1.1.1.1:443"},
		`{"eventMessage":"Sandbox: x(5) deny(1) process-fork\nsidecar-1"}`:                                                       {"x", "process-fork", ""},
		`{"eventMessage":"Sandbox: x(5) deny(1) file-read-data /a\nsidecar-2"}`:                                                  {},
		`{"eventMessage":"Sandbox: x(5) allow file-read-data /a\nsidecar-1"}`:                                                    {},
		`Filtering the log data using "eventMessage ENDSWITH sidecar-1"`:                                                         {},
	} {
		got, ok := ParseRefusal([]byte(line), "sidecar-1")
		if got != want || ok != (want != Refusal{}) {
			t.Errorf("%s: %+v %v", line, got, ok)
		}
	}
}

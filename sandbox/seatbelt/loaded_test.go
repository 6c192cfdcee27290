package seatbelt

import (
	"strings"
	"testing"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/seatbelt/sbpl"
)

var mac = sandbox.Host{Backend: sandbox.Seatbelt, Shim: "/opt/sidecar/bin/sidecar", Seat: sandbox.Seat{Private: "/private/var/folders/zz/x/T/sidecar-run-1", Tag: "sidecar-1"}}

// planned is a plan with the profile in it.
type planned struct {
	sandbox.Plan
	text    string
	profile *sbpl.Profile
}

// loaded plans a run and reads the profile with the plan's own parameters.
func loaded(t testing.TB, p sandbox.Policy) planned {
	t.Helper()
	plan, err := New(p, mac)
	if err != nil {
		t.Fatal(err)
	}
	out := planned{Plan: plan, text: string(plan.Private.Files[len(plan.Private.Files)-1].Data)}
	params := map[string]string{}
	for i, a := range plan.Argv {
		if name, value, ok := strings.Cut(a, "="); ok && plan.Argv[i-1] == "-D" {
			params[name] = value
		}
	}
	if out.profile, err = sbpl.Load(out.text, params, nil); err != nil {
		t.Fatalf("%v\n%s", err, out.text)
	}
	return out
}

package sidecar

import (
	"testing"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/declared"
)

// TestDeclaredPinsAreARunsOwn: the pins of a workspace are shared by its runs, and what one declares is added to none of the
// others'.
func TestDeclaredPinsAreARunsOwn(t *testing.T) {
	shared := make([]sandbox.Pin, 1, 8)
	g := granted{mounts: []declared.Mount{{Source: "/d", Target: "/d", Write: true, Folder: true}, {Source: "/e", Target: "/d/between/e", Folder: true}}}
	p := sandbox.Policy{Pins: shared}
	g.mountsInto(&p)
	if len(p.Pins) != 2 || p.Pins[1].Path != "/d/between" {
		t.Fatalf("pins %v, want one more, for /d/between", p.Pins)
	}
	if other := shared[:2]; other[1].Path != "" {
		t.Errorf("%s was written into what all runs share", other[1].Path)
	}
}

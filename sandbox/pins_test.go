package sandbox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sandbox"
)

func TestBuildPinsMakesEveryFolderAboveABorder(t *testing.T) {
	frozen := func(p string) sandbox.Pin { return sandbox.Pin{Path: p, Kind: sandbox.Frozen} }
	folder := func(h sandbox.Pin) sandbox.Pin { h.Folder = true; return h }
	border := func(p string) sandbox.Pin { return sandbox.Pin{Path: p, Kind: sandbox.Border, Folder: true} }
	for _, tt := range []struct {
		name  string
		roots []string
		held  []sandbox.Pin
		want  []sandbox.Pin
	}{
		{"a file at the root needs no border", []string{"/w"}, []sandbox.Pin{frozen("/w/.envrc")},
			[]sandbox.Pin{{Path: "/w/.envrc", Kind: sandbox.Frozen}}},
		{"each folder from the root down is one", []string{"/w"}, []sandbox.Pin{frozen("/w/a/b/c")},
			[]sandbox.Pin{border("/w/a"), border("/w/a/b"), {Path: "/w/a/b/c", Kind: sandbox.Frozen}}},
		{"what a frozen folder holds needs no mount", []string{"/w"}, []sandbox.Pin{folder(frozen("/w/h")), frozen("/w/h/x/y")},
			[]sandbox.Pin{{Path: "/w/h", Kind: sandbox.Frozen, Folder: true}}},
		{"but a thawed folder in it does, and what is frozen in that", []string{"/w"},
			[]sandbox.Pin{folder(frozen("/w/t")), {Path: "/w/t/own", Kind: sandbox.Thawed, Folder: true}, frozen("/w/t/own/commondir"), frozen("/w/t/other/x")},
			[]sandbox.Pin{{Path: "/w/t", Kind: sandbox.Frozen, Folder: true}, {Path: "/w/t/own", Kind: sandbox.Thawed, Folder: true}, {Path: "/w/t/own/commondir", Kind: sandbox.Frozen}}},
		{"the innermost root counts", []string{"/w", "/w/in"}, []sandbox.Pin{frozen("/w/in/a/f")},
			[]sandbox.Pin{border("/w/in/a"), {Path: "/w/in/a/f", Kind: sandbox.Frozen}}},
		{"outside every root nothing is writable", []string{"/w"}, []sandbox.Pin{frozen("/x/f"), frozen("/wx/f"), frozen("/w")}, nil},
		{"a frozen folder wins over the border it would be", []string{"/w"}, []sandbox.Pin{frozen("/w/a/f"), folder(frozen("/w/a"))},
			[]sandbox.Pin{{Path: "/w/a", Kind: sandbox.Frozen, Folder: true}}},
		{"parents precede, also where a neighbour sorts between", []string{"/w"}, []sandbox.Pin{frozen("/w/a/f"), frozen("/w/a-b/f")},
			[]sandbox.Pin{border("/w/a"), {Path: "/w/a/f", Kind: sandbox.Frozen}, border("/w/a-b"), {Path: "/w/a-b/f", Kind: sandbox.Frozen}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, sandbox.BuildPins(tt.roots, tt.held)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

package shim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeReadsWhatEncodeWrote(t *testing.T) {
	for _, want := range []Plan{
		{},
		{
			Pins:    []Pin{{Border, true, "/w/.git"}, {Frozen, false, "/w/.git/config"}, {Frozen, false, "/w/a\nb \xff"}},
			Scratch: []Scratch{{"/tmp", 1000}},
			PIDMax:  512, NewUser: true, UID: 1000, GID: 100,
			Limits: []Limit{{7, 1024}, {2, 1 << 40}}, Filter: []byte{1, 2, 0, 255},
			Dir: "/w", Argv: []string{"/bin/sh", "-c", "x"}, Env: []string{"A=", "B=1"},
		},
	} {
		got, err := Decode(want.Encode())
		if err != nil || !cmp.Equal(got, want, cmp.Comparer(func(a, b []byte) bool { return string(a) == string(b) })) {
			t.Errorf("err %v, diff %s", err, cmp.Diff(want, got))
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Plan{Argv: []string{"a"}, Pins: []Pin{{Border, true, "/x"}}}.Encode())
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = Decode(b) })
}

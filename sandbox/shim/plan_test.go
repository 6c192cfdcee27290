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
			Sockets: []Socket{{true, "\x7f\x00\x00\x01", 53}, {false, string(make([]byte, 16)), 65535}},
			Picks:   []Pick{{"/run/sidecar/pick0", "/nix/store", []string{"a", "b"}}}, Keep: true,
			Terminal: true, Rows: 24, Columns: 80,
			Dir: "/w", Argv: []string{"/bin/sh", "-c", "x"}, Env: []string{"A=", "B=1"},
			Same: []Same{{"/home/me/file", 1<<63 + 5, 7}},
		},
	} {
		got, err := Decode(want.Encode())
		if err != nil || !cmp.Equal(got, want, cmp.Comparer(func(a, b []byte) bool { return string(a) == string(b) })) {
			t.Errorf("err %v, diff %s", err, cmp.Diff(want, got))
		}
	}
}

func TestDecodeOrderReadsWhatMessageWrote(t *testing.T) {
	want := Order{Pins: []Pin{{Frozen, true, "/w/sub/.git"}}, Told: 9, Signal: 15, Continue: true, Sockets: []Socket{{false, "abcd", 80}}, First: 7, Tree: true, Times: true}
	got, err := DecodeOrder(want.Message()[4:])
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("err %v, diff %s", err, cmp.Diff(want, got))
	}
}

// Whatever bytes come: what is read says the same again when it is written, and takes no more memory than its bytes can say.
func FuzzDecode(f *testing.F) {
	f.Add(Plan{Argv: []string{"a"}, Pins: []Pin{{Border, true, "/x"}}}.Encode())
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Decode(p.Encode())
		if err != nil || !cmp.Equal(p, again) {
			t.Errorf("%v %s", err, cmp.Diff(p, again))
		}
		if n := len(p.Pins) + len(p.Picks) + len(p.Argv) + len(p.Env) + len(p.Filter); n > len(b) {
			t.Errorf("%d parts of %d bytes", n, len(b))
		}
	})
}

// The same for an order, which may hand over a whole run.
func FuzzDecodeOrder(f *testing.F) {
	f.Add(Order{Signal: 15, Tree: true, Pins: []Pin{{Frozen, false, "/w/.git/config"}}}.Message()[4:])
	f.Add(Order{Hand: &Handover{Files: []File{{"/a", "b", 0o444}}, Links: []Link{{"/c", "d"}}, Argv: []string{"x"}, Release: "y"}}.Message()[4:])
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := DecodeOrder(b)
		if err != nil {
			return
		}
		again, err := DecodeOrder(o.Message()[4:])
		if err != nil || !cmp.Equal(o, again) {
			t.Errorf("%v %s", err, cmp.Diff(o, again))
		}
	})
}

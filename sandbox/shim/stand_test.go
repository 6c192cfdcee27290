package shim

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeReadsAPlanThatStands(t *testing.T) {
	for _, want := range []Plan{
		{Stands: true},
		{Stands: true, Late: []string{"/w", "/srv/a\nb \xff"}, Waits: "/run/sidecar/code/main.py", Argv: []string{"/usr/bin/python3"}, Env: []string{"A=1"}},
	} {
		got, err := Decode(want.Encode())
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b []byte) bool { return string(a) == string(b) })); err != nil || diff != "" {
			t.Errorf("err %v, diff %s", err, diff)
		}
	}
}

func TestDecodeReadsAHandover(t *testing.T) {
	for _, hand := range []Handover{
		{},
		{
			Pins:  []Pin{{Border, true, "/w/.git"}, {Frozen, false, "/w/.git/config"}},
			Files: []File{{"/run/sidecar/code/main.py", strings.Repeat("x\x00\xff", 1<<19), 0o444}, {"/run/sidecar/code/empty", "", 0}},
			Links: []Link{{"/run/sidecar/code/cwd", "/w/it's \xff"}},
			Dir:   "/w", Argv: []string{"/bin/sh", "-c", ""}, Env: []string{"A=", "B=1"}, Release: strings.Repeat("code\n", 1<<18),
		},
	} {
		want := Order{Pins: []Pin{{Covered, false, "/w/s"}}, First: 3, Hand: &hand}
		message := want.Message()
		n := int(message[0]) | int(message[1])<<8 | int(message[2])<<16 | int(message[3])<<24
		got, err := DecodeOrder(message[4:])
		if diff := cmp.Diff(want, got); err != nil || n != len(message)-4 || diff != "" {
			t.Errorf("err %v, length %d of %d, diff %.2000s", err, n, len(message)-4, diff)
		}
	}
}

// A message that is cut short is an error wherever it ends.
func TestAHandoverThatIsCutShort(t *testing.T) {
	hand := Handover{Pins: []Pin{{Border, true, "/w"}}, Files: []File{{"/f", "data", 0o444}}, Links: []Link{{"/l", "to"}}, Dir: "/", Argv: []string{"a"}, Env: []string{"b"}, Release: "go"}
	whole := Order{Hand: &hand}.Message()[4:]
	for n := range whole {
		if o, err := DecodeOrder(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes give %+v", n, len(whole), o)
		}
	}
}

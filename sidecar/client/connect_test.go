package client

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

// Two programs never both think that they are the newer one.
func TestNewer(t *testing.T) {
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	build := func(version string, at time.Time) protocol.Build { return protocol.Build{Version: version, Time: at} }
	for _, test := range []struct {
		name  string
		a, b  protocol.Build
		newer bool
	}{
		{"a later release", build("v1.2.0", early), build("v1.1.9", late), true},
		{"an earlier release", build("v1.1.9", late), build("v1.2.0", early), false},
		{"a release without v", build("1.10.0", early), build("v1.9.0", late), true},
		{"a release and its candidate", build("v1.2.0", early), build("v1.2.0-rc.1", late), true},
		{"the same release, written later", build("v1.2.0", late), build("v1.2.0", early), true},
		{"the same file", build("v1.2.0", late), build("v1.2.0", late), false},
		{"builds of a developer", build("dev", late), build("dev", early), true},
		{"a developer's build and a release", build("dev", early), build("v1.2.0", late), true},
		{"a release and a developer's build", build("v1.2.0", late), build("dev", early), false},
		{"Nix sets every time to 1", build("dev", early), build("dev", early), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := newer(test.a, test.b); got != test.newer {
				t.Errorf("got %v", got)
			}
			if newer(test.a, test.b) && newer(test.b, test.a) {
				t.Error("each replaces the other")
			}
		})
	}
}

// Who is told to end while it connects has not lost a sidecar.
func TestCancelledWhileConnecting(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := new(net.Dialer).DialContext(ctx, "unix", filepath.Join(t.TempDir(), "socket"))
	if err = explained(err); kindOf(err) != protocol.Cancelled {
		t.Errorf("it is said: %v", err)
	}
}

package nix

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// A binary cache that takes connections and never answers costs seconds, and the build goes on without it.
func TestSilentSubstituter(t *testing.T) {
	nixpkgs := requireNix(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	o := nixpkgs.quiet(t)
	o.Config["stalled-download-timeout"] = "2"
	o.Substituters = []string{"http://" + silent.Addr().String()}
	began := time.Now()
	if _, err := openWith(t, o).Build(t.Context(), Spec{Nixpkgs: unique(t)}, nil); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 60*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Without a network, and with one that is forbidden, what is not there is said in seconds.
func TestNoNetwork(t *testing.T) {
	nixpkgs := requireNix(t)
	for _, offline := range []bool{true, false} {
		o := nixpkgs.options(t)
		o.Offline = offline
		// No name of this domain resolves.
		_, err := openWith(t, o).Build(t.Context(), Spec{Nixpkgs: Source{Ref: "https://nixpkgs.invalid/x.tar.gz"}}, nil)
		var fetch *FetchError
		if !errors.As(err, &fetch) || strings.Contains(err.Error(), "nix.offline") != offline {
			t.Errorf("offline %v: %T %v", offline, err, err)
		}
	}
}

// A store that works says so, and one that cannot be made says why.
func TestCheck(t *testing.T) {
	nixpkgs := requireNix(t)
	if err := nixpkgs.open(t).Check(t.Context()); err != nil {
		t.Error(err)
	}
	o := nixpkgs.options(t)
	o.Root = "/dev/null/store"
	var bad *StoreError
	if err := openWith(t, o).Check(t.Context()); !errors.As(err, &bad) {
		t.Errorf("%T %v", err, err)
	}
}

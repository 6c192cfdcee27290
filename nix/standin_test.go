package nix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// standIn is the stand-in for nixpkgs (test/nixpkgs), ready in a store.
type standIn struct {
	// folder has what tests with it share; tree is the stand-in's own.
	folder, tree string
	config       map[string]string
	err          error
}

var shared = sync.OnceValue(func() *standIn {
	folder, err := os.MkdirTemp("", "sidecar-nix.")
	if err != nil {
		return &standIn{err: err}
	}
	s := &standIn{folder: folder, tree: filepath.Join(folder, "nixpkgs")}
	registry := filepath.Join(folder, "registry.json")
	s.config = map[string]string{"build-users-group": "", "sandbox": "false", "max-jobs": "2"}
	s.err = errors.Join(
		os.WriteFile(registry, []byte(`{"flakes":[],"version":2}`), 0o600),
		os.Mkdir(s.tree, 0o755),
		s.setup(),
	)
	return s
})

// setup puts the stand-in's seeds into a store, the machine's unless flags name another.
func (s *standIn) setup(flags ...string) error {
	source, err := filepath.Abs("../test/nixpkgs")
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(source, "*.nix"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.tree, filepath.Base(file)), text, 0o644); err != nil {
			return err
		}
	}
	cmd := exec.Command(filepath.Join(source, "setup.sh"), append(flags, "--out", s.tree)...)
	cmd.Env = append(os.Environ(), "NIX_CONFIG=build-users-group =")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("setup.sh: %w: %s", err, out)
	}
	return nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if requested {
		_ = os.RemoveAll(shared().folder)
	}
	os.Exit(code)
}

var requested bool

// requireNix skips a test that this machine cannot run; where CI is set, that is a failure. SIDECAR_TEST_NIX names
// another nix than that on PATH.
func requireNix(t testing.TB) *standIn {
	t.Helper()
	skip := t.Skipf
	if os.Getenv("CI") != "" {
		skip = t.Fatalf
	}
	for _, program := range []string{"nix", "bwrap", "apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(program); err != nil {
			skip("needs %s: %v", program, err)
		}
	}
	if os.Geteuid() != 0 {
		skip("the machine's store is written: needs root")
	}
	requested = true
	s := shared()
	if s.err != nil {
		skip("the stand-in for nixpkgs: %v", s.err)
	}
	return s
}

// options are those of a store in a folder of its own.
func (s *standIn) options(t testing.TB) Options {
	return Options{
		Dir: filepath.Join(t.TempDir(), "cache"), Program: os.Getenv("SIDECAR_TEST_NIX"), Path: os.Getenv("PATH"),
		Environ:      []string{"HOME=" + s.folder, "XDG_CACHE_HOME=" + filepath.Join(s.folder, "cache")},
		Substituters: []string{}, Config: s.config, Limit: 2 * time.Minute,
	}
}

// open makes a store with the stand-in's settings.
func (s *standIn) open(t testing.TB) *Store {
	t.Helper()
	return openWith(t, s.options(t))
}

func openWith(t testing.TB, o Options) *Store {
	t.Helper()
	store, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// nixpkgs is the reference to the stand-in.
func (s *standIn) nixpkgs() Source { return Source{Ref: "path:" + s.tree} }

// build builds an environment of packages that must succeed.
func (s *standIn) build(t testing.TB, store *Store, interpreter string, packages ...string) Built {
	t.Helper()
	built, err := store.Build(t.Context(), Spec{Nixpkgs: s.nixpkgs(), Interpreter: interpreter, Packages: packages}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// output runs a program of an environment where there is nothing but its closure.
func (b Built) output(t testing.TB, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	argv := []string{"--unshare-all", "--die-with-parent", "--clearenv", "--setenv", "PATH", b.Bin(), "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/tmp"}
	for _, path := range b.Closure {
		argv = append(argv, "--ro-bind", b.Real(path), path)
	}
	argv = append(append(argv, b.Bin()+"/"+program), args...)
	out, err := exec.CommandContext(ctx, "bwrap", argv...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

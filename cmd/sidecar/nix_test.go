package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestNixScripts runs testdata/nix with the real binary, real Nix and the stand-in for nixpkgs.
func TestNixScripts(t *testing.T) {
	requireSandbox(t)
	bin := buildBinary(t)
	tree := standIn(t)
	mkEnv, err := filepath.Abs("../../nix/mkEnv.nix")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/nix",
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			for name, value := range map[string]string{
				"HOME": home, "XDG_STATE_HOME": filepath.Join(home, "state"), "XDG_CONFIG_HOME": filepath.Join(home, "config"), "XDG_CACHE_HOME": filepath.Join(home, "cache"),
				"GIT_CONFIG_NOSYSTEM": "1", "PATH": filepath.Dir(bin) + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "STANDIN": tree, "MKENV": mkEnv, "SIDECARPATH": filepath.Dir(bin) + ":/usr/local/bin:/usr/bin:/bin",
				"NIX_USER_CONF_FILES": filepath.Join(home, "nix.conf"),
			} {
				e.Setenv(name, value)
			}
			config := filepath.Join(home, "config", "sidecar")
			if err := os.MkdirAll(config, 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(home, "nix.conf"), []byte("build-users-group =\n"), 0o600); err != nil {
				return err
			}
			settings := fmt.Sprintf("nix:\n  nixpkgs: path:%s\n  substituters: []\n  package_denylist: [hello]\n", tree)
			return os.WriteFile(filepath.Join(config, "config.yaml"), []byte(settings), 0o600)
		},
	})
}

// standIn is a nixpkgs that real Nix builds offline: see test/nixpkgs, and its setup.sh for the flags.
func standIn(t *testing.T, flags ...string) string {
	t.Helper()
	skip := t.Skipf
	if os.Getenv("CI") != "" {
		skip = t.Fatalf
	}
	for _, program := range []string{"nix", "apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(program); err != nil {
			skip("needs %s: %v", program, err)
		}
	}
	if os.Geteuid() != 0 {
		skip("the machine's store is written: needs root")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../test/nixpkgs")); err != nil {
		t.Fatal(err)
	}
	setup := exec.Command("bash", append([]string{filepath.Join(dir, "setup.sh")}, flags...)...)
	setup.Env = append(os.Environ(), "NIX_CONFIG=build-users-group =")
	if out, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("setup.sh: %v\n%s", err, out)
	}
	return dir
}

// TestNixOverMCP has a client ask for packages over MCP, and hears how far the build is.
func TestNixOverMCP(t *testing.T) {
	requireSandbox(t)
	bin := buildBinary(t)
	tree := standIn(t)
	dir := t.TempDir()
	cmd := exec.Command(bin, "mcp", "--workspace", dir, "--in-process")
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(), "SIDECAR_NIX_NIXPKGS=path:"+tree, "SIDECAR_NIX_OFFLINE=true", "NIX_USER_CONF_FILES="+noBuildUsers(t))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	lines := bufio.NewReader(out)
	ask := func(id int, method, params string) (result, progress string) {
		_, _ = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		for {
			line, err := lines.ReadString('\n')
			if err != nil && err != io.EOF {
				t.Fatal(err)
			}
			var m struct {
				ID     int
				Params struct{ Message string }
			}
			if json.Unmarshal([]byte(line), &m) != nil || err == io.EOF {
				t.Fatalf("got %q", line)
			}
			if m.ID == id {
				return line, progress
			}
			progress += m.Params.Message
		}
	}
	ask(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	call := `{"name":"run_code","arguments":{"language":"python","code":"import tinytable, os; print(len(os.listdir('/nix/store')), os.path.exists('/usr/lib'))","packages":["python3Packages.tinytable","ripgrep"]},"_meta":{"progressToken":"p"}}`
	result, progress := ask(2, "tools/call", call)
	if !strings.Contains(result, `"exitCode":0`) || !strings.Contains(result, "False") {
		t.Errorf("result %s", result)
	}
	if !strings.Contains(progress, "evaluating") {
		t.Errorf("progress %q", progress)
	}
	if _, progress = ask(3, "tools/call", call); strings.Contains(progress, "evaluating") {
		t.Errorf("it was evaluated again: %q", progress)
	}
	envs, _ := ask(4, "tools/call", `{"name":"list_envs","arguments":{}}`)
	for _, want := range []string{`"id":"host"`, `"id":"shell"`, `"notBuilt":true`, "ripgrep"} {
		if !strings.Contains(envs, want) {
			t.Errorf("list_envs lacks %s: %s", want, envs)
		}
	}
	buildFails(t, ask)
	refused, _ := ask(5, "tools/call", `{"name":"run_code","arguments":{"language":"bash","code":"true","packages":["ripgrpe"]}}`)
	if !strings.Contains(refused, `"isError":true`) || !strings.Contains(refused, "did you mean ripgrep") {
		t.Errorf("an unknown package: %s", refused)
	}
}

// A build that fails says how: the end of its log in the error, and the whole as a resource.
func buildFails(t *testing.T, ask func(int, string, string) (string, string)) {
	t.Helper()
	failed, _ := ask(6, "tools/call", `{"name":"run_code","arguments":{"language":"python","code":"1","packages":["python3Packages.brokenbuild"]}}`)
	for _, want := range []string{"build_failed", "this build always fails", "sidecar://builds/"} {
		if !strings.Contains(failed, want) {
			t.Errorf("a failed build lacks %q: %s", want, failed)
		}
	}
	uri := regexp.MustCompile(`sidecar://builds/[^"\\]+`).FindString(failed)
	if log, _ := ask(7, "resources/read", fmt.Sprintf(`{"uri":%q}`, uri)); !strings.Contains(log, "this build always fails") {
		t.Errorf("its log %s: %s", uri, log)
	}
}

// noBuildUsers is a nix.conf for root without Nix's own users, as in a container.
func noBuildUsers(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "nix.conf")
	if err := os.WriteFile(name, []byte("build-users-group =\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

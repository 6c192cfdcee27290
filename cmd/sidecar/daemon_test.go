package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestDaemonScripts runs testdata/daemon as an ordinary user, with a real daemon of Nix that root started.
func TestDaemonScripts(t *testing.T) {
	requireSandbox(t)
	bin, tree := buildBinary(t), standIn(t, "--nix")
	person, builders := makeUser(t, "sidecar-person"), buildGroup(t)
	code, err := filepath.Abs("../../nix")
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp("/tmp", "sd-") // short: the path of a socket has 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	for _, dir := range []string{root, filepath.Dir(bin), filepath.Dir(filepath.Dir(bin)), tree, filepath.Dir(tree)} {
		if dir == filepath.Clean(os.TempDir()) { // everybody's, and to stay so
			continue
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/daemon", WorkdirRoot: root,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"daemon": startDaemon, "as": asPerson, "gone": gone},
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			d := &daemon{dir: filepath.Join(e.WorkDir, "nix"), group: builders}
			e.Values["daemon"], e.Values["person"] = d, person
			e.Defer(d.stop)
			for name, value := range map[string]string{
				"HOME": home, "XDG_RUNTIME_DIR": "", "PATH": filepath.Dir(bin) + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "GIT_CONFIG_NOSYSTEM": "1",
				"NIX_DAEMON_SOCKET_PATH": d.socket(), "NIX_CONF_DIR": d.dir, "STANDIN": tree, "NIXCODE": code, "WORD": fmt.Sprintf("word%d", os.Getpid()),
			} {
				e.Setenv(name, value)
			}
			config := filepath.Join(home, ".config", "sidecar")
			if err := errors.Join(os.MkdirAll(config, 0o755), os.Mkdir(d.dir, 0o755)); err != nil {
				return err
			}
			settings := fmt.Sprintf("nix:\n  allow_nix: true\n  nixpkgs: path:%s\n  substituters: []\n", tree)
			if err := os.WriteFile(filepath.Join(config, "config.yaml"), []byte(settings), 0o644); err != nil {
				return err
			}
			return giveTo(person, e.WorkDir)
		},
	})
}

// giveTo makes all in a folder the person's.
func giveTo(person *user.User, dir string) error {
	out, err := exec.Command("chown", "-R", person.Username, dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// makeUser makes a user for the time of the test.
func makeUser(t *testing.T, name string, args ...string) *user.User {
	t.Helper()
	if _, err := user.Lookup(name); err != nil {
		args = append([]string{"--system", "--no-create-home", "--shell", "/usr/sbin/nologin"}, args...)
		if out, err := exec.Command("useradd", append(args, name)...).CombinedOutput(); err != nil {
			t.Fatalf("useradd: %v: %s", err, out)
		}
		t.Cleanup(func() { // as soon as the sidecars have noticed that their workspaces are gone
			if err := await("userdel "+name, func() bool { return exec.Command("userdel", name).Run() == nil }); err != nil {
				t.Error(err)
			}
		})
	}
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// buildGroup is the group of Nix's build users: the machine's, or one for the time of the test.
func buildGroup(t *testing.T) string {
	t.Helper()
	if g, err := user.LookupGroup("nixbld"); err == nil {
		return g.Name
	}
	const name = "sidecar-nixbld"
	if out, err := exec.Command("groupadd", "--force", "--system", name).CombinedOutput(); err != nil {
		t.Fatalf("groupadd: %v: %s", err, out)
	}
	t.Cleanup(func() { // a daemon gives the store to its group
		_ = exec.Command("groupdel", name).Run()
		_ = errors.Join(os.Chown("/nix/store", 0, 0), os.Chmod("/nix/store", 0o755))
	})
	for i := range 2 {
		makeUser(t, name+strconv.Itoa(i+1), "-g", name, "-G", name)
	}
	return name
}

// daemon is a nix-daemon of root's.
type daemon struct {
	dir, group string
	cmd        *exec.Cmd
}

func (d *daemon) socket() string { return filepath.Join(d.dir, "socket") }

// start starts it with these lines in its nix.conf; later ones win.
func (d *daemon) start(lines ...string) error {
	d.stop()
	conf := append([]string{"build-users-group = " + d.group, "sandbox = true", "sandbox-fallback = false", "substituters ="}, lines...)
	if err := os.WriteFile(filepath.Join(d.dir, "nix.conf"), []byte(strings.Join(conf, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(d.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("nix-daemon")
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/root", "NIX_CONF_DIR=" + d.dir, "NIX_DAEMON_SOCKET_PATH=" + d.socket()}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	d.cmd = cmd
	return await("the daemon", func() bool {
		conn, err := net.Dial("unix", d.socket())
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// stop ends it, and takes its socket away.
func (d *daemon) stop() {
	if d.cmd != nil {
		_ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGTERM)
		_ = d.cmd.Wait()
		d.cmd = nil
	}
	_ = os.Remove(d.socket())
}

// await waits until something holds.
func await(what string, holds func() bool) error {
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("waited in vain: %s", what)
		}
	}
	return nil
}

// startDaemon is the command daemon [LINE...]; `! daemon` ends it.
func startDaemon(ts *testscript.TestScript, neg bool, args []string) {
	d := ts.Value("daemon").(*daemon)
	if d.stop(); neg {
		return
	}
	ts.Check(d.start(args...))
}

// asPerson is the command as PROGRAM...: as the ordinary user.
func asPerson(ts *testscript.TestScript, neg bool, args []string) {
	// runuser sets HOME to what the user has in passwd(5).
	err := ts.Exec("runuser", append([]string{"-u", ts.Value("person").(*user.User).Username, "--", "env", "HOME=" + ts.Getenv("HOME")}, args...)...)
	if (err != nil) != neg {
		ts.Fatalf("%q: %v", args, err)
	}
}

// gone is the command gone WORD: it waits until no process has the word among its variables or arguments.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone WORD")
	}
	ts.Check(await("the end of "+args[0], func() bool {
		for _, pattern := range []string{"/proc/[0-9]*/environ", "/proc/[0-9]*/cmdline"} {
			files, _ := filepath.Glob(pattern)
			for _, file := range files {
				if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), args[0]) && filepath.Base(filepath.Dir(file)) != strconv.Itoa(os.Getpid()) {
					return false
				}
			}
		}
		return true
	}))
}

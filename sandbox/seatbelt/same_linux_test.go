package seatbelt_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/bubblewrap"
	"code.sidecar.dev/sandbox/seatbelt"
	"code.sidecar.dev/sandbox/seatbelt/sbpl"
)

// TestOnePolicy does things in a real sandbox of bubblewrap, and asks the profile of the same policy for the same: both
// allow, or both refuse.
func TestOnePolicy(t *testing.T) {
	b := newBoth(t)
	port := b.service()
	for _, c := range []struct {
		does string
		asks func(*sbpl.Profile, func(string) string) sbpl.Answer
		want bool
	}{
		{`cat WS/f`, read("WS/f"), true},
		{`echo x >>WS/f`, write("WS/f"), true},
		{`mkdir WS/new`, create("WS/new"), true},
		{`mv WS/m1 WS/m2`, moveNew("WS/m1", "WS/m2"), true},
		{`rm WS/gone`, remove("WS/gone"), true},
		{`cat WS/.git/config`, read("WS/.git/config"), true},
		{`echo x >>WS/.git/config`, write("WS/.git/config"), false},
		{`rm -f WS/.git/config`, remove("WS/.git/config"), false},
		{`mv WS/evil WS/.git/config`, move("WS/evil", "WS/.git/config"), false},
		{`ln WS/.git/config WS/alias`, link("WS/.git/config", "WS/alias"), false},
		{`mv WS/.git WS/old`, moveNew("WS/.git", "WS/old"), false},
		{`echo x >WS/.git/hooks/pre-commit`, create("WS/.git/hooks/pre-commit"), false},
		{`echo x >WS/.git/HEAD`, write("WS/.git/HEAD"), true},
		{`mkdir WS/.git/objects/aa`, create("WS/.git/objects/aa"), true},
		{`echo x >WS/.git/worktrees/me/index`, create("WS/.git/worktrees/me/index"), true},
		{`echo x >WS/.git/worktrees/other`, create("WS/.git/worktrees/other"), false},
		{`mv WS/.git/worktrees/me WS/w`, moveNew("WS/.git/worktrees/me", "WS/w"), false},
		{`test -s WS/secret/key`, read("WS/secret/key"), false},
		{`mv WS WS.x`, moveNew("WS", "WS.x"), false},
		{`cat OUT/token`, read("OUT/token"), false},
		{`ls OUT`, read("OUT"), false},
		{`echo x >OUT/new`, create("OUT/new"), false},
		{`cat READ/data`, read("READ/data"), true},
		{`echo x >READ/new`, create("READ/new"), false},
		{`rm -f READ/data`, remove("READ/data"), false},
		{`/usr/bin/env true`, execute("/usr/bin/env"), true},
		{`echo x >/usr/bin/sidecar-test`, create("/usr/bin/sidecar-test"), false},
		{`echo x >"$TMPDIR/x" && cat "$TMPDIR/x"`, create("TMP/x"), true},
		{`echo x >"$HOME/x"`, create("HOME/x"), true},
		{`cat /run/sidecar/gitconfig`, read("OWN/gitconfig"), true},
		{`echo x >/run/sidecar/gitconfig`, write("OWN/gitconfig"), false},
		{`kill -0 PID`, func(p *sbpl.Profile, _ func(string) string) sbpl.Answer {
			return p.Decide(sbpl.Query{Op: "signal", Target: "others"})
		}, false},
		{`kill -0 $$`, func(p *sbpl.Profile, _ func(string) string) sbpl.Answer {
			return p.Decide(sbpl.Query{Op: "signal", Target: "self"})
		}, true},
		{`exec 3<>/dev/tcp/127.0.0.1/` + port, func(p *sbpl.Profile, _ func(string) string) sbpl.Answer {
			return p.Connect(tcp("127.0.0.1:" + port))
		}, false},
		{`perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0);connect(S,pack_sockaddr_un("OUT/s"))||exit 1'`, func(p *sbpl.Profile, at func(string) string) sbpl.Answer { return p.ConnectUnix(at("OUT/s")) }, false},
	} {
		t.Run(c.does, func(t *testing.T) {
			out, ok := b.does(c.does)
			if a := c.asks(b.profile, b.real); ok != c.want || a.Allowed != c.want || !a.Sure {
				t.Errorf("bubblewrap: %v (%s), the profile: %+v; want %v", ok, out, a, c.want)
			}
		})
	}
}

type question = func(*sbpl.Profile, func(string) string) sbpl.Answer

func read(p string) question    { return one((*sbpl.Profile).Read, p) }
func write(p string) question   { return one((*sbpl.Profile).Write, p) }
func create(p string) question  { return one((*sbpl.Profile).Create, p) }
func remove(p string) question  { return one((*sbpl.Profile).Remove, p) }
func execute(p string) question { return one((*sbpl.Profile).Exec, p) }

func one(ask func(*sbpl.Profile, string) sbpl.Answer, path string) question {
	return func(p *sbpl.Profile, at func(string) string) sbpl.Answer { return ask(p, at(path)) }
}

func move(a, b string) question    { return two((*sbpl.Profile).Move, a, b) }
func moveNew(a, b string) question { return two((*sbpl.Profile).MoveNew, a, b) }
func link(a, b string) question    { return two((*sbpl.Profile).Link, a, b) }

func two(ask func(*sbpl.Profile, string, string) sbpl.Answer, from, to string) question {
	return func(p *sbpl.Profile, at func(string) string) sbpl.Answer { return ask(p, at(from), at(to)) }
}

// both is one policy, planned for both backends.
type both struct {
	t       *testing.T
	top     string
	policy  sandbox.Policy
	host    sandbox.Host
	plan    sandbox.Plan
	profile *sbpl.Profile
}

func newBoth(t *testing.T) *both {
	t.Helper()
	bwrap, err := exec.LookPath("bwrap")
	if err == nil {
		err = exec.Command(bwrap, "--unshare-all", "--ro-bind", "/", "/", "true").Run()
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("bubblewrap does not work here: %v", err)
		}
		t.Skipf("bubblewrap does not work here: %v", err)
	}
	dir, err := os.MkdirTemp("/var/tmp", "both")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	shim := filepath.Join(dir, "shim")
	build := exec.Command("go", "build", "-o", shim, "../testdata/shim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	setup := `mkdir -p ws/.git/hooks ws/.git/objects ws/.git/worktrees/me ws/secret out read; for f in ws/f ws/m1 ws/gone ws/evil ws/.git/config ws/.git/HEAD ws/secret/key out/token read/data; do echo x >$f; done`
	cmd := exec.Command("bash", "-c", setup)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b := &both{t: t, top: dir, host: sandbox.Host{Bubblewrap: bwrap, Shim: shim, Arch: runtime.GOARCH, UserProcessLimit: true, Root: os.Getuid() == 0}}
	b.plans()
	return b
}

// plans makes the policy, but for what only bubblewrap shows: the machine's own links and libraries.
func (b *both) plans() {
	ws := b.top + "/ws"
	pin := func(kind sandbox.PinKind, path string) sandbox.Pin {
		info, err := os.Stat(ws + path)
		return sandbox.Pin{Path: ws + path, Kind: kind, Folder: err == nil && info.IsDir()}
	}
	pins := []sandbox.Pin{pin(sandbox.Frozen, "/.git/config"), pin(sandbox.Frozen, "/.git/hooks"), pin(sandbox.Frozen, "/.git/worktrees"), pin(sandbox.Thawed, "/.git/worktrees/me"), pin(sandbox.Covered, "/secret")}
	b.policy = sandbox.Policy{UID: os.Getuid(), GID: os.Getgid(), Hostname: "box", Dir: ws, Argv: []string{"/usr/bin/bash"},
		Env:     []string{"PATH=/usr/bin:/bin", "HOME=/home/me", "TMPDIR=/tmp"},
		Mounts:  []sandbox.Mount{{Source: "/usr", Target: "/usr"}, {Source: ws, Target: ws, Access: sandbox.ReadWrite}, {Source: b.top + "/read", Target: b.top + "/read"}},
		Scratch: []sandbox.Scratch{{Target: "/tmp", Size: 8 << 20, Mode: 0o1777}, {Target: "/home/me", Size: 8 << 20, Mode: 0o700}},
		Files:   []sandbox.File{{Target: "/run/sidecar/gitconfig", Data: []byte("[user]\n"), Mode: 0o444}},
		Pins:    sandbox.BuildPins([]string{ws}, pins), Limits: sandbox.Limits{Time: time.Minute, Output: 1 << 20}}
	host := b.host
	host.Backend, host.Seat = sandbox.Seatbelt, sandbox.Seat{Private: b.top + "/private", Tag: "both"}
	var err error
	if b.plan, err = seatbelt.New(b.policy, host); err != nil {
		b.t.Fatal(err)
	}
	params := map[string]string{}
	for i, a := range b.plan.Argv {
		if name, value, ok := strings.Cut(a, "="); ok && b.plan.Argv[i-1] == "-D" {
			params[name] = value
		}
	}
	files := b.plan.Private.Files
	if b.profile, err = sbpl.Load(string(files[len(files)-1].Data), params, nil); err != nil {
		b.t.Fatal(err)
	}
}

// service is a service of the host: a port, and a socket.
func (b *both) service() string {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.t.Fatal(err)
	}
	u, err := net.Listen("unix", b.top+"/out/s")
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _, _ = l.Close(), u.Close() })
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// real is a path of the table.
func (b *both) real(p string) string {
	for name, dir := range map[string]string{"WS": "/ws", "OUT": "/out", "READ": "/read", "TMP": "/private/tmp", "HOME": "/private/s1", "OWN": "/private/own"} {
		if strings.HasPrefix(p, name) {
			return b.top + dir + strings.TrimPrefix(p, name)
		}
	}
	return p
}

// does runs a command in a sandbox of bubblewrap.
func (b *both) does(script string) (string, bool) {
	for _, name := range []string{"WS", "OUT", "READ"} {
		script = strings.ReplaceAll(script, name, b.real(name))
	}
	p := b.policy
	p.Argv = []string{"/usr/bin/bash", "-c", strings.ReplaceAll(script, "PID", fmt.Sprint(os.Getpid()))}
	for _, dir := range []string{"/bin", "/lib", "/lib64"} {
		if to, err := os.Readlink(dir); err == nil {
			p.Links = append(p.Links, sandbox.Link{Target: dir, To: to})
		} else if _, err := os.Stat(dir); err == nil {
			p.Mounts = append(p.Mounts, sandbox.Mount{Source: dir, Target: dir})
		}
	}
	plan, err := bubblewrap.New(p, b.host)
	if err != nil {
		b.t.Fatal(err)
	}
	var out bytes.Buffer
	end, err := sandbox.Run(context.Background(), plan, sandbox.IO{Stdout: &out, Stderr: &out})
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.TrimSpace(out.String()), end.ExitCode == 0
}

func tcp(address string) sbpl.Endpoint {
	return sbpl.Endpoint{Protocol: "tcp", Address: netip.MustParseAddrPort(address)}
}

package seatbelt

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/seatbelt/sbpl"
)

var update = flag.Bool("update", false, "write testdata anew")

// feature is a linked worktree with a submodule: what the engine makes of one.
func feature() sandbox.Policy {
	const ws, git = "/Users/me/feature", "/Users/me/main/.git"
	frozen := func(paths ...string) (pins []sandbox.Pin) {
		for _, p := range paths {
			pins = append(pins, sandbox.Pin{Path: p, Kind: sandbox.Frozen})
		}
		return pins
	}
	pins := frozen(git+"/HEAD", git+"/config", git+"/config.worktree", git+"/commondir", git+"/hooks", git+"/index", git+"/modules", git+"/worktrees",
		git+"/worktrees/feature/commondir", git+"/worktrees/feature/gitdir", git+"/worktrees/feature/modules/lib/config", git+"/worktrees/feature/modules/lib/hooks",
		ws+"/.git", ws+"/lib/.git", ws+"/.vscode")
	pins = append(pins, sandbox.Pin{Path: git + "/worktrees/feature", Kind: sandbox.Thawed, Folder: true}, sandbox.Pin{Path: ws + "/agent.sock", Kind: sandbox.Covered})
	name := func(pattern string) sandbox.Name { return sandbox.Name{Root: ws, Pattern: pattern, Anywhere: true} }
	return sandbox.Policy{
		Mounts: []sandbox.Mount{{Source: "/usr", Target: "/usr"}, {Source: "/bin", Target: "/bin"}, {Source: "/opt/homebrew", Target: "/opt/homebrew", Optional: true},
			{Source: ws, Target: ws, Access: sandbox.ReadWrite}, {Source: git, Target: git, Access: sandbox.ReadWrite},
			{Source: "/Users/me/models", Target: "/Users/me/models"}},
		Scratch: []sandbox.Scratch{{Target: "/tmp", Size: 1 << 30}, {Target: "/Users/me", Size: 1 << 30}},
		Files:   []sandbox.File{{Target: "/run/sidecar/gitconfig", Data: []byte("[user]\n"), Mode: 0o444}, {Target: "/run/sidecar/code/main.py", Data: []byte("1\n"), Mode: 0o444}},
		Pins:    sandbox.BuildPins([]string{ws, git}, pins),
		Names: []sandbox.Name{{Root: ws, Pattern: ".git", Anywhere: true, Alone: true}, name(".git/config"), name(".git/hooks"), name(".git/modules/**/config"),
			name(".vscode"), name(".envrc"), name(".mcp.json"), {Root: ws, Pattern: "lefthook.*"}},
		Ports: sandbox.Ports{List: []uint16{50123, 5432}}, Unix: []string{"/nix/var/nix/daemon-socket/socket"},
		Dir: ws + "/lib", Argv: []string{"/usr/bin/python3", "/run/sidecar/code/main.py", "/tmp/x"},
		Env:      []string{"HOME=/Users/me", "PATH=/usr/bin:/bin", "TMPDIR=/tmp", "GIT_CONFIG_GLOBAL=/run/sidecar/gitconfig", "http_proxy=http://127.0.0.1:50123"},
		Hostname: "sidecar", UID: 501, GID: 20, Limits: sandbox.Limits{FileSize: 1 << 30, OpenFiles: 256, Processes: 100},
	}
}

// TestProfileOfAWorktree is the profile as a person reads it.
func TestProfileOfAWorktree(t *testing.T) {
	p := loaded(t, feature())
	file := filepath.Join("testdata", "worktree.sb")
	if *update {
		if err := os.WriteFile(file, []byte(p.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), p.text); diff != "" {
		t.Errorf("go test ./sandbox/seatbelt -update writes it anew (-want +got):\n%s", diff)
	}
	if lines := strings.Count(p.text, "\n"); lines > 200 {
		t.Errorf("%d lines: nobody reads that", lines)
	}
}

// TestRows: each row of the policy's table (docs/macos.md), on both sides.
func TestRows(t *testing.T) {
	p := loaded(t, feature()).profile
	tcp := func(a string) sbpl.Answer {
		return p.Connect(sbpl.Endpoint{Protocol: "tcp", Address: netip.MustParseAddrPort(a)})
	}
	op := func(q sbpl.Query) sbpl.Answer { return p.Decide(q) }
	const private = "/private/var/folders/zz/x/T/sidecar-run-1"
	for row, sides := range map[string]struct{ yes, no []sbpl.Answer }{
		"workspace": {[]sbpl.Answer{p.Write("/Users/me/feature/f"), p.Create("/Users/me/feature/d"), p.Remove("/Users/me/feature/f"), p.Exec("/Users/me/feature/a.out"), p.MoveNew("/Users/me/feature/a", "/Users/me/feature/b"), p.Read("/System/Library/x"), p.Look("/Users/me")},
			[]sbpl.Answer{p.Write("/Users/me/feature2/f"), p.MoveNew("/Users/me/feature", private+"/tmp/x"), p.Remove("/Users/me/feature"), p.Read("/Users/me"), p.Write("/System/Volumes/Data/Users/me/other")}},
		"protected paths": {[]sbpl.Answer{p.Read("/Users/me/feature/.vscode/x"), p.Create("/Users/me/feature/vscode"), p.Write("/Users/me/feature/lib/git")},
			[]sbpl.Answer{p.Write("/Users/me/feature/.vscode/tasks.json"), p.Write("/Users/me/feature/.git"), p.Remove("/Users/me/feature/.git"), p.MoveNew("/Users/me/feature/lib", "/Users/me/feature/l2"), p.Create("/Users/me/feature/sub/.ENVRC"), p.Create("/Users/me/feature/x/.GIT"), p.Create("/Users/me/feature/x/.git/config"), p.Create("/Users/me/feature/Lefthook.yml"), p.Link("/Users/me/main/.git/config", "/Users/me/feature/c"), p.Link("/Users/me/feature/a", "/Users/me/feature/b")}},
		"git dir, common dir": {[]sbpl.Answer{p.Create("/Users/me/main/.git/objects/aa/b"), p.Write("/Users/me/main/.git/refs/heads/config"), p.Write("/Users/me/main/.git/worktrees/feature/index"), p.MoveNew("/Users/me/main/.git/worktrees/feature/index.lock", "/Users/me/main/.git/worktrees/feature/index"), p.Write("/Users/me/main/.git/worktrees/feature/modules/lib/HEAD")},
			[]sbpl.Answer{p.Write("/Users/me/main/.git/config"), p.Write("/Users/me/main/.git/CONFIG"), p.Create("/Users/me/main/.git/hooks/x"), p.Write("/Users/me/main/.git/index"), p.Write("/Users/me/main/.git/worktrees/other/index"), p.Write("/Users/me/main/.git/worktrees/feature/gitdir"), p.MoveNew("/Users/me/main/.git/worktrees/feature", "/Users/me/feature/w"), p.Write("/Users/me/main/.git/worktrees/feature/modules/lib/config"), p.Remove("/Users/me/main/.git"), p.Read("/Users/me/main/f")}},
		"git identity":      {[]sbpl.Answer{p.Read(private + "/own/gitconfig")}, []sbpl.Answer{p.Write(private + "/own/gitconfig"), p.Read("/Users/me/.gitconfig"), p.Read("/Users/me/.config/git/config")}},
		"home":              {[]sbpl.Answer{p.Create(private + "/s1/.cache"), p.Write(private + "/s1/x"), p.Exec(private + "/s1/bin/x")}, []sbpl.Answer{p.Read("/Users/me/.ssh/id"), p.Read("/Users/other/x"), p.Read(private + "/profile.sb"), p.Remove(private + "/s1"), p.Create(private + "/x")}},
		"/tmp":              {[]sbpl.Answer{p.Create(private + "/tmp/x"), p.Read(private + "/tmp/x"), p.Look("/tmp")}, []sbpl.Answer{p.Create("/private/tmp/x"), p.Read("/private/tmp/x"), p.Create("/private/var/tmp/x"), p.Read("/private/var/folders/zz/x/T/other"), p.Read("/private/var/folders/zz/x/T")}},
		"programs":          {[]sbpl.Answer{p.Exec("/usr/bin/python3"), p.Exec("/opt/homebrew/bin/node"), p.Read("/usr/lib/x"), p.Exec("/opt/sidecar/bin/sidecar")}, []sbpl.Answer{p.Write("/usr/bin/python3"), p.Create("/opt/homebrew/bin/x"), p.Exec("/Applications/X.app/Contents/MacOS/X"), p.Read("/nix/store/x"), p.Write("/opt/sidecar/bin/sidecar"), p.Read("/opt/sidecar/bin/other")}},
		"network":           {[]sbpl.Answer{tcp("127.0.0.1:50123"), tcp("[::1]:5432"), p.ConnectUnix("/nix/var/nix/daemon-socket/socket"), p.ConnectUnix(private + "/tmp/s"), op(sbpl.Query{Op: "network-bind", Path: private + "/tmp/s"})}, []sbpl.Answer{tcp("127.0.0.1:50124"), tcp("1.1.1.1:443"), tcp("127.0.0.2:50123"), p.Connect(sbpl.Endpoint{Protocol: "udp", Address: netip.MustParseAddrPort("127.0.0.1:50123")}), p.ConnectUnix("/Users/me/feature/agent.sock"), p.ConnectUnix("/private/var/run/mDNSResponder"), op(sbpl.Query{Op: "network-bind", Local: sbpl.Endpoint{Protocol: "tcp", Address: netip.MustParseAddrPort("127.0.0.1:8000")}})}},
		"files of the host": {[]sbpl.Answer{p.Read("/Users/me/models/x")}, []sbpl.Answer{p.Write("/Users/me/models/x"), p.Create("/Users/me/models/y"), p.Read("/Users/me/models2")}},
		"covered":           {[]sbpl.Answer{p.Read("/Users/me/feature/agent")}, []sbpl.Answer{p.Read("/Users/me/feature/agent.sock"), p.Write("/Users/me/feature/agent.sock"), p.Remove("/Users/me/feature/agent.sock"), p.MoveNew("/Users/me/feature/agent.sock", "/Users/me/feature/a")}},
		"services":          {[]sbpl.Answer{op(sbpl.Query{Op: "mach-lookup", Name: "com.apple.system.opendirectoryd.libinfo"})}, []sbpl.Answer{op(sbpl.Query{Op: "mach-lookup", Name: "com.apple.SecurityServer"}), op(sbpl.Query{Op: "mach-lookup", Name: "com.apple.securityd.xpc"}), op(sbpl.Query{Op: "mach-lookup", Name: "com.apple.pasteboard.1"}), op(sbpl.Query{Op: "mach-lookup", Name: "com.apple.coreservices.launchservicesd"}), op(sbpl.Query{Op: "mach-lookup", Name: "com.apple.trustd.agent"}), op(sbpl.Query{Op: "appleevent-send"}), op(sbpl.Query{Op: "lsopen"}), op(sbpl.Query{Op: "job-creation"}), op(sbpl.Query{Op: "user-preference-read", Name: "x"}), op(sbpl.Query{Op: "mach-register", Name: "x"}), op(sbpl.Query{Op: "iokit-open", Name: "x"}), op(sbpl.Query{Op: "authorization-right-obtain", Name: "x"})}},
		"processes":         {[]sbpl.Answer{op(sbpl.Query{Op: "signal", Target: "same-sandbox"}), op(sbpl.Query{Op: "process-info-pidinfo", Target: "self"}), op(sbpl.Query{Op: "process-fork"})}, []sbpl.Answer{op(sbpl.Query{Op: "signal", Target: "others"}), op(sbpl.Query{Op: "process-info-pidinfo", Target: "others"}), op(sbpl.Query{Op: "process-info-listpids", Target: "others"}), op(sbpl.Query{Op: "mach-priv-task-port", Target: "others"}), op(sbpl.Query{Op: "sysctl-read", Name: "kern.procargs2"}), op(sbpl.Query{Op: "sysctl-read", Name: "kern.proc.all"})}},
		"system":            {[]sbpl.Answer{op(sbpl.Query{Op: "sysctl-read", Name: "hw.ncpu"}), op(sbpl.Query{Op: "file-write-data", Path: "/dev/null"}), op(sbpl.Query{Op: "ipc-posix-sem-create", Name: "/mp-x"})}, []sbpl.Answer{op(sbpl.Query{Op: "sysctl-write", Name: "hw.ncpu"}), op(sbpl.Query{Op: "file-write-setugid", Path: "/Users/me/feature/x"}), op(sbpl.Query{Op: "file-mknod", Path: "/Users/me/feature/x"}), op(sbpl.Query{Op: "file-write-data", Path: "/dev/ttys001"}), op(sbpl.Query{Op: "ipc-posix-shm-write-create", Name: "other"}), op(sbpl.Query{Op: "system-set-time"}), op(sbpl.Query{Op: "nvram-set", Name: "x"})}},
	} {
		for i, a := range sides.yes {
			if !a.Allowed || !a.Sure {
				t.Errorf("%s, allowed %d: %+v", row, i, a)
			}
		}
		for i, a := range sides.no {
			if a.Allowed || !a.Sure {
				t.Errorf("%s, denied %d: %+v", row, i, a)
			}
		}
	}
}

// TestPlan is everything of a plan but the profile.
func TestPlan(t *testing.T) {
	p := loaded(t, feature())
	const private = "/private/var/folders/zz/x/T/sidecar-run-1"
	made := *p.Private
	made.Files = made.Files[:2]
	want := sandbox.Private{Dir: private,
		Folders: []sandbox.Folder{{Path: private + "/own", Mode: 0o700}, {Path: private + "/tmp", Mode: 0o700}, {Path: private + "/s1", Mode: 0o700},
			{Path: private + "/s1/main", Mode: 0o700}, {Path: private + "/own/code", Mode: 0o700}},
		Files: []sandbox.File{{Target: private + "/own/gitconfig", Data: []byte("[user]\n"), Mode: 0o444}, {Target: private + "/own/code/main.py", Data: []byte("1\n"), Mode: 0o444}},
		Links: []sandbox.Link{{Target: private + "/s1/feature", To: "/Users/me/feature"}, {Target: private + "/s1/main/.git", To: "/Users/me/main/.git"}, {Target: private + "/s1/models", To: "/Users/me/models"}},
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{Program, "-f", private + "/profile.sb"}, p.Argv[:3]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/opt/sidecar/bin/sidecar", "/run/sidecar/shim"}, p.Argv[len(p.Argv)-2:]); diff != "" {
		t.Error(diff)
	}
	l, err := arrange(feature(), private)
	if err != nil {
		t.Fatal(err)
	}
	w := work(feature(), l)
	if diff := cmp.Diff([]string{"/usr/bin/python3", private + "/own/code/main.py", private + "/tmp/x"}, w.Argv); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"HOME=" + private + "/s1", "PATH=/usr/bin:/bin", "TMPDIR=" + private + "/tmp", "GIT_CONFIG_GLOBAL=" + private + "/own/gitconfig", "http_proxy=http://127.0.0.1:50123"}, w.Env); diff != "" {
		t.Error(diff)
	}
	if w.Dir != "/Users/me/feature/lib" {
		t.Errorf("the working folder is %s", w.Dir)
	}
}

// TestRefusals: what macOS cannot show is an error, and not something else.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sandbox.Policy, *sandbox.Host)
		want   string
	}{
		"another path": {func(p *sandbox.Policy, _ *sandbox.Host) {
			p.Mounts = append(p.Mounts, sandbox.Mount{Source: "/a", Target: "/b"})
		}, "seatbelt: /a cannot be shown at /b: macOS has no mounts for a run; declare it at its own path"},
		"another store": {func(p *sandbox.Policy, _ *sandbox.Host) {
			p.Picks = []sandbox.Pick{{Source: "/a/nix/store", Target: "/nix/store"}}
		}, "seatbelt: /a/nix/store cannot be shown at /nix/store: on macOS a store works at its own path only"},
		"a system file": {func(p *sandbox.Policy, _ *sandbox.Host) {
			p.Files = append(p.Files, sandbox.File{Target: "/etc/passwd"})
		}, "seatbelt: a file cannot be put at /etc/passwd: it is the machine's own"},
		"a system link": {func(p *sandbox.Policy, _ *sandbox.Host) {
			p.Links = append(p.Links, sandbox.Link{Target: "/bin", To: "usr/bin"})
		}, "seatbelt: a link cannot be put at /bin: it is the machine's own"},
		"over the home": {func(p *sandbox.Policy, _ *sandbox.Host) {
			p.Mounts = append(p.Mounts, sandbox.Mount{Source: "/x", Target: "/Users/me"})
		}, "seatbelt: /x cannot be shown in the place of the private folder /Users/me"},
		"no folder": {func(_ *sandbox.Policy, h *sandbox.Host) { h.Seat.Private = "" }, `seatbelt: "" is no folder for a run`},
		"a tag":     {func(_ *sandbox.Policy, h *sandbox.Host) { h.Seat.Tag = `x"))(allow default)` }, `seatbelt: "x\"))(allow default)" is no tag: want letters, digits and -`},
		"a name":    {func(p *sandbox.Policy, _ *sandbox.Host) { p.Names[0].Pattern = "/x" }, `policy: "/x" is no name below "/Users/me/feature"`},
		"too many paths": {func(p *sandbox.Policy, _ *sandbox.Host) {
			for i := range 9000 {
				p.Pins = append(p.Pins, sandbox.Pin{Path: "/Users/me/feature/" + strings.Repeat("x", 80) + string(rune('a'+i%26)) + strings.Repeat("y", i/26), Kind: sandbox.Frozen})
			}
		}, "seatbelt: the paths of this run take"},
	} {
		p, h := feature(), mac
		c.change(&p, &h)
		if _, err := New(p, h); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

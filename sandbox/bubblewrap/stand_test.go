package bubblewrap

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/shim"
)

// lateParts is the small policy with what a run has of its own: a workspace, a mount within it, one beside it, and its code.
func lateParts() sandbox.Policy {
	p := policy()
	p.Mounts[0].Late = true
	p.Mounts = append(p.Mounts,
		sandbox.Mount{Source: "/home/me/w/sub", Target: "/home/me/w/sub", Late: true},
		sandbox.Mount{Source: "/srv/git", Target: "/srv/git", Optional: true, Late: true})
	p.Files = append(p.Files, sandbox.File{Target: "/run/sidecar/code/main", Data: []byte("code"), Mode: 0o444, Late: true})
	p.Links = append(p.Links, sandbox.Link{Target: "/run/sidecar/code/cwd", To: "/home/me/w", Late: true})
	return p
}

// standArgs are bubblewrap's for lateParts: all of it but the run's file and link, for which there is a folder.
var standArgs = []string{
	"--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--hostname box", "--cap-drop ALL",
	"--uid 0", "--gid 0", "--cap-add CAP_SYS_ADMIN", "--cap-add CAP_SYS_RESOURCE", "--cap-add CAP_SETFCAP",
	"--symlink usr/bin /bin", "--dev /dev", "--perms 0444", "--file 10 /etc/passwd", "--ro-bind-try /etc/ssl /etc/ssl",
	"--perms 0700", "--size 1048576", "--tmpfs /home/me", "--bind /home/me/w /home/me/w", "--ro-bind /home/me/w/sub /home/me/w/sub",
	"--proc /proc", "--perms 0555", "--dir /run/sidecar/empty", "--ro-bind /opt/sidecar /run/sidecar/shim",
	"--ro-bind-try /srv/git /srv/git", "--perms 1777", "--size 1048576", "--tmpfs /tmp", "--ro-bind /usr /usr",
	"--perms 0755", "--dir /run/sidecar/code", "--remount-ro /", "--remount-ro /dev", "--chdir /",
}

// standWork is the shim's part of it, without the program.
func standWork() shim.Plan {
	return shim.Plan{
		Scratch: []shim.Scratch{{Path: "/home/me", Inodes: minInodes}, {Path: "/tmp", Inodes: minInodes}},
		NewUser: true, UID: 1000, GID: 100,
		Limits: []shim.Limit{{Resource: limitFileSize, Value: 1 << 20}, {Resource: limitData, Value: 1 << 30},
			{Resource: limitOpenFiles, Value: 32}, {Resource: limitCore}, {Resource: limitPending, Value: mostPending}, {Resource: limitProcesses, Value: 64}},
		Dir: "/", Stands: true, Late: []string{"/srv/git", "/home/me/w"},
	}
}

func TestTheTwoPartsOfARunThatIsMadeAhead(t *testing.T) {
	for name, tt := range map[string]struct {
		wait    sandbox.Wait
		program func(*shim.Plan)
		hand    func(*sandbox.Handover)
	}{
		"a program that waits": {
			sandbox.Wait{Fifo: "/run/sidecar/code/main", Release: []byte("go"), Env: []string{"WAIT=1"}},
			func(p *shim.Plan) {
				p.Dir, p.Argv, p.Env, p.Waits = "/home/me/w", []string{"/usr/bin/env", "x"}, []string{"SECRET=s", "WAIT=1"}, "/run/sidecar/code/main"
			},
			func(h *sandbox.Handover) { h.Release = []byte("go") },
		},
		"a sandbox alone": {
			sandbox.Wait{},
			func(p *shim.Plan) { p.Argv = []string{"/"} },
			func(h *sandbox.Handover) {
				h.Dir, h.Argv, h.Env = "/home/me/w", []string{"/usr/bin/env", "x"}, []string{"SECRET=s"}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := lateParts()
			plan, hand, err := Stand(p, host, tt.wait)
			if err != nil {
				t.Fatal(err)
			}
			work, wantWork := shimWork(t, plan), standWork()
			tt.program(&wantWork)
			wantHand := sandbox.Handover{Pins: p.Pins, Files: p.Files[1:], Links: p.Links[1:]}
			tt.hand(&wantHand)
			want := sandbox.Plan{
				Argv:     []string{"/usr/bin/bwrap", "--args", "9", "--info-fd", "8", "--", "/run/sidecar/shim"},
				StatusFD: shim.StatusFD, ControlFD: shim.ControlFD, OutFD: shim.OutFD, ErrFD: shim.ErrFD, InfoFD: infoFD, Limits: p.Limits, Stands: true,
				Sources: []string{"/home/me/w", "/usr", "/etc/ssl", "/home/me/w/sub", "/srv/git"},
			}
			if diff := cmp.Diff(standArgs, lines(plan.Args)); diff != "" {
				t.Error("arguments", diff)
			}
			plan.Args, plan.Inputs = nil, nil
			if diff := cmp.Diff(want, plan) + cmp.Diff(wantWork, work) + cmp.Diff(wantHand, hand); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(lateParts(), p); diff != "" {
				t.Error("the policy was changed", diff)
			}
		})
	}
}

func shimWork(t *testing.T, plan sandbox.Plan) shim.Plan {
	t.Helper()
	work, err := shim.Decode(plan.Inputs[0])
	if err != nil {
		t.Fatal(err)
	}
	work.Filter = nil
	return work
}

// What is a run's own is in no part of the plan that it shares with others.
func TestRunsThatUseTheSameSandbox(t *testing.T) {
	wait := sandbox.Wait{Fifo: "/run/sidecar/code/main", Release: []byte("code")}
	one, _, err := Stand(lateParts(), host, wait)
	if err != nil {
		t.Fatal(err)
	}
	p := lateParts()
	p.Pins = p.Pins[:1]
	p.Files[1].Data, p.Links[1].To, p.Limits.Time = []byte("other"), "/home/me/w/sub", 7
	wait.Release = []byte("other")
	other, _, err := Stand(p, host, wait)
	other.Limits.Time = 0
	if diff := cmp.Diff(one, other); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for name, change := range map[string]func(*sandbox.Policy){
		"a variable": func(p *sandbox.Policy) { p.Env = []string{"SECRET=t"} },
		"a folder":   func(p *sandbox.Policy) { p.Dir = "/home/me/w/sub" },
		"an early file": func(p *sandbox.Policy) {
			p.Files = slices.Insert(p.Files, 0, sandbox.File{Target: "/etc/group", Data: []byte("g"), Mode: 0o444})
		},
		"its text": func(p *sandbox.Policy) { p.Files[0].Data = []byte("q") },
		"a limit":  func(p *sandbox.Policy) { p.Limits.Memory++ },
		"access":   func(p *sandbox.Policy) { p.Mounts[0].Access = sandbox.ReadOnly },
		"a mount": func(p *sandbox.Policy) {
			p.Mounts = append(p.Mounts, sandbox.Mount{Source: "/opt", Target: "/opt"})
		},
	} {
		p := lateParts()
		change(&p)
		other, _, err := Stand(p, host, sandbox.Wait{Fifo: wait.Fifo})
		if err != nil || cmp.Equal(one.Inputs, other.Inputs) {
			t.Errorf("%s: the plan is the same (%v)", name, err)
		}
	}
}

func TestWhatCannotBeMadeAhead(t *testing.T) {
	for name, change := range map[string]func(*sandbox.Policy, *sandbox.Host){
		"a terminal":             func(p *sandbox.Policy, _ *sandbox.Host) { p.Terminal = &sandbox.Terminal{Rows: 1, Columns: 1} },
		"a kept folder":          func(p *sandbox.Policy, _ *sandbox.Host) { p.Bases = []sandbox.Base{{Source: "/k", Target: "/k"}} },
		"mounts by arguments":    func(_ *sandbox.Policy, h *sandbox.Host) { h.Mounts = sandbox.ByArgv },
		"an unknown machine":     func(_ *sandbox.Policy, h *sandbox.Host) { h.Arch = "mips" },
		"an invalid policy":      func(p *sandbox.Policy, _ *sandbox.Host) { p.Argv = nil },
		"a source that is shown": func(p *sandbox.Policy, _ *sandbox.Host) { p.Mounts[0].Source = "/usr/share/w" },
		"a part that is shown elsewhere": func(p *sandbox.Policy, _ *sandbox.Host) {
			p.Mounts = append(p.Mounts, sandbox.Mount{Source: "/home/me/w/tools", Target: "/opt/tools"})
		},
		"a target that is shown": func(p *sandbox.Policy, _ *sandbox.Host) { p.Mounts[0].Target = "/etc/ssl/w" },
	} {
		p, h := lateParts(), host
		change(&p, &h)
		if _, _, err := Stand(p, h, sandbox.Wait{}); err == nil {
			t.Errorf("%s can", name)
		}
	}
}

package sidecar_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
)

// loops never end, first in the language itself, then in a program or a wait; state is left of each.
var loops = map[string][2]string{
	"python": {"y = 1\nwhile True: pass", "y = 2\nimport subprocess\nsubprocess.run(['sleep', '1000'])"},
	"node":   {"y = 1\nfor (;;);", "y = 2\nawait new Promise(() => setInterval(() => {}, 1000))"},
	"perl":   {"$y = 1;\n1 while 1", "$y = 2;\nsystem 'sleep', 1000"},
	"ruby":   {"$y = 1\nloop {}", "$y = 2\nsystem 'sleep', '1000'"},
	"bash":   {"y=1\nf() { while :; do :; done; }\nf\necho not", "y=2\nsleep 1000\necho not"},
}

var shows = map[string]string{"python": "y", "node": "y", "bash": "echo $y", "perl": "print \"$y\\n\"", "ruby": "$y"}

func TestATimeoutInterruptsTheCall(t *testing.T) {
	k := newKept(t, nil)
	for language, codes := range loops {
		for i, code := range codes {
			r := k.do(t.Context(), protocol.RunParams{Language: language, SessionName: "s", Code: code, Timeout: protocol.Duration(300 * time.Millisecond)})
			ignored := language == "perl" && i == 1 // system waits without a handler, and goes on when its program has been ended
			if r.Limit != "time" || (r.Signal != "SIGINT" || r.ExitCode != 130) && !ignored || r.Session.Ended != "" || strings.Contains(r.Stdout.Text, "not") {
				t.Errorf("%s: %+v %+v", language, r, r.Session)
			}
			if r := k.call(language, "s", shows[language]); r.Stdout.Text != string(rune('1'+i))+"\n" || r.Session.Call != 2*i+2 {
				t.Errorf("%s: state after the interruption: %+v", language, r)
			}
		}
	}
}

func TestACancelledCallIsInterrupted(t *testing.T) {
	k := newKept(t, nil)
	k.call("python", "s", "y = 1")
	ctx, cancel := context.WithCancel(t.Context())
	sink := func(protocol.Stream, []byte) { cancel() }
	r, err := k.e.Run(ctx, k.root, "test", protocol.RunParams{Language: "python", SessionName: "s", Code: "print('on', flush=True)\nimport time\ntime.sleep(1000)"}, sink)
	if err != nil || !r.Cancelled || r.Session.Ended != "" || !strings.Contains(r.Stderr.Text, "KeyboardInterrupt") {
		t.Errorf("%v %+v", err, r)
	}
	if r := k.call("python", "s", "y"); r.Stdout.Text != "1\n" {
		t.Errorf("%+v", r)
	}
}

func TestASessionThatEndsSaysSo(t *testing.T) {
	for _, c := range []struct {
		name, language, code string
		status               int
		signal, stdout, lost string
	}{
		{"exit", "python", "import atexit; atexit.register(print, 'bye'); print('x'); exit(3)", 3, "", "x\nbye\n", "its code ended it"},
		{"exit", "node", "console.log('x'); process.exit(3)", 3, "", "x\n", "its code ended it"},
		{"exit", "perl", "END { print \"bye\\n\" } print \"x\\n\"; exit 3", 3, "", "x\nbye\n", "its code ended it"},
		{"exit", "ruby", "at_exit { puts 'bye' }; puts 'x'; exit 3", 3, "", "x\nbye\n", "its code ended it"},
		{"kill", "perl", "$| = 1; print \"x\\n\"; kill 9, $$", 137, "SIGKILL", "x\n", "its interpreter ended with status 137"},
		{"kill", "ruby", "puts 'x'; $stdout.flush; Process.kill 9, $$", 137, "SIGKILL", "x\n", "its interpreter ended with status 137"},
		{"stubborn", "ruby", "loop { begin; sleep 9; rescue Interrupt; end }", -2, "", "", "a call that reached its limit of time could not be interrupted"},
		{"exit", "bash", "trap 'echo bye' EXIT; echo x; exit 3", 3, "", "x\nbye\n", "its interpreter ended with status 3"},
		{"kill", "python", "import os\nprint('x', flush=True); os.kill(os.getpid(), 9)", 137, "SIGKILL", "x\n", "its interpreter ended with status 137"},
		{"kill", "node", "console.log('x'); process.kill(process.pid, 'SIGKILL')", 137, "SIGKILL", "x\n", "its interpreter ended with status 137"},
		{"kill", "bash", "echo x; kill -9 $$", 137, "SIGKILL", "x\n", "its interpreter ended with status 137"},
		{"stubborn", "python", "import time\nwhile True:\n    try: time.sleep(9)\n    except KeyboardInterrupt: pass", -2, "", "", "a call that reached its limit of time could not be interrupted"},
		{"unset", "bash", "set -u; echo x; echo $nothing", 1, "", "x\n", "its interpreter ended with status 1"},
	} {
		t.Run(c.language+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			k := newKept(t, nil)
			k.call(c.language, "s", "")
			r := k.do(t.Context(), protocol.RunParams{Language: c.language, SessionName: "s", Code: c.code, Timeout: protocol.Duration(20 * time.Second)})
			if c.status == -2 {
				c.status = r.ExitCode
			}
			if r.ExitCode != c.status || r.Session.Ended == "" || r.Stdout.Text != c.stdout {
				t.Errorf("%+v %+v", r, r.Session)
			}
			r = k.call(c.language, "s", "")
			if r.Session.Call != 1 || r.Session.Lost == "" || !strings.Contains(r.Session.Lost, c.lost) && c.signal == "" || !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "state of the earlier one is gone") }) {
				t.Errorf("afterwards: %+v %v", r.Session, r.Notes)
			}
			if r := k.call(c.language, "s", ""); r.Session.Lost != "" || r.Session.Call != 2 {
				t.Errorf("it is told once: %+v", r.Session)
			}
		})
	}
}

// TestOutputOfOneCallIsNotTheNexts: threads, timers and programs in the background print on and on.
func TestOutputOfOneCallIsNotTheNexts(t *testing.T) {
	k := newKept(t, nil)
	for _, c := range []struct{ language, leave, next string }{
		{"python", "import threading, time, subprocess, sys\ndef p():\n    while True:\n        print('LEFT'); sys.stderr.write('LEFT\\n'); sys.stdout.flush(); time.sleep(0.001)\nthreading.Thread(target=p, daemon=True).start()\nsubprocess.Popen(['sh', '-c', 'while echo LEFT; do echo LEFT >&2; sleep 0.001; done'])\nprint('own')", "import time\ntime.sleep(0.1)\nprint('next')"},
		{"node", "setInterval(() => { console.log('LEFT'); console.error('LEFT') }, 1); (async () => { for (;;) { await new Promise(r => setTimeout(r, 1)); console.log('LEFT') } })();\nrequire('child_process').spawn('sh', ['-c', 'while echo LEFT; do echo LEFT >&2; sleep 0.001; done'], { stdio: 'inherit' });\nconsole.log('own')", "await new Promise(r => setTimeout(r, 100));\nconsole.log('next')"},
		{"perl", "if (!fork) { $| = 1; while (1) { print \"LEFT\\n\"; print STDERR \"LEFT\\n\"; select undef, undef, undef, 0.001 } }\nsystem '(while echo LEFT; do echo LEFT >&2; sleep 0.001; done) &';\nprint \"own\\n\"", "select undef, undef, undef, 0.1; print \"next\\n\""},
		{"ruby", "Thread.new { loop { puts 'LEFT'; $stderr.puts 'LEFT'; $stdout.flush; sleep 0.001 } }\nspawn '(while echo LEFT; do echo LEFT >&2; sleep 0.001; done) &'\nputs 'own'", "sleep 0.1; puts 'next'"},
		{"bash", "(while echo LEFT; do echo LEFT >&2; sleep 0.001; done) &\necho own", "sleep 0.1\necho next"},
	} {
		first := k.call(c.language, "s", c.leave)
		if own := strings.ReplaceAll(first.Stdout.Text, "LEFT\n", ""); own != "own\n" {
			t.Errorf("%s: its own output: %q %q", c.language, own, first.Stderr.Text)
		}
		told := 0
		for i := 0; i < 5 || told == 0 && i < 200; i++ { // on a busy machine what is left may not have its turn in each
			r := k.call(c.language, "s", c.next)
			if r.Stdout.Text != "next\n" || r.Stderr.Text != "" || r.ExitCode != 0 {
				t.Fatalf("%s: the next call's: %q %q", c.language, r.Stdout.Text, r.Stderr.Text)
			}
			if slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "LEFT") && strings.Contains(n, "left running") }) {
				told++
			}
		}
		if told == 0 {
			t.Errorf("%s: no note tells of what was left", c.language)
		}
	}
}

// TestThreadsThatOpenFiles: Node cannot have two descriptors change their places, so that a thread of it may get that of an
// output which is about to lead elsewhere.
func TestThreadsThatOpenFiles(t *testing.T) {
	k := newKept(t, nil)
	k.call("node", "s", `const { Worker } = require('worker_threads');
new Worker("const fs = require('fs'); for (;;) { const fd = fs.openSync('/dev/null', 'w'); fs.writeSync(fd, 'x'); fs.closeSync(fd) }", { eval: true }).unref();
await new Promise(r => setTimeout(r, 200))`)
	for range 30 {
		if r := k.call("node", "s", "console.log('own'); console.error('other')"); r.Stdout.Text != "own\n" || r.Stderr.Text != "other\n" || r.Session.Ended != "" {
			t.Fatalf("%q %q %v %+v", r.Stdout.Text, r.Stderr.Text, r.Notes, r.Session)
		}
	}
}

// TestDescriptorsThatAreUsedUp: a session without any descriptor left goes on, or has ended and says so. Nobody waits for
// what cannot come.
func TestDescriptorsThatAreUsedUp(t *testing.T) {
	k := newKept(t, nil)
	for language, code := range map[string]string{
		"node": `new (require('worker_threads').Worker)("const fs = require('fs'); for (;;) { try { fs.openSync('/dev/null') } catch {} }", { eval: true }).unref();
await new Promise(r => setTimeout(r, 500))`,
		"python": "import os\nkept = []\ntry:\n    while True: kept.append(os.open('/dev/null', os.O_RDONLY))\nexcept OSError: pass",
		"perl":   "our @kept; while (open(my $f, '<', '/dev/null')) { push @kept, $f } 0",
		"ruby":   "$kept = []; begin; loop { $kept << File.open('/dev/null') }; rescue SystemCallError; end; nil",
		"bash":   "while exec {fd}</dev/null; do :; done 2>/dev/null",
	} {
		t.Run(language, func(t *testing.T) {
			began := time.Now()
			r := k.call(language, "s", code)
			for range 3 {
				if r.Session.Ended != "" {
					break
				}
				r = k.call(language, "s", "1")
			}
			if r.Limit != "" || time.Since(began) > 30*time.Second {
				t.Errorf("after %v: %+v, %v", time.Since(began), r.Session, r.Notes)
			}
		})
	}
}

func TestSessionsAreApart(t *testing.T) {
	k, other := newKept(t, nil), filepath.Join(t.TempDir(), "other")
	if out, err := exec.Command("git", "init", "-q", other).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	there := &kept{t, k.e, other}
	var all sync.WaitGroup
	for i, at := range []*kept{k, there, k} {
		name := []string{"s", "s", "t"}[i]
		all.Go(func() {
			at.call("python", name, "import os, time\nx = "+string(rune('0'+i)))
			for range 20 {
				if r := at.call("python", name, "print(x, os.getcwd())"); r.Stdout.Text != string(rune('0'+i))+" "+at.root+"\n" {
					t.Errorf("%d: %q %q", i, r.Stdout.Text, r.Stderr.Text)
				}
			}
		})
	}
	all.Wait()
	if got := k.e.Sessions(); len(got) != 3 || got[0].Calls != 21 || got[0].Run != "" {
		t.Errorf("listed: %+v", got)
	}
	if closed, err := k.e.CloseSession("t", "py"); err != nil || len(closed) != 1 {
		t.Errorf("%v %v", closed, err)
	}
	if r := k.call("python", "t", "x"); r.Session.Call != 1 || r.Session.Lost != "" || r.ExitCode != 1 {
		t.Errorf("what was closed is new, and not lost: %+v %+v", r.Session, r)
	}
}

// TestCallsQueue: those of one session come one after another, and none of them is lost.
func TestCallsQueue(t *testing.T) {
	k := newKept(t, nil)
	k.call("python", "s", "x = 0")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { k.call("python", "s", "y = x\nimport time\ntime.sleep(0.001)\nx = y + 1") })
	}
	all.Wait()
	if r := k.call("python", "s", "x"); r.Stdout.Text != "20\n" {
		t.Errorf("%q", r.Stdout.Text)
	}
}

func TestSessionsThatAreNotServed(t *testing.T) {
	k := newKept(t, func(s *config.Settings) { s.Sessions.Most = 1 })
	k.call("python", "s", "")
	for _, c := range []struct {
		p    protocol.RunParams
		want string
	}{
		{protocol.RunParams{Language: "lua", SessionName: "r", Code: "1"}, "lua cannot be kept in a session; python, node, bash, ruby and perl can"},
		{protocol.RunParams{Command: []string{"true"}, SessionName: "r"}, "a session runs code, and this is a command"},
		{protocol.RunParams{Language: "python", SessionName: "a\nb", Code: "1"}, "is no name for a session"},
		{protocol.RunParams{Language: "python", SessionName: "t", Code: "1"}, "1 sessions are open, and there may be no more (sessions.most): s (python)"},
		{protocol.RunParams{Language: "python", SessionName: "s", Code: "1", Packages: []string{"jq"}}, "was started without further packages"},
		{protocol.RunParams{Language: "python", SessionName: "s", Code: "1", Cwd: "nowhere"}, "the working folder"},
	} {
		_, err := k.e.Run(t.Context(), k.root, "test", c.p, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestSettingsThatChangeEndASession(t *testing.T) {
	k := newKept(t, nil)
	k.call("python", "s", "x = 1")
	other := config.Defaults()
	other.Limits.Memory /= 2
	e := k.e.For(other, os.Getenv, "/")
	r, err := e.Run(t.Context(), k.root, "test", protocol.RunParams{Language: "python", SessionName: "s", Code: "1"}, nil)
	if err != nil || r.Session.Call != 1 || r.Session.Lost != "the settings have changed" {
		t.Errorf("%v %+v", err, r.Session)
	}
}

func TestIdleAndOldSessionsEnd(t *testing.T) {
	for _, c := range []struct {
		change func(*config.Settings)
		want   string
	}{
		{func(s *config.Settings) { s.Sessions.Idle = time.Second }, "nobody used it for 1s (sessions.idle)"},
		{func(s *config.Settings) { s.Sessions.Lifetime = time.Second }, "it lived for 1s (sessions.lifetime)"},
	} {
		k := newKept(t, c.change)
		k.call("bash", "s", "x=1")
		for until := time.Now().Add(time.Minute); k.e.HasSessions() && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond)
		}
		if r := k.call("bash", "s", "echo $x"); r.Session.Lost != c.want || r.Stdout.Text != "\n" {
			t.Errorf("%+v %q", r.Session, r.Stdout.Text)
		}
	}
}

// TestASidecarThatEndedIsRemembered: the next one says that the state is gone.
func TestASidecarThatEndedIsRemembered(t *testing.T) {
	k := newKept(t, nil)
	program, err := sidecar.ShimForTests()
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	first := sidecar.New(sidecar.Options{StateDir: state, Shim: program})
	(&kept{t, first, k.root}).call("bash", "s", "x=1")
	first.Close()
	second := sidecar.New(sidecar.Options{StateDir: state, Shim: program})
	defer second.Close()
	at := &kept{t, second, k.root}
	if r := at.call("bash", "s", ""); r.Session.Lost != "its sidecar ended" {
		t.Errorf("%+v", r.Session)
	}
}

func TestWhatACallIsGiven(t *testing.T) {
	k := newKept(t, nil)
	if err := os.Mkdir(filepath.Join(k.root, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for language, code := range map[string]string{
		"python": "import os, sys\nprint(sys.stdin.read(), sys.argv[1:], os.environ.get('A'), os.getcwd())",
		"node":   "console.log(require('fs').readFileSync(0, 'utf8'), JSON.stringify(process.argv.slice(2)), process.env.A, process.cwd())",
		"bash":   "echo $(cat) $1 $# $A $PWD",
		"perl":   "use Cwd; print join('', <STDIN>), \" @ARGV $ENV{A} \", getcwd(), \"\\n\"",
		"ruby":   "puts \"#{STDIN.read} #{ARGV} #{ENV['A']} #{Dir.pwd}\"",
	} {
		first := k.do(t.Context(), protocol.RunParams{Language: language, SessionName: "s", Code: code, Stdin: "in", Args: []string{"a'b"}, Env: map[string]string{"A": "1 2"}})
		second := k.do(t.Context(), protocol.RunParams{Language: language, SessionName: "s", Code: code, Cwd: "sub"})
		want := map[string][2]string{
			"python": {"in [\"a'b\"] 1 2 ROOT\n", " [] 1 2 ROOT/sub\n"},
			"node":   {"in [\"a'b\"] 1 2 ROOT\n", " [] 1 2 ROOT/sub\n"},
			"perl":   {"in a'b 1 2 ROOT\n", "  1 2 ROOT/sub\n"},
			"ruby":   {"in [\"a'b\"] 1 2 ROOT\n", " [] 1 2 ROOT/sub\n"},
			"bash":   {"in a'b 1 1 2 ROOT\n", "0 1 2 ROOT/sub\n"},
		}[language]
		for i, r := range []protocol.RunResult{first, second} {
			if got := strings.ReplaceAll(r.Stdout.Text, k.root, "ROOT"); got != want[i] {
				t.Errorf("%s: %q, want %q; %s", language, got, want[i], r.Stderr.Text)
			}
		}
	}
}

// What a call did not read of its input is not the next one's.
func TestInputOfOneCallIsNotTheNexts(t *testing.T) {
	k := newKept(t, nil)
	for language, code := range map[string]string{
		"python": "import sys\nprint(sys.stdin.readline().strip())",
		"node":   "const b = Buffer.alloc(6); console.log(b.toString('utf8', 0, require('fs').readSync(0, b)).trim())",
		"bash":   "IFS= read -r line; echo $line",
		"perl":   "print scalar(<STDIN>) // \"\\n\"",
		"ruby":   "puts STDIN.gets.to_s",
	} {
		for i, c := range [][2]string{{"first\nSECRET", "first\n"}, {"", "\n"}, {"new\n", "new\n"}} {
			if r := k.do(t.Context(), protocol.RunParams{Language: language, SessionName: "s", Code: code, Stdin: c[0]}); r.Stdout.Text != c[1] {
				t.Errorf("%s, call %d: %q %q", language, i+1, r.Stdout.Text, r.Stderr.Text)
			}
		}
	}
}

func TestTheLimitOfOutputEndsTheCall(t *testing.T) {
	k := newKept(t, func(s *config.Settings) { s.Limits.Output = 100 << 10 })
	r := k.call("python", "s", "x = 1\nwhile True: print('x' * 1000)")
	if r.Limit != "output" || r.Stdout.Bytes != 100<<10 || r.Session.Ended != "" {
		t.Errorf("%+v", r.Session)
	}
	if r := k.call("python", "s", "x"); r.Stdout.Text != "1\n" {
		t.Errorf("%+v", r)
	}
}

func TestTheLimitOfMemoryEndsTheSession(t *testing.T) {
	k := newKept(t, func(s *config.Settings) { s.Limits.Memory = 100 << 20 })
	k.call("bash", "s", "x=1")
	r := k.call("bash", "s", "for i in 1 2 3; do tail -c +0 /dev/zero | tail -c 60000000 & done; wait; echo not")
	if r.Limit != "memory" || r.Session.Ended == "" {
		t.Errorf("%+v %+v", r, r.Session)
	}
	if r := k.call("bash", "s", "echo $x"); r.Session.Lost != "it used more memory than limits.memory" {
		t.Errorf("%+v", r.Session)
	}
}

// TestASignalBetweenCallsEndsNothing: an interruption may come when the call has just ended.
func TestASignalBetweenCallsEndsNothing(t *testing.T) {
	k := newKept(t, nil)
	for language, code := range map[string]string{
		"python": "import os, subprocess\ny = 1\nsubprocess.Popen(['sh', '-c', 'until [ -e go ]; do sleep 0.01; done; kill -INT %d; touch done' % os.getpid()])\nNone",
		"node":   "y = 1; require('child_process').spawn('sh', ['-c', `until [ -e go ]; do sleep 0.01; done; kill -INT ${process.pid}; touch done`]); undefined",
		"perl":   "$y = 1; system qq{(until [ -e go ]; do sleep 0.01; done; kill -INT $$; touch done) &}",
		"ruby":   "$y = 1; spawn \"until [ -e go ]; do sleep 0.01; done; kill -INT #{$$}; touch done\"; nil",
		"bash":   "y=1; (until [ -e go ]; do sleep 0.01; done; kill -INT $$; touch done) &",
	} {
		k.call(language, "s", code)
		if err := os.WriteFile(filepath.Join(k.root, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		done := filepath.Join(k.root, "done")
		for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(done); err == nil {
				break
			}
		}
		if r := k.call(language, "s", shows[language]); r.Stdout.Text != "1\n" || r.Session.Call != 2 || r.ExitCode != 0 {
			t.Errorf("%s: %q %q %+v %v", language, r.Stdout.Text, r.Stderr.Text, r.Session, r.Notes)
		}
		if err := os.Remove(filepath.Join(k.root, "go")); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(done); err != nil {
			t.Fatal(err)
		}
	}
}

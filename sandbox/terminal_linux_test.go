package sandbox_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/bubblewrap"
)

// screen collects what a terminal shows and lets a test wait for a text in it.
type screen struct {
	lockedBuffer
	grew chan struct{}
}

func newScreen() *screen { return &screen{grew: make(chan struct{}, 1)} }

func (s *screen) Write(b []byte) (int, error) {
	n, err := s.lockedBuffer.Write(b)
	select {
	case s.grew <- struct{}{}:
	default:
	}
	return n, err
}

func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(60 * time.Second)
	for !strings.Contains(s.String(), text) {
		select {
		case <-s.grew:
		case <-deadline:
			t.Fatalf("%q never appeared; the terminal shows:\n%s", text, s.String())
		}
	}
}

// session is a program on a terminal.
type session struct {
	*screen
	keys    *io.PipeWriter
	stopped chan int
	end     chan sandbox.End
}

func (b *box) terminal(t *testing.T, argv ...string) *session {
	t.Helper()
	b.policy.Argv, b.policy.Terminal = argv, &sandbox.Terminal{Rows: 24, Columns: 80}
	plan, err := bubblewrap.New(b.policy, b.host)
	if err != nil {
		t.Fatal(err)
	}
	in, keys := io.Pipe()
	s := &session{newScreen(), keys, make(chan int, 9), make(chan sandbox.End, 1)}
	go func() {
		end, err := sandbox.Run(context.Background(), plan, sandbox.IO{Stdin: in, Stdout: s, Stderr: s, Control: b.control, Stopped: func(n int) { s.stopped <- n }})
		if err != nil {
			t.Error(err)
		}
		s.end <- end
	}()
	return s
}

func (s *session) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		t.Fatal(err)
	}
}

func (s *session) ended(t *testing.T) sandbox.End {
	t.Helper()
	select {
	case end := <-s.end:
		return end
	case <-time.After(60 * time.Second):
		t.Fatalf("the session does not end; the terminal shows:\n%s", s.String())
		return sandbox.End{}
	}
}

func TestAShellHasATerminalOfItsOwn(t *testing.T) {
	for name, mode := range map[string]sandbox.MountMode{"shim": sandbox.ByShim, "argv": sandbox.ByArgv} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t, mode)
			s := b.terminal(t, "/bin/bash", "--norc", "--noprofile", "-i")
			s.press(t, "tty; stty size; PS1='ready> '\n")
			s.await(t, "/dev/pts/0")
			s.await(t, "24 80")
			b.control.Resize(sandbox.Terminal{Rows: 33, Columns: 101})
			s.press(t, "stty size; echo x >/dev/tty; set -o | grep monitor\n")
			s.await(t, "33 101")
			s.await(t, "monitor        \ton")
			s.press(t, `sh -c 'trap "echo again" CONT; echo go; while :; do read x; done'`+"\n")
			s.await(t, "\r\ngo\r\n")
			s.press(t, "\x1a") // job control: the shell takes over again
			s.await(t, "Stopped")
			s.press(t, "fg\n")
			s.await(t, "\r\nagain\r\n")
			s.press(t, "\x03")
			s.await(t, "^C\r\nready> ") // what is typed before is thrown away by the signal
			s.press(t, "echo status $?; exit 7\n")
			s.await(t, "status 130")
			if end := s.ended(t); end.ExitCode != 7 {
				t.Errorf("exit status %d, want the program's 7", end.ExitCode)
			}
		})
	}
}

func TestAProgramIsStoppedAndContinued(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	s := b.terminal(t, "/bin/bash", "-c", `trap 'echo continued; exit 3' CONT; echo begun; kill -TSTP $$; while :; do read -t 0.1; done`)
	s.await(t, "begun")
	select {
	case signal := <-s.stopped:
		if signal != 20 {
			t.Errorf("stopped by signal %d, want SIGTSTP", signal)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("nobody was told of the stop")
	}
	b.control.Continue()
	s.await(t, "continued")
	if end := s.ended(t); end.ExitCode != 3 {
		t.Errorf("exit status %d", end.ExitCode)
	}
}

func TestSignalsReachTheProgram(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	s := b.terminal(t, "/bin/bash", "-c", `trap 'echo got it; exit 5' TERM; echo begun; while :; do read -t 0.1; done`)
	s.await(t, "begun")
	b.control.Signal(15)
	s.await(t, "got it")
	if end := s.ended(t); end.ExitCode != 5 {
		t.Errorf("exit status %d", end.ExitCode)
	}
}

// What stands in the sandbox's network is served from outside, and nothing else is there.
func TestSocketsAreServedFromOutside(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	b.policy.Sockets = []sandbox.Socket{
		{Address: netip.MustParseAddrPort("127.0.0.1:8080")},
		{Address: netip.MustParseAddrPort("0.0.0.0:80")},
		{Address: netip.MustParseAddrPort("127.0.0.1:53"), Packet: true},
		{Address: netip.MustParseAddrPort("[::1]:8080")},
	}
	b.policy.Argv = []string{"/bin/bash", "-c", `for a in 127.0.0.1/8080 127.66.0.9/80 ::1/8080; do exec 3<>/dev/tcp/$a; head -1 <&3; done
		exec 3<>/dev/udp/127.0.0.1/53; echo question >&3; head -1 <&3; (exec 3<>/dev/tcp/127.0.0.1/8081) 2>/dev/null || echo nothing else`}
	plan, err := bubblewrap.New(b.policy, b.host)
	if err != nil {
		t.Fatal(err)
	}
	var out lockedBuffer
	serve := func(i int, f *os.File) {
		if f == nil {
			t.Errorf("socket %d cannot be had", i)
			return
		}
		defer f.Close()
		if b.policy.Sockets[i].Packet {
			answerPackets(t, f)
			return
		}
		l, err := net.FileListener(f)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				_, _ = io.WriteString(c, "hello from "+c.LocalAddr().String()+"\n")
				_ = c.Close()
			}
		}()
	}
	if _, err := sandbox.Run(context.Background(), plan, sandbox.IO{Stdout: &out, Stderr: &out, Socket: serve}); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "hello from 127.0.0.1:8080\nhello from 127.66.0.9:80\nhello from [::1]:8080\nanswer\nnothing else\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func answerPackets(t *testing.T, f *os.File) {
	c, err := net.FilePacketConn(f)
	if err != nil {
		t.Error(err)
		return
	}
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		buf := make([]byte, 512)
		for _, from, err := c.ReadFrom(buf); err == nil; _, from, err = c.ReadFrom(buf) {
			_, _ = c.WriteTo([]byte("answer\n"), from)
		}
	}()
}

// While a person is asked something, a run's time stands still.
func TestTheClockStandsStill(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	b.policy.Limits.Time = 300 * time.Millisecond
	release := b.control.Hold()
	time.AfterFunc(900*time.Millisecond, release)
	end, out, err := b.run(context.Background(), "sleep 0.7; echo still there; exec sleep 60")
	if err != nil || end.Limit != sandbox.LimitTime || out != "still there\n" {
		t.Errorf("ended by %q with %q, %v; want by its time, and not before it had said something", end.Limit, out, err)
	}
}

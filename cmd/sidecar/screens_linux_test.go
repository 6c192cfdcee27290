package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tmux is a terminal that knows what is on its screen.
type tmux struct {
	*desk
	t      *testing.T
	socket string
}

// openTmux starts a shell in a window of 24 rows and 80 columns.
func (d *desk) openTmux(t *testing.T) *tmux {
	t.Helper()
	need(t, "tmux")
	w := &tmux{desk: d, t: t, socket: filepath.Join(t.TempDir(), "s")}
	w.do("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "exec env PS1='"+prompt+"' bash --norc --noprofile -i")
	t.Cleanup(func() { _ = w.command("tmux", "-S", w.socket, "kill-server").Run() })
	w.shows(strings.TrimSpace(prompt))
	return w
}

// need skips without a program; in CI that is a failure.
func need(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is missing: scripts/setup --test", program)
	}
	t.Skipf("%s is missing: scripts/setup --test", program)
}

func (w *tmux) do(args ...string) string {
	w.t.Helper()
	return w.host(w.t, "tmux", append([]string{"-S", w.socket}, args...)...)
}

// press sends keys, by tmux's names.
func (w *tmux) press(keys ...string) {
	w.t.Helper()
	w.do(append([]string{"send-keys"}, keys...)...)
}

func (w *tmux) runs(command string) {
	w.t.Helper()
	w.do("send-keys", "-l", command)
	w.press("Enter")
}

func (w *tmux) screen() string { return strings.TrimRight(w.do("capture-pane", "-p"), "\n") }

// shows waits until a text is on the screen, and gives the screen.
func (w *tmux) shows(text string) string { return w.until(text, true) }

func (w *tmux) until(text string, there bool) string {
	w.t.Helper()
	deadline := time.Now().Add(soon)
	for {
		screen := w.screen()
		if strings.Contains(screen, text) == there {
			return screen
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%q on the screen: never %v:\n%s", text, there, screen)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Programs that take the whole screen show the same inside as outside, obey the same keys, and leave the same screen.
func TestWholeScreens(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "line %d of a long text, \u00fcber alles\n", i+1)
	}
	d.write(t, "text", text.String())
	programs := map[string]func(w *tmux, sandbox string, shows func(text string)){
		"less": func(w *tmux, sandbox string, shows func(string)) {
			w.runs(sandbox + "less text")
			shows("line 23 of")
			w.press("Space")
			shows("line 46 of")
			w.press("/2000 of", "Enter")
			shows("line 2000 of")
			w.press("G")
			shows("line 3000 of")
			w.press("q")
		},
		"vim": func(w *tmux, sandbox string, shows func(string)) {
			_ = os.Remove(filepath.Join(w.project, "new"))
			w.runs(sandbox + "vim -u NONE -i NONE -n --noplugin new")
			shows("[New File]")
			w.press("i", "one", "Enter", "two", "Escape", "k", "x")
			shows("on\ntwo")
			w.press(":set number", "Enter")
			shows("  2 two")
			w.press(":wq", "Enter")
			w.until("~", false)
			if b, err := os.ReadFile(filepath.Join(w.project, "new")); err != nil || string(b) != "on\ntwo\n" {
				w.t.Errorf("the file has %q (%v)", b, err)
			}
		},
	}
	for name, use := range programs {
		t.Run(name, func(t *testing.T) {
			need(t, name)
			outside, inside := d.openTmux(t), d.openTmux(t)
			var screens []string
			use(outside, "", func(text string) { screens = append(screens, outside.settles(text)) })
			use(inside, "sidecar exec -- ", func(text string) {
				inside.becomes(screens[0])
				screens = screens[1:]
			})
			for _, w := range []*tmux{outside, inside} {
				eventually(t, "a new prompt", func() bool { return strings.HasSuffix(w.screen(), "\n"+strings.TrimSpace(prompt)) })
				w.runs("stty -a | grep -o -e ' icanon' -e ' echo '; tput cols; clear; echo as be''fore")
				w.shows("as before")
			}
		})
	}
}

// settles waits until a text is on the screen, and the screen stays as it is for a while.
func (w *tmux) settles(text string) string {
	w.t.Helper()
	screen := w.shows(text)
	for same := 0; same < 20; same++ {
		time.Sleep(20 * time.Millisecond)
		if now := w.screen(); now != screen {
			screen, same = now, 0
		}
	}
	return screen
}

// becomes waits until the screen is a certain one.
func (w *tmux) becomes(screen string) {
	w.t.Helper()
	deadline := time.Now().Add(soon)
	for now := w.screen(); now != screen; now = w.screen() {
		if time.Now().After(deadline) {
			w.t.Fatalf("the screen never becomes that of outside (-outside +inside):\n%s", cmp.Diff(screen, now))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// top draws again by itself, sees the sandbox only, and follows the window.
func TestTop(t *testing.T) {
	t.Parallel()
	need(t, "top")
	w := newDesk(t).openTmux(t)
	w.runs("sidecar exec -- top -d 0.2")
	first := w.shows("COMMAND")
	eventually(t, "top draws again", func() bool { now := w.screen(); return now != first && strings.Contains(now, "COMMAND") })
	if strings.Contains(w.screen(), "tmux") {
		t.Error("top shows processes of this machine")
	}
	w.do("resize-window", "-x", "60", "-y", "10")
	eventually(t, "top has ten rows", func() bool { return strings.Count(w.screen(), "\n") < 10 && strings.Contains(w.screen(), "PID USER") })
	w.press("q")
	w.shows(strings.TrimSpace(prompt))
}

// vim, stopped by Ctrl-Z, gives the shell's screen back; fg has its own again.
func TestStoppedEditor(t *testing.T) {
	t.Parallel()
	need(t, "vim")
	w := newDesk(t).openTmux(t)
	w.runs("sidecar exec -- vim -u NONE -i NONE -n --noplugin new")
	w.shows("[New File]")
	w.press("i", "typed", "Escape", "C-z")
	w.shows("Stopped")
	w.runs("echo the \"turn\"")
	w.shows("the turn")
	w.runs("fg")
	w.until("Stopped", false)
	w.shows("typed")
	w.press("a", " more", "Escape", ":wq", "Enter")
	w.shows(strings.TrimSpace(prompt))
	if b, err := os.ReadFile(filepath.Join(w.project, "new")); err != nil || string(b) != "typed more\n" {
		t.Errorf("the file has %q (%v)", b, err)
	}
}

// What a program has the terminal say, for it to be typed into the person's shell, is not: at its end, and when it stops.
func TestTheTerminalsAnswersAreNotTyped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for sandbox, typed := range map[string]bool{"": true, "sidecar exec -- ": false} {
		for _, end := range []string{"exit", "kill -STOP $$"} {
			w := d.openTmux(t)
			w.runs(sandbox + `bash -c 'stty raw -echo; printf "\033[6n\033[c\033[6n"; ` + end + `'`)
			if end != "exit" {
				w.shows("Stopped")
			}
			eventually(t, "a prompt", func() bool { return strings.Count(w.screen(), strings.TrimSpace(prompt)) > 1 })
			w.runs(" true; echo by \"now\"")
			screen := w.shows("by now")
			if got := strings.Contains(screen, "not found"); got != typed {
				t.Errorf("%s... %s: typed %v, want %v:\n%s", sandbox, end, got, typed, screen)
			}
		}
	}
}

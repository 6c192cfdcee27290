package sidecar

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
)

// seen is all that a run lets its caller see.
type seen struct {
	Exit                   int
	Signal, Stdout, Stderr string
}

func seenOf(r protocol.RunResult) seen {
	return seen{r.ExitCode, r.Signal, chance.ReplaceAllString(r.Stdout.Text, "0"), chance.ReplaceAllString(r.Stderr.Text, "0")}
}

// chance decides about addresses of objects, and about the process numbers in Node's warnings.
var chance = regexp.MustCompile(`0x[0-9a-f]{6,}|\(node:\d+\)`)

// Code cannot tell a warm start from a cold one, but by how long its process has lived (and see SECURITY.md for the rest): each
// file of testdata/probes tells all that it can find out of where it runs, twice, the second time in an interpreter that waited.
func TestProbes(t *testing.T) {
	languages := map[string]string{".py": "python", ".sh": "bash", ".js": "node", ".mjs": "node"}
	files, err := filepath.Glob("testdata/probes/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no probes: %v", err)
	}
	w := newWarmed(t)
	w.host(probed)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p := protocol.RunParams{Language: languages[filepath.Ext(file)], Code: string(code), Cwd: "it's here",
				Args: []string{"a b", "--x", "-", ""}, Stdin: "line one\nline two\n"}
			w.in(t).alike(p)
			if name, _, _ := strings.Cut(filepath.Base(file), "."); name == "state" { // it tells what its input is
				p.Stdin = ""
				w.in(t).alike(p)
			}
		})
	}
}

// alike does a run cold and warm, and compares.
func (w *warmed) alike(p protocol.RunParams) {
	w.t.Helper()
	_, warm := w.twice(p)
	cold := w.with(func(s *config.Settings) { s.Performance.Warm = "off" }).run(p)
	if cold.Start != protocol.StartCold || warm.Start != protocol.StartWarm {
		w.t.Fatalf("started %s and %s", cold.Start, warm.Start)
	}
	if d := cmp.Diff(seenOf(cold), seenOf(warm)); d != "" {
		w.t.Errorf("cold and warm differ:\n%s", d)
	}
}

// TestNoInput: a program that has no input reads the null device, by which ripgrep and others tell that they are to look
// elsewhere; one of the sandbox's own, however it was started.
func TestNoInput(t *testing.T) {
	w := newWarmed(t)
	for _, tt := range []struct{ stdin, want string }{{"", "/dev/null\n"}, {"x", "pipe\n"}} {
		p := protocol.RunParams{Language: "bash", Code: `at=$(readlink /proc/$$/fd/0); echo "${at%%:*}"`, Stdin: tt.stdin}
		cold, warm := w.in(t).twice(p)
		if cold.Stdout.Text != tt.want || warm.Stdout.Text != tt.want || warm.Start != protocol.StartWarm {
			t.Errorf("input %q: cold %q, %s %q, want %q", tt.stdin, cold.Stdout.Text, warm.Start, warm.Stdout.Text, tt.want)
		}
	}
}

// probed is the project in which the probes run.
const probed = `mkdir -p node_modules/own/sub "it's here"; cd node_modules/own; echo '{"name":"own","main":"m.js"}' >package.json
	echo 'exports.name = __filename' >m.js; echo 'module.exports = 2' >sub/index.js; cd "../../it's here"
	echo 'module.exports = __dirname' >near.js; echo 'export default import.meta.url.length; export const url = import.meta.url' >near.mjs
	echo 'print(__file__)' >sitecustomize.py; cp sitecustomize.py usercustomize.py; cp sitecustomize.py readline.py; echo 'echo $0' >.bashrc`

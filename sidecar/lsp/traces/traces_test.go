package traces

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The outputs are those of the interpreters: Python 3.14, Bash 5.2, Node 20, Perl 5.36, Go 1.26 as they ran, the others as
// their manuals and sources have them.
func TestFind(t *testing.T) {
	const at = "/run/sidecar/code/main"
	for _, test := range []struct {
		name, output string
		want         []Frame
	}{
		{"python", "Traceback (most recent call last):\n  File \"" + at + ".py\", line 4, in <module>\n    f()\n  File \"" + at + ".py\", line 3, in f\n    return 1/0\n           ~^~\nZeroDivisionError: division by zero\n",
			[]Frame{{File: at + ".py", Line: 4, Message: "ZeroDivisionError: division by zero", Caller: true}, {File: at + ".py", Line: 3, Message: "ZeroDivisionError: division by zero"}}},
		{"python's own exception", "Traceback (most recent call last):\n  File \"/w/a b.py\", line 1, in <module>\n    raise Oops\nOops\n", []Frame{{File: "/w/a b.py", Line: 1, Message: "Oops"}}},
		{"python's syntax", "  File \"" + at + ".py\", line 1\n    x = (\n        ^\nSyntaxError: '(' was never closed\n", []Frame{{File: at + ".py", Line: 1, Message: "SyntaxError: '(' was never closed"}}},
		{"bash", at + ".sh: line 2: nosuch: command not found\n" + at + ".sh: line 4: false_: command not found\n",
			[]Frame{{File: at + ".sh", Line: 2, Message: "nosuch: command not found"}, {File: at + ".sh", Line: 4, Message: "false_: command not found"}}},
		{"node", at + ".cjs:2\n throw new Error(\"boom\")\n ^\n\nError: boom\n    at f (" + at + ".cjs:2:8)\n    at Object.<anonymous> (" + at + ".cjs:4:1)\n    at Module._compile (node:internal/modules/cjs/loader:1521:14)\n",
			[]Frame{{File: at + ".cjs", Line: 2, Column: 8, Message: "Error: boom"}, {File: at + ".cjs", Line: 4, Column: 1, Message: "Error: boom", Caller: true}}},
		{"node's syntax", at + ".cjs:1\nlet x = ;\n        ^\n\nSyntaxError: Unexpected token ';'\n    at wrapSafe (node:internal/modules/cjs/loader:1464:18)\n", []Frame{{File: at + ".cjs", Line: 1, Message: "SyntaxError: Unexpected token ';'"}}},
		{"a module of node", "file://" + at + ".mjs:1\nthrow 1\n^\nTypeError: x\n    at file://" + at + ".mjs:1:7\n", []Frame{{File: at + ".mjs", Line: 1, Column: 7, Message: "TypeError: x"}}},
		{"perl", "boom at " + at + ".pl line 2.\n", []Frame{{File: at + ".pl", Line: 2, Message: "boom"}}},
		{"perl's syntax", "syntax error at " + at + ".pl line 1, near \"= ;\"\n", []Frame{{File: at + ".pl", Line: 1, Message: "syntax error"}}},
		{"ruby", at + ".rb:2:in `f': boom (RuntimeError)\n\tfrom " + at + ".rb:4:in `<main>'\n",
			[]Frame{{File: at + ".rb", Line: 2, Message: "in `f': boom (RuntimeError)"}, {File: at + ".rb", Line: 4, Message: "in `f': boom (RuntimeError)", Caller: true}}},
		{"lua", "lua: " + at + ".lua:2: boom\nstack traceback:\n\t[C]: in function 'error'\n\t" + at + ".lua:2: in function 'f'\n\t" + at + ".lua:3: in main chunk\n",
			[]Frame{{File: at + ".lua", Line: 2, Message: "boom"}, {File: at + ".lua", Line: 3, Message: "boom", Caller: true}}},
		{"php", "PHP Fatal error:  Uncaught Exception: boom in " + at + ".php:2\nStack trace:\n#0 " + at + ".php(3): f()\n#1 {main}\n  thrown in " + at + ".php on line 2\n",
			[]Frame{{File: at + ".php", Line: 2, Message: "PHP Fatal error:  Uncaught Exception: boom"}, {File: at + ".php", Line: 3, Message: "PHP Fatal error:  Uncaught Exception: boom", Caller: true}}},
		{"go does not compile", "# command-line-arguments\n" + at + ".go:1:15: syntax error: x\n", []Frame{{File: at + ".go", Line: 1, Column: 15, Message: "syntax error: x"}}},
		{"go panics", "panic: boom\n\ngoroutine 1 [running]:\nmain.f(...)\n\t" + at + ".go:3\nmain.main()\n\t" + at + ".go:5 +0x1d\nexit status 2\n",
			[]Frame{{File: at + ".go", Line: 3, Message: "panic: boom"}, {File: at + ".go", Line: 5, Message: "panic: boom", Caller: true}}},
		{"julia", "ERROR: LoadError: boom\nStacktrace:\n [1] error(s::String)\n   @ Base ./error.jl:35\n [2] f()\n   @ Main " + at + ".jl:2\n", []Frame{{File: at + ".jl", Line: 2, Message: "ERROR: LoadError: boom"}}},
		{"nothing", "see /etc/hosts: it is there\nhttp://example.com:80/x\n12:30:01 hello\n", nil},
		{"no line", "  File \"/x\", line 99999999999999999999\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Find(test.output)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A program that prints nothing but places gets no more than an editor can show.
func TestFindIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		b.WriteString("/x: line " + strings.Repeat("1", 1+i%9) + ": y\n/x" + strings.Repeat("y", i) + ": line 1: z\n")
	}
	if got := len(Find(b.String())); got != mostFrames {
		t.Errorf("%d", got)
	}
}

// No output panics, and each frame has a place.
func FuzzFind(f *testing.F) {
	f.Add("  File \"x\", line 1\nE: y")
	f.Add("/x:1\n/x:1:1: y\nE at /x line 1.\n\t/x.go:1 +0x1\n")
	f.Fuzz(func(t *testing.T, output string) {
		for _, frame := range Find(output) {
			if frame.File == "" || frame.Line <= 0 {
				t.Fatalf("%+v", frame)
			}
		}
	})
}

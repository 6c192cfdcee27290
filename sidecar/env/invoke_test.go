package env

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestInvocationPlainly(t *testing.T) {
	lang, err := Lookup("go")
	if err != nil {
		t.Fatal(err)
	}
	interp := Interpreter{Language: lang, Program: "/go/bin/go", Argv: []string{"/go/bin/go", "run"}, Env: []string{"GOTOOLCHAIN=local"}}
	argv, vars, links := Invocation(interp, "/code/main.go", "/ws", "/ws", []string{"-a", "b c"})
	if want := []string{"/go/bin/go", "run", "/code/main.go", "-a", "b c"}; !slices.Equal(argv, want) {
		t.Errorf("argv %q, want %q", argv, want)
	}
	if !slices.Equal(vars, interp.Env) || len(links) > 0 {
		t.Errorf("env %q, links %q", vars, links)
	}
	argv[0], vars[0] = "x", "x"
	if interp.Argv[0] != "/go/bin/go" || interp.Env[0] != "GOTOOLCHAIN=local" {
		t.Error("the interpreter's slices are shared")
	}
}

func TestNodeModules(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"node_modules", "a/b", "c/node_modules", "c/d"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for cwd, want := range map[string]string{"": "node_modules", "a/b": "node_modules", "c/d": "c/node_modules"} {
		if got := nodeModules(filepath.Join(root, cwd), root); got != filepath.Join(root, want) {
			t.Errorf("from %q: %q, want %q", cwd, got, want)
		}
	}
	if got := nodeModules(filepath.Join(root, "a/b"), filepath.Join(root, "a")); got != "" {
		t.Errorf("a link %q out of the workspace", got)
	}
}

// result is how a program ended.
type result struct {
	out, err string
	code     int
}

// invoke runs code as a run does, except for the sandbox: the file in a folder of its own, the working folder
// in a workspace with files.
func invoke(t *testing.T, language, code string, files map[string]string, cwd string, args ...string) result {
	t.Helper()
	lang, err := Lookup(language)
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath(lang.Programs[0].Name)
	if err != nil {
		t.Skip(err)
	}
	root, folder := t.TempDir(), t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(root, name), text)
	}
	file := filepath.Join(folder, FileName(lang, code))
	write(t, file, Source(lang, code))
	interp := Interpreter{Language: lang, Program: program, Argv: append([]string{program}, lang.Programs[0].Args...)}
	argv, vars, links := Invocation(interp, file, filepath.Join(root, cwd), root, args)
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	return start(t, argv, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "PYENV_ROOT=" + os.Getenv("PYENV_ROOT")}, vars...), filepath.Join(root, cwd), folder)
}

// start runs a command; in what it prints, the folder of the code is /code.
func start(t *testing.T, argv, vars []string, dir, folder string) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, vars, &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{strings.ReplaceAll(out.String(), folder, "/code"), strings.ReplaceAll(errs.String(), folder, "/code"), cmd.ProcessState.ExitCode()}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// invocations are codes and what they print.
var invocations = []struct {
	name, language, code, cwd, out string
	files                          map[string]string
	args                           []string
}{
	{name: "python imports from the working folder", language: "python", cwd: "sub", code: "import mine; print(mine.x)",
		files: map[string]string{"sub/mine.py": "x = 4"}, out: "4\n"},
	{name: "python's main module is as usual", language: "python", code: "'doc'\nimport sys\nprint(__name__, __doc__, __file__, sys.argv)\nprint(sorted(globals()))",
		args: []string{"-x", "y z"}, out: "__main__ doc /code/main.py ['/code/main.py', '-x', 'y z']\n" +
			"['__annotations__', '__builtins__', '__doc__', '__file__', '__loader__', '__name__', '__package__', '__spec__', 'sys']\n"},
	{name: "python's children inherit nothing", language: "python",
		code: "import os; print([k for k in os.environ if k in ('PYTHONPATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONSAFEPATH')])", out: "[]\n"},
	{name: "python spawns", language: "python", files: map[string]string{"mine.py": "x = 4"}, out: "4\n",
		code: "import multiprocessing as m, mine\ndef f(q): q.put(mine.x)\nif __name__ == '__main__':\n c = m.get_context('spawn'); q = c.Queue(); p = c.Process(target=f, args=(q,)); p.start(); print(q.get()); p.join()"},
	{name: "python reads a coding line", language: "python", code: "# coding: latin-1\nprint(len('\xe9'))", out: "1\n"},
	{name: "node requires relative to the working folder", language: "node", cwd: "sub", code: "console.log(require('./m'), require('../n.json').n, require.main === module)",
		files: map[string]string{"sub/m.js": "module.exports = 4", "n.json": `{"n": 5}`}, out: "4 5 true\n"},
	{name: "node finds every node_modules above", language: "node", cwd: "a", code: "#!/usr/bin/env node\nconsole.log(require('p'), require('q'), ...process.argv.slice(1))", args: []string{"-x"},
		files: map[string]string{"a/node_modules/p/index.js": "module.exports = 1", "node_modules/q/index.js": "module.exports = 2"}, out: "1 2 /code/main.cjs -x\n"},
	{name: "node imports", language: "node", code: "import p from 'p'; import { m } from './m.mjs'; console.log(p, m, import.meta.url, process.argv.slice(1))", args: []string{"-x"},
		files: map[string]string{"node_modules/p/index.js": "module.exports = 1", "m.mjs": "export const m = 2"}, out: "1 2 file:///code/main.mjs [ '/code/main.mjs', '-x' ]\n"},
	{name: "ruby", language: "ruby", code: "require './m'; puts f, ARGV.inspect, __FILE__ == $0", args: []string{"-x"}, files: map[string]string{"m.rb": "def f; 4; end"}, out: "4\n[\"-x\"]\ntrue\n"},
	{name: "perl", language: "perl", code: `require "./m.pl"; print f(), " @ARGV\n"`, args: []string{"-x"}, files: map[string]string{"m.pl": "sub f { 4 } 1;"}, out: "4 -x\n"},
	{name: "lua", language: "lua", code: `print(require("m"), arg[1])`, args: []string{"-x"}, files: map[string]string{"m.lua": "return 4"}, out: "4\t-x\n"},
	{name: "bash ignores the first line", language: "bash", code: "#!/bin/false\necho $1; cat m", args: []string{"-x"}, files: map[string]string{"m": "4\n"}, out: "-x\n4\n"},
	{name: "go takes the module of the working folder", language: "go", code: "import (\"fmt\"; \"os\"; \"ex.com/m/p\")\nfunc main() { fmt.Println(p.X, os.Args[1:]) }", args: []string{"-x"},
		files: map[string]string{"go.mod": "module ex.com/m\ngo 1.21\n", "p/p.go": "package p\nconst X = 4\n"}, out: "4 [-x]\n"},
}

func TestInvocationsRun(t *testing.T) {
	for _, tt := range invocations {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := invoke(t, tt.language, tt.code, tt.files, tt.cwd, tt.args...); got.code != 0 || got.out != tt.out {
				t.Errorf("got %+v\nwant %q", got, tt.out)
			}
		})
	}
}

func TestErrorsLookAsUsual(t *testing.T) {
	t.Run("python", func(t *testing.T) {
		got := invoke(t, "python", "def f():\n  raise KeyError(1)\nf()", nil, "")
		if got.code != 1 || strings.Contains(got.err, "<string>") || !strings.HasPrefix(got.err, "Traceback (most recent call last):\n  File \"/code/main.py\", line 3, in <module>\n    f()\n") {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("python's syntax", func(t *testing.T) {
		got := invoke(t, "python", "x = (", nil, "")
		if got.code != 1 || !strings.HasPrefix(got.err, "  File \"/code/main.py\", line 1\n    x = (\n") {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("python's status", func(t *testing.T) {
		if got := invoke(t, "python", "import sys; sys.exit(3)", nil, ""); got.code != 3 || got.err != "" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("node", func(t *testing.T) {
		if got := invoke(t, "node", "let a\nthrow new Error('b')", nil, ""); got.code != 1 || !strings.HasPrefix(got.err, "/code/main.cjs:2\nthrow new Error('b')\n") {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("node's modules", func(t *testing.T) {
		if got := invoke(t, "node", "await 1\nthrow new Error('b')", nil, ""); got.code != 1 || !strings.HasPrefix(got.err, "file:///code/main.mjs:2\nthrow new Error('b')\n") {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("node's endless await", func(t *testing.T) {
		if got := invoke(t, "node", "await new Promise(() => {})", nil, ""); got.code != 13 {
			t.Errorf("got %+v", got)
		}
	})
}

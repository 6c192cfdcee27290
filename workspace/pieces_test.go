package workspace

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// program writes an executable.
func (l *lab) program(paths ...string) {
	l.t.Helper()
	for _, path := range paths {
		l.write(path, "#!/bin/sh\n")
		if err := os.Chmod(l.at(path), 0o755); err != nil {
			l.t.Fatal(err)
		}
	}
}

// heldBelow are the lines of what is held as it is outside of the git directory, and is no name of the table.
func (l *lab) heldBelow(rules Rules) []string {
	var out []string
	for _, line := range l.lines(l.discover("p").Protected(rules)) {
		if path := pathOf(line); !strings.HasPrefix(path, "p/.") && !strings.Contains(line, " watch ") {
			out = append(out, line)
		}
	}
	return out
}

func TestCommandsThatGoToPrograms(t *testing.T) {
	clean := []string{"0 ro p/tools/clean"}
	for command, want := range map[string][]string{
		"cd tools; ./clean":                           clean,
		"cd tools && ./clean":                         clean,
		`bash -c "exec ./tools/clean"`:                clean,
		`bash -ec ". tools/clean"`:                    clean,
		"D=tools; $D/clean":                           clean,
		"tools/*ean":                                  clean,
		"t?ols/../tools/c*":                           nil,
		"PATH=$PATH:./tools clean":                    clean,
		"f() { cd tools && ./clean; }; f":             clean,
		"cd ${GIT_PREFIX:-.}/tools; ./clean":          clean,
		`T=$PWD/tools; "$T/clean"`:                    clean,
		`f() { D=tools; $D/clean "$1"; }; f`:          clean,
		`"$(git rev-parse --show-toplevel)"/tools/$X`: clean,
		`D="tools"; for f in "$D"/*; do "$f"; done`:   clean,
		"cd deep && cd er; ../er/x":                   {"0 ro p/deep/er/x"},
		"cd deep/er; . ./lib":                         {"0 ro p/deep/er/lib", "0 ro p/deep/er/x"},
		"cd deep/er; cat lib":                         {"0 ro p/deep/er/x"},
		"cd deep; er/{x,y}":                           {"0 ro p/deep/er/x"},
		"cd way && ./clean":                           {"0 ro p/tools/clean", "0 ro p/way link"},
		"test src || cat tools":                       nil,
		"cd src && npx lint":                          nil,
		"ls /tools /src/":                             nil,
		"git diff refs/heads/main .git/hooks/":        nil,
		"PATH=$PWD/node_modules/.bin:$PATH y":         nil,
		"cd .. && cd /":                               nil,
		"cd many; ./p*":                               {"0 ro p/many/"},
		`sh -c "~/../p/tools/clean"`:                  clean,
		"bash -c '. $HOME/../p/deep/er/lib'":          {"0 ro p/deep/er/lib"},
		"$ ${ $( $'":                                  nil,
	} {
		l := newLab(t)
		l.repo("p")
		l.program("p/tools/clean", "p/deep/er/x", "p/node_modules/.bin/x")
		l.write("p/tools/notes", "")
		l.write("p/deep/er/lib", "")
		l.write("p/src/main.py", "")
		l.link("tools", "p/way")
		if strings.Contains(command, "many") {
			for i := range maxPrograms + 1 {
				l.program("p/many/p" + strings.Repeat("x", i))
			}
		}
		l.git("p", "config", "filter.x.clean", command)
		if diff := cmp.Diff(want, l.heldBelow(Rules{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", command, diff)
		}
	}
}

func TestACommandThatGoesToNothing(t *testing.T) {
	l := newLab(t)
	l.repo("p")
	l.write("p/src/main", "")
	l.git("p", "config", "filter.x.clean", "cd src && ./gone")
	if got := l.lines(l.discover("p").Protected(Rules{})); !slices.Contains(got, "0 watch p/src/gone") {
		t.Errorf("%q", got)
	}
}

func TestAWorkspaceInAFolderOfBuilds(t *testing.T) {
	l := newLab(t)
	l.repo("build/p")
	l.program("build/p/tools/clean")
	l.git("build/p", "config", "filter.x.clean", "tools/*ean")
	if got := l.lines(l.discover("build/p").Protected(Rules{})); !slices.Contains(got, "0 ro build/p/tools/clean") {
		t.Errorf("%q", got)
	}
}

func TestHooksThatGoToPrograms(t *testing.T) {
	c, k := "2 ro p/scripts/c.sh", "2 ro p/scripts/k.sh"
	for hook, want := range map[string][]string{
		"cd scripts && ./c.sh":                           {c, k},
		`(cd "$ROOT/scripts"; sh k.sh)`:                  {c, k},
		"for f in scripts/hooks/*; do \"$f\"; done":      {"2 ro p/scripts/hooks/"},
		"run-parts scripts/hooks.d":                      {"2 ro p/scripts/hooks.d/"},
		"run-parts --verbose -- $PWD/scripts/hooks.d":    {"2 ro p/scripts/hooks.d/"},
		"D=scripts; $D/c.sh":                             {c, k},
		"D=scripts; sh $D/k.sh":                          {c, k},
		`exec "$ROOT/scripts/$(basename "$0")"`:          {c, k},
		"eslint src/hooks/* && cat scripts/hooks/README": {"2 ro p/src/hooks/run"},
		"cd frontend && npx lint-staged":                 nil,
		"for f in scripts/lib/*; do . $f; done":          {"2 ro p/scripts/lib/a.sh"},
		`cd "$(dirname "$0")/../../scripts" && ./c.sh`:   {c, k},
		"python3 src/main":                               {"2 ro p/src/main"},
		"cat src/main":                                   nil,
	} {
		l := newLab(t)
		l.repo("p")
		l.program("p/scripts/c.sh", "p/scripts/hooks/10-x", "p/scripts/hooks.d/20-y", "p/src/hooks/run")
		for _, f := range []string{"scripts/k.sh", "scripts/lib/a.sh", "scripts/lib/README", "scripts/hooks/README", "src/hooks/use.ts", "src/main", "frontend/index.ts", "frontend/package.json"} {
			l.write("p/"+f, "")
		}
		l.write("p/.git/hooks/pre-commit", "#!/bin/sh\n"+hook+"\n")
		if diff := cmp.Diff(want, l.heldBelow(Rules{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", hook, diff)
		}
	}
}

func TestEnvrcThatGoesToPrograms(t *testing.T) {
	for envrc, want := range map[string][]string{
		`eval "$(./scripts/gen)"`:                    {"0 ro p/scripts/gen"},
		`eval "$(cd scripts && ./gen)"`:              {"0 ro p/scripts/gen"},
		`D=scripts; eval "$("$D"/gen)"`:              {"0 ro p/scripts/gen"},
		"for f in env.d/*; do . $f; done":            {"0 ro p/env.d/"},
		"PATH_add ./bin\nexport PATH=$PWD/bin:$PATH": nil,
		"layout python ./bin":                        nil,
		"cat scripts/notes":                          nil,
	} {
		l := newLab(t)
		l.repo("p")
		l.program("p/scripts/gen", "p/bin/x")
		l.write("p/scripts/notes", "")
		l.write("p/env.d/a", "")
		l.write("p/.envrc", envrc+"\n")
		if diff := cmp.Diff(want, l.heldBelow(Rules{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", envrc, diff)
		}
	}
}

func TestSettingsThatNamePrograms(t *testing.T) {
	l := newLab(t)
	l.repo("p")
	texts := map[string]string{
		".claude/settings.json":           `{"hooks": {"Stop": [{"hooks": [{"command": "\"$CLAUDE_PROJECT_DIR\"/t/a --x"}]}]}}`,
		".claude/settings.local.json":     `{"statusLine": {"command": "t/b"}}`,
		".mcp.json":                       `{"mcpServers": {"x": {"command": "./t/c", "args": ["src/server.js", ".venv/bin/python"]}}}`,
		".cursor/mcp.json":                `{"mcpServers": {"x": {"command": "${workspaceFolder}/t/d"}}}`,
		".cursor/hooks.json":              `{"hooks": {"stop": [{"command": "cd t && ./e"}]}}`,
		".codex/config.toml":              "notify = [\"t/f\"]\n",
		".gemini/settings.json":           `{"tools": {"callCommand": "t/g"}}`,
		".vscode/tasks.json":              `{"tasks": [{"command": "${workspaceFolder}/t/h"}, {"command": "node_modules/.bin/eslint"}]} // t/h2`,
		".devcontainer/devcontainer.json": `{"initializeCommand": "bash t/i"}`,
		".pre-commit-config.yaml":         "- entry: t/j --fix\n  files: ^src/\n",
		"lefthook.yml":                    "run: t/k {staged_files}\nroot: src/\n",
	}
	var want []string
	for name, text := range texts {
		l.write("p/"+name, text)
	}
	for c := 'a'; c <= 'k'; c++ {
		l.program("p/t/" + string(c))
		want = append(want, "0 ro p/t/"+string(c))
	}
	l.program("p/t/unnamed", "p/src/tool", "p/.venv/bin/python", "p/node_modules/.bin/eslint")
	l.write("p/src/server.js", "")
	got := slices.DeleteFunc(l.heldBelow(Rules{}), func(line string) bool { return strings.HasSuffix(line, "lefthook.yml") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := l.heldBelow(Rules{Except: []string{".mcp.json"}}); slices.Contains(got, "0 ro p/t/c") {
		t.Error("what is excepted holds what it names")
	}
}

// FuzzPieces: whatever the text, each piece is a part of it, and none can have a look go elsewhere than a path's own parts.
func FuzzPieces(f *testing.F) {
	for _, s := range []string{`cd "$D/x"; ./y`, "$", "${", "$(a)/b/*", "D='x'; $D/", "for f in a/*", "\\$@/x", "a=b/$"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range pieces(text) {
			if p.path == "" || !strings.Contains(text, p.path) || strings.ContainsAny(p.path, cuts) || p.joined && p.path[0] == '/' {
				t.Errorf("%q gives %+v", text, p)
			}
		}
	})
}

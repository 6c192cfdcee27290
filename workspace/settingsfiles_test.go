package workspace

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func (l *lab) holds(path string, deep ...string) bool {
	for i := range deep {
		deep[i] = l.at(deep[i])
	}
	return slices.Contains(l.lines(l.discover("p").Protected(Rules{}, deep...)), "0 ro "+path)
}

func TestEveryNameOfTheTableIsRead(t *testing.T) {
	for half := range slices.Chunk(obeyed, len(obeyed)/2+1) { // of all at once not all are read
		everyNameIsRead(t, half)
	}
}

func everyNameIsRead(t *testing.T, table []Entry) {
	t.Helper()
	l := newLab(t)
	l.repo("p")
	i := 0
	want := map[string]string{}
	name := func(file, format string) {
		i++
		program := fmt.Sprintf("t/p%d", i)
		l.program("p/" + program)
		l.write("p/"+file, fmt.Sprintf(format, program)+"\n")
		want[file] = "p/" + program
	}
	for _, e := range table {
		file := strings.ReplaceAll(e.Name, "*", "x")
		switch {
		case topOfText("p", e) == "" || !namesPrograms(filepath.Base(file)):
		case e.Folder:
			name(file+"/sub/a.json", `{"command": "./%s"}`)
		case e.Name == "rust-toolchain" || e.Name == ".project": // a folder of this name is another's
		default:
			name(file, "run ./%s --x")
		}
	}
	name(".idea/runConfigurations/a.xml", `<option value="$PROJECT_DIR$/%s"/>`)
	name(".claude/agents/a.md", "---\nhooks: ./%s\n---\ntext")
	name(".claude/commands/b.md", "# b\n!`./%s`")
	held := l.lines(l.discover("p").Protected(Rules{}))
	for file, program := range want {
		if !slices.Contains(held, "0 ro "+program) {
			t.Errorf("what %s names is not held", file)
		}
	}
}

func TestWhatIsNotReadOfSettings(t *testing.T) {
	for file, text := range map[string]string{
		".claude/agents/a.md":         "---\nname: a\n---\nrun ./t/a",
		".idea/workspace.xml":         `<change path="$PROJECT_DIR$/t/a"/>`,
		".claude/worktrees/x/run.sh":  "./t/a", // of a work tree of its own
		".claude/a/b/c/settings.json": "./t/a",
		".vscode/x.json":              "\x00 ./t/a",
	} {
		l := newLab(t)
		l.repo("p")
		l.program("p/t/a")
		l.write("p/"+file, text)
		l.write("p/.claude/worktrees/x/.git", "gitdir: /x\n")
		if l.holds("p/t/a") {
			t.Errorf("%s is read", file)
		}
	}
}

func TestSettingsOfSubfolders(t *testing.T) {
	l := newLab(t)
	l.repo("p")
	l.program("p/t/a", "p/app/t/b", "p/app/t/c")
	l.write("p/app/.vscode/tasks.json", `{"command": "../t/a"}`)
	l.write("p/app/.mcp.json", `{"command": "./t/b"}`)
	l.write("o/x.json", `{"command": "./t/c"}`)
	l.link(l.at("o"), "p/app/.cursor")
	deep := []string{"p/app/.vscode", "p/app/.mcp.json", "p/app/.cursor"}
	if !l.holds("p/t/a", slices.Clone(deep)...) || !l.holds("p/app/t/b", slices.Clone(deep)...) {
		t.Error("what the settings of a subfolder name is not held")
	}
	if l.holds("p/app/t/c", deep...) {
		t.Error("a link out of the workspace was followed")
	}
}

func TestTooManySettings(t *testing.T) {
	l := newLab(t)
	l.repo("p")
	l.program("p/t/a", "p/t/b")
	l.write("p/.mcp.json", `{"command": "./t/a"}`)
	var places, words strings.Builder
	for i := range 64 {
		l.mkdir(fmt.Sprintf("p/d%d", i))
		fmt.Fprintf(&places, "d%d/ ", i)
	}
	for i := range 40_000 {
		fmt.Fprintf(&words, "%x ", i+0x10000)
	}
	for i := range mostSettings + 1 {
		text := "{}"
		if i < 20 {
			text = places.String() + words.String()
		}
		l.write(fmt.Sprintf("p/.vscode/%d.json", i), text)
	}
	ws := l.discover("p")
	held := l.lines(ws.Protected(Rules{}))
	if !slices.Contains(held, "0 ro p/t/a") {
		t.Error("what is near the root is not read first")
	}
	if len(ws.Notes) == 0 {
		t.Error("nothing is said of what is not read")
	}
}

func TestEnvrcOfSubfolders(t *testing.T) {
	l := newLab(t)
	l.repo("p")
	l.write("p/sub/.envrc", "use flake\nsource_env scripts/env.sh\ndotenv\n. ../lib/common\nuse devenv\nuse vim\n")
	files := []string{"p/sub/flake.nix", "p/sub/scripts/env.sh", "p/sub/.env", "p/lib/common", "p/sub/devenv.local.nix", "p/sub/.vimrc.local"}
	for _, file := range files {
		l.write(file, "")
	}
	for _, file := range files {
		if !l.holds(file, "p/sub/.envrc") {
			t.Errorf("%s is not held", file)
		}
	}
	l.write("o/envrc", ". ./x\n")
	l.link(l.at("o/envrc"), "p/two/.envrc")
	l.write("p/two/x", "")
	if l.holds("p/two/x", "p/two/.envrc") {
		t.Error("a link out of the workspace was followed")
	}
}

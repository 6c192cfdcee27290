package workspace

import (
	"path/filepath"
	"slices"
	"strings"
)

// sourcing are direnv's functions that execute or load a file (direnv-stdlib(1)), and the shell's own; the
// value is the file without an argument.
var sourcing = map[string]string{
	"source": "", ".": "", "source_env": ".envrc", "source_env_if_exists": "", "dotenv": ".env", "dotenv_if_exists": ".env",
}

// using are the files that direnv's "use NAME" evaluates.
var using = map[string][]string{
	"flake":  {"flake.nix", "flake.lock"},
	"nix":    {"shell.nix", "default.nix"},
	"devenv": {"devenv.nix", "devenv.local.nix", "devenv.yaml", "devenv.local.yaml", "devenv.lock"},
	"devbox": {"devbox.json", "devbox.lock"},
	"guix":   {"guix.scm", "manifest.scm"},
	"vim":    {".vimrc.local"},
}

// environmentFiles protects what the workspace's .envrc files execute: direnv asks again when .envrc changes, but not for
// these. What they put on the PATH (PATH_add, layout) is left: runs build it.
func (p *protector) environmentFiles(deep []string) {
	if p.rules.excepts(Entry{Name: ".envrc"}, ".envrc") {
		return
	}
	p.environmentFile(p.ws.Root)
	for _, r := range p.ws.repositories() {
		if r.WorkTree != "" && r.WorkTree != p.ws.Root && p.list(r.WorkTree).has(".envrc") {
			p.environmentFile(r.WorkTree)
		}
	}
	for _, path := range deep {
		if dir := filepath.Dir(path); filepath.Base(path) == ".envrc" && dir != p.ws.Root {
			p.environmentFile(dir)
		}
	}
}

// environmentFile is of one folder. That of a subfolder may be a link that came with the project: it is not followed out.
func (p *protector) environmentFile(dir string) {
	envrc := filepath.Join(dir, ".envrc")
	if dir != p.ws.Root && p.scope(realPath(p.looks, envrc)) == "" {
		return
	}
	data, err := p.looks.ReadThrough(envrc)
	if err != nil {
		return
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		words := shellWords(line)
		for i, word := range words {
			for _, file := range sourced(word, words[i+1:]) {
				if !p.more() {
					return
				}
				p.sourcedFile(dir, file)
			}
		}
	}
	rd := reader{claim: claim{reason: "direnv executes it, since .envrc names it", absent: Watch}, repo: &Repository{WorkTree: dir}, given: true}
	if dir != p.ws.Root {
		rd.bases = []string{p.ws.Root}
	}
	p.pieces(rd, string(data))
	rd.folders = true
	p.pieces(rd, withoutPath(string(data)))
}

// withoutPath is a text of .envrc without the lines that put folders on the PATH.
func withoutPath(text string) string {
	return strings.Join(slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool {
		return strings.Contains(line, "PATH") || strings.Contains(line, "path_add") || strings.HasPrefix(strings.TrimSpace(line), "layout")
	}), "")
}

// sourced are the files that a word of .envrc loads, given the words after it.
func sourced(word string, args []string) []string {
	arg := ""
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			arg = a
			break
		}
	}
	if word == "use" || word == "use_flake" || word == "use_nix" {
		name, rest := arg, ""
		if word != "use" {
			name, rest = word[len("use_"):], arg
		} else if len(args) > 1 {
			rest = args[1]
		}
		return usedFiles(name, rest)
	}
	file, ok := sourcing[word]
	if !ok {
		return nil
	}
	if arg != "" {
		file = arg
	}
	return []string{file}
}

// usedFiles are those of "use NAME ARG", where ARG may be a flake's folder ("./nix#shell") or a Nix file.
func usedFiles(name, arg string) []string {
	out := using[name]
	if arg == "" || strings.HasPrefix(arg, "-") {
		return out
	}
	if name == "nix" || name == "vim" {
		return append([]string{arg}, out...)
	}
	dir, _, _ := strings.Cut(arg, "#")
	dir = strings.TrimPrefix(dir, "path:")
	var moved []string
	for _, file := range out {
		moved = append(moved, filepath.Join(dir, file))
	}
	return append(moved, out...)
}

func (p *protector) sourcedFile(dir, file string) {
	path := absolute(strings.TrimPrefix(file, "~"), dir)
	if file == "" || path == dir || !inside(path, p.ws.Root) || path == p.ws.Root {
		// What is left of "$PWD/x" looks absolute.
		if path = filepath.Join(dir, file); file == "" || path == dir {
			return
		}
	}
	if p.kind(path) == kindFolder {
		path = filepath.Join(path, ".envrc")
	}
	p.add(claim{path: path, reason: "direnv executes it, since .envrc names it", absent: Watch})
}

package workspace

import (
	"path/filepath"
	"slices"
	"strings"

	"code.sidecar.dev/workspace/looks"
)

// A shell puts paths together: it goes to a folder first, takes one from a variable, matches a pattern. Instead of doing what
// a shell does, a text is cut into pieces at every character that ends a word or a part of one, and each piece is looked for
// from the work tree and from every folder that another piece names.

// piece is a part of a text that may be a path, or the beginning or the end of one.
type piece struct {
	path string
	// joined says that a variable or another expansion stands before it, like "~": its "/" is not the root's.
	joined bool
	// place says that it can only be a folder's name or is used as one: "x/y", "x/", cd x. Words like "test" are not.
	place bool
	// given says that an interpreter, or the shell's ".", is given it.
	given bool
	// all says that every program in the folder is executed: run-parts x, for f in x/*.
	all bool
}

const (
	cuts   = " \t\r\n;&|(){}<>\"'`$=:,\\"
	quotes = "\"'\\" // a backslash stands before quotes within quotes
	globs  = "*?["
)

// pieces cuts a command line or script.
func pieces(text string) []piece {
	var out []piece
	seen := map[piece]bool{}
	before := ""
	for pos := 0; pos < len(text); {
		if strings.IndexByte(cuts, text[pos]) >= 0 {
			pos++
			continue
		}
		start := pos
		if start > 0 && text[start-1] == '$' {
			start += variableName(text[start:])
		}
		for pos = start; pos < len(text) && strings.IndexByte(cuts, text[pos]) < 0; {
			pos++
		}
		word := text[start:pos]
		if word == "" {
			pos = max(pos, start)
			continue
		}
		p := newPiece(word, before, afterExpansion(text, start))
		p.place = p.place || strings.HasPrefix(strings.TrimLeft(text[pos:], quotes), "/") || isPrefix(text, start, word)
		if p.path != "" && !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
		if word[0] != '-' || len(word) == 1 {
			before = word
		}
	}
	return out
}

func newPiece(word, before string, joined bool) piece {
	p := piece{path: word, joined: joined && word[0] == '/', given: takesProgram(before)}
	if i := strings.IndexAny(word, globs); i >= 0 {
		folder := strings.LastIndexByte(word[:i], '/') + 1
		p.path = word[:folder]
		p.all = before == "in" && !strings.Contains(word[folder:], "/")
	}
	if rest, ok := strings.CutPrefix(p.path, "~/"); ok {
		p.joined, p.path = true, rest
	}
	if p.joined {
		p.path = strings.TrimLeft(p.path, "/")
	}
	p.all = p.all || before == "run-parts"
	p.place = strings.Contains(word, "/") || p.all || before == "cd" || before == "pushd"
	return p
}

// variableName is how long the name of a variable is, or what stands for one.
func variableName(text string) int {
	n := 0
	for n < len(text) && (text[n] == '_' || isAlnum(text[n])) {
		n++
	}
	if n == 0 && strings.IndexByte("@*#?!-", text[0]) >= 0 {
		return 1
	}
	return n
}

// afterExpansion tells whether what begins at pos stands behind an expansion: $X/, ${X}/, $(…)/, "$X"/.
func afterExpansion(text string, pos int) bool {
	rest := strings.TrimRight(text[:pos], quotes)
	if rest == "" {
		return false
	}
	last := rest[len(rest)-1]
	return last == '_' || isAlnum(last) || strings.IndexByte("})`@*#?!-", last) >= 0
}

// isPrefix tells whether the word at pos is the value of a variable that stands before a "/" elsewhere in the text.
func isPrefix(text string, pos int, word string) bool {
	rest, ok := strings.CutSuffix(strings.TrimRight(text[:pos], quotes), "=")
	if !ok {
		return false
	}
	name := rest[strings.LastIndexAny(rest, cuts)+1:]
	return name != "" && (strings.Contains(text, "$"+name+"/") || strings.Contains(text, "${"+name+"}/") ||
		strings.Contains(text, "$"+name+`"/`) || strings.Contains(text, "${"+name+`}"/`))
}

// takesProgram tells whether a word executes the file that follows it.
func takesProgram(word string) bool {
	switch strings.TrimRight(filepath.Base(word), "0123456789.") {
	case "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "pypy", "node", "deno", "bun", "tsx", "perl", "ruby", "php", "lua", "Rscript", "pwsh",
		"source", "exec", "eval":
		return true
	}
	return word == "."
}

// reader is who reads a text, and what of the files that it names is held.
type reader struct {
	claim
	repo *Repository
	// bases are folders that the text's paths may start from, besides the work tree.
	bases []string
	// any says that a file counts that is named by its whole path, whatever it is; given, that one does that an interpreter
	// is given. What is executable, or says itself by "#!" what executes it, counts; if not given, only outside of what builds make.
	any, given bool
	// folders says that the programs count, too, that lie directly in a folder that is named.
	folders bool
}

// Bounds of one text, and of the programs in one folder.
const (
	maxPlaces   = 64
	maxPrograms = 200
)

// pieces protects the files that the pieces of a text name, alone or together.
func (p *protector) pieces(rd reader, text string) {
	all := pieces(text)
	var places []string
	known, searched := map[string]bool{}, map[string]bool{}
	// at looks at a piece from one folder, and says whether it is something there.
	at := func(base string, pc piece, whole bool) bool {
		if !p.tryMore() {
			return false
		}
		path := filepath.Join(base, pc.path)
		if filepath.IsAbs(pc.path) {
			path = filepath.Clean(pc.path)
		}
		scope := p.scope(path)
		if !inside(base, scope) {
			base = scope // the home folder: not looked at itself
		}
		if len(path) >= maxPath || scope == "" || !p.mayBe(base, path) {
			return false
		}
		switch {
		case p.isFile(path):
			if !p.isGitData(rd.repo, path) && (rd.given || !p.isBuilt(path)) && (whole && rd.any && pc.place || rd.given && (pc.given || isShellScript(path)) || isProgram(p.looks, path)) {
				p.hold(rd.claim, path)
			}
			return true
		case !p.isPlace(rd.repo, path):
			return false
		case !known[path] && len(places) < maxPlaces:
			known[path] = true
			places = append(places, path)
		}
		if pc.place && rd.folders && (pc.all || !searched[path]) {
			searched[path] = true
			p.programsIn(rd, path, pc.all)
		}
		return true
	}
	for _, pc := range all {
		for _, base := range append([]string{topOf(rd.repo), p.ws.home}, rd.bases...) {
			at(base, pc, true)
		}
	}
	for i := 0; i < len(places); i++ {
		for _, pc := range all {
			if !filepath.IsAbs(pc.path) && !at(places[i], pc, false) && rd.any && strings.HasPrefix(pc.path, "./") {
				p.absentIn(rd, places, pc.path)
			}
		}
	}
}

// maxTries bounds how often a piece is joined to a folder: each of a long text to each folder that another piece names.
const maxTries = 4_000_000

func (p *protector) tryMore() bool {
	if p.tries++; p.tries == maxTries+1 {
		p.ws.note("the commands, hooks and settings of this workspace have more words than can be looked for: files that the rest of them names are not held")
	}
	return p.tries <= maxTries
}

// absentIn watches for a program that is called and is nowhere.
func (p *protector) absentIn(rd reader, places []string, name string) {
	for _, dir := range append([]string{topOf(rd.repo)}, places...) {
		if p.kind(filepath.Join(dir, name)) != kindAbsent {
			return
		}
	}
	for _, dir := range places {
		p.hold(rd.claim, filepath.Join(dir, name))
	}
}

func (p *protector) hold(w claim, path string) {
	w.path = path
	p.add(w)
}

// mayBe spares looks: most words of a text are no names of anything. It counts those that are looked at.
func (p *protector) mayBe(base, path string) bool {
	if path == base || strings.ContainsRune(path, 0) {
		return false
	}
	rest, below := strings.CutPrefix(path, base+"/")
	first, _, _ := strings.Cut(rest, "/")
	return (!below || p.listed(base).has(first)) && p.more()
}

// listed is list, remembered, also of a folder that a link leads to.
func (p *protector) listed(dir string) listing {
	if l, ok := p.listings[dir]; ok {
		return l
	}
	real, err := p.looks.Real(dir)
	if err != nil {
		real = dir
	}
	l := list(p.looks, real)
	p.listings[dir] = l
	return l
}

// isPlace tells whether path is a folder that programs may be called from: not one that holds the whole work tree, nor git's own.
func (p *protector) isPlace(r *Repository, path string) bool {
	if k := p.kind(path); k != kindFolder && (k != kindLink || !isFolder(p.looks, path)) {
		return false
	}
	return !inside(p.ws.Root, path) && !inside(topOf(r), path) && (r.GitDir == "" || !inside(path, r.GitDir) && !inside(path, r.CommonDir))
}

// built are folders of what builds and package managers make: runs must write it.
var built = map[string]bool{"node_modules": true, ".venv": true, "venv": true, "target": true, "build": true, "dist": true, "out": true}

func (p *protector) isBuilt(path string) bool {
	below := strings.Split(strings.TrimPrefix(path, p.scope(path)), "/")
	return slices.ContainsFunc(below, func(part string) bool { return built[part] })
}

// programsIn holds the programs that lie directly in a folder, and what shells load (. x.sh); all of the folder where each of them is executed, whatever it
// is called, or where they are too many.
func (p *protector) programsIn(rd reader, dir string, all bool) {
	if p.isBuilt(dir) {
		return
	}
	in := p.listed(dir)
	var programs []string
	for _, name := range in.names() {
		if path := filepath.Join(dir, name); in[name] != kindFolder && (isProgram(p.looks, path) || isShellScript(name) && p.isFile(path)) {
			programs = append(programs, path)
		}
	}
	if in.partial() || len(programs) > maxPrograms || all && isHooksName(filepath.Base(dir)) {
		rd.folder, rd.absent = true, nothing
		programs = []string{dir}
	}
	for _, path := range programs {
		p.hold(rd.claim, path)
	}
}

// isHooksName: src/hooks is as often a folder of sources, so that a loop over any other folder holds only what is there.
func isHooksName(name string) bool {
	return strings.HasSuffix(name, "hooks") || strings.HasSuffix(name, ".d")
}

func isShellScript(path string) bool {
	switch filepath.Ext(path) {
	case ".sh", ".bash", ".zsh":
		return true
	}
	return false
}

// isProgram tells whether a file can be executed as it is, or says what executes it.
func isProgram(l *looks.Looks, path string) bool {
	if isExecutable(l, path) {
		return true
	}
	real, err := l.Real(path)
	if err != nil {
		return false
	}
	head, err := l.ReadHead(real, 2)
	return err == nil && string(head) == "#!"
}

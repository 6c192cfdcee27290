package env

import (
	"path"
	"strings"
)

// extensions tell a language by a file's name.
var extensions = map[string]string{
	".py": "python", ".sh": "bash", ".bash": "bash", ".js": "node", ".mjs": "node", ".cjs": "node", ".rb": "ruby", ".pl": "perl",
	".lua": "lua", ".hs": "haskell", ".m": "octave", ".ts": "typescript", ".mts": "typescript", ".go": "go", ".php": "php", ".r": "r", ".jl": "julia",
}

// LanguageOf is the name of the language that a file's #! line or name tells, or "".
func LanguageOf(name, code string) string {
	if line, _, _ := strings.Cut(code, "\n"); strings.HasPrefix(line, "#!") {
		if lang := shebang(line[2:]); lang != "" {
			return lang
		}
	}
	return extensions[strings.ToLower(path.Ext(name))]
}

// shebang reads "/usr/bin/env -S python3.12 -u" or "/bin/bash -e".
func shebang(line string) string {
	for i, word := range strings.Fields(line) {
		base := path.Base(word)
		if i == 0 && base == "env" || strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		lang, err := Lookup(strings.TrimRight(base, "0123456789."))
		if err != nil {
			return ""
		}
		return lang.Name
	}
	return ""
}

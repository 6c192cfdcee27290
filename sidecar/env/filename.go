package env

import (
	"regexp"
	"strings"
)

// FileName is the name for a file with this code: the language's, except that Node takes from the name
// whether code is an ES module, so code that can only be one gets main.mjs.
func FileName(lang Language, code string) string {
	if lang.Name == "node" && isModule(code) {
		return "main.mjs"
	}
	return lang.File
}

// Source is the code as the file must hold it: the frame that a snippet leaves out is put on its first line,
// so that line numbers stay. PHP without an opening tag gets one, Go without a package clause package main.
func Source(lang Language, code string) string {
	switch lang.Name {
	case "php":
		if !strings.Contains(code, "<?") {
			return "<?php " + code
		}
	case "go":
		if !packageClause.MatchString(code) {
			return "package main; " + code
		}
	}
	return code
}

// packageClause finds Go's package clause, at a line's beginning or after a comment.
var packageClause = regexp.MustCompile(`(?m)^(\s*/\*.*\*/)?\s*package\s+\w`)

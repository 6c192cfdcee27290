package mcp

import (
	"fmt"
	"strings"
)

// didYouMean is the part of a message that offers the known name nearest to a wrong one, or "".
func didYouMean(name string, known []string) string {
	best, least := "", 3
	for _, word := range known {
		if d := unlikeness(strings.ToLower(name), word); d < least {
			best, least = word, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// otherNames are what models call an argument whose name is something else here.
var otherNames = map[string]string{
	"lang": "language", "source": "code", "script": "code", "program": "code", "command": "code",
	"arguments": "args", "argv": "args", "input": "stdin", "dir": "cwd", "directory": "cwd", "workdir": "cwd",
	"working_directory": "cwd", "environment_variables": "env", "env_vars": "env", "timeout_seconds": "timeout",
	"timeout_ms": "timeout", "root": "workspace", "project": "workspace", "dependencies": "packages",
}

// unlikeness is how many letters differ; large numbers stand for "not alike".
func unlikeness(name, word string) int {
	switch {
	case otherNames[name] == word:
		return 0
	case len(name) > 40:
		return 100
	case len(name) > 2 && (strings.HasPrefix(word, name) || strings.HasPrefix(name, word)):
		return 1
	}
	return letters(name, word)
}

// letters is the Levenshtein distance.
func letters(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

package declared

import (
	"fmt"
	"path/filepath"
	"strings"
)

// expand gives the absolute path that a text means: ~, $NAME or ${NAME} at its start, and .. taken out.
func (h Host) expand(text string) (string, error) {
	path := text
	if head, rest, ok := variable(text); ok {
		value, err := h.valueOf(head)
		if err != nil {
			return "", err
		}
		path = value + rest
	}
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("a NUL byte in the path")
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("a relative path; want an absolute one, or ~, $HOME or another variable at its start")
	}
	return filepath.Clean(path), nil
}

// variable cuts a text that starts with ~, $NAME or ${NAME} into the name and the rest.
func variable(text string) (name, rest string, ok bool) {
	if text == "~" || strings.HasPrefix(text, "~/") {
		return "HOME", text[1:], true
	}
	after, ok := strings.CutPrefix(text, "$")
	if !ok {
		return "", "", false
	}
	if inner, braced := strings.CutPrefix(after, "{"); braced {
		return strings.Cut(inner, "}")
	}
	end := strings.IndexFunc(after, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if end < 0 {
		return after, "", true
	}
	return after[:end], after[end:], true
}

func (h Host) valueOf(name string) (string, error) {
	if name == "HOME" && h.Home != "" {
		return h.Home, nil
	}
	if value := h.Getenv(name); value != "" {
		return value, nil
	}
	return "", fmt.Errorf("the variable %s is not set where this was started", name)
}

package workspace

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.lsp.dev/uri"
)

// ErrURI says that a URI names no folder of this machine; errors of FromURI wrap it.
var ErrURI = errors.New("is no file URI of this machine")

// FromURI returns the path that a "file:" URI names, as editors and MCP clients send roots (RFC 8089). The host
// part must be empty or "localhost".
func FromURI(text string) (string, error) {
	if len(text) >= 5 && strings.EqualFold(text[:5], "file:") {
		text = "file:" + text[5:] // a scheme's case does not count (RFC 3986, 3.1)
	}
	u, err := uri.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%q %w: %w", text, ErrURI, err)
	}
	if !strings.HasPrefix(text, "file:") || !u.IsFile() {
		return "", fmt.Errorf("%q %w: it must begin with file://", text, ErrURI)
	}
	if host := u.Authority(); host != "" && !strings.EqualFold(host, "localhost") {
		return "", fmt.Errorf("%q %w: it is on the host %q", text, ErrURI, host)
	}
	path := u.Path()
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%q %w: its path is not absolute", text, ErrURI)
	}
	return filepath.Clean(path), nil
}

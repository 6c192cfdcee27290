package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace"
)

// The names of the sources of a workspace, as results show them.
const (
	fromFlag        = "--workspace"
	fromSidecar     = "SIDECAR_WORKSPACE"
	fromProject     = "PROJECT_DIR"
	fromRoots       = "roots"
	fromClaude      = "CLAUDE_PROJECT_DIR"
	fromFolderPaths = "WORKSPACE_FOLDER_PATHS"
	fromCodex       = "codex"
	fromDir         = "working folder"
)

// codexKey is where Codex puts its folder, if the server declares the capability of that name.
const codexKey = "codex/sandbox-state-meta"

// folder is a candidate for a workspace.
type folder struct {
	path, name string
}

// source is what one source gave: folders, and notes on what was left out.
type source struct {
	name    string
	folders []folder
	notes   []string
}

// choice is the workspace of a call.
type choice struct {
	root, source string
	notes        []string
}

// choose finds the workspace of a call: the first source that knows folders decides, and want, which comes from
// the model, only picks one of these.
func (c *conn) choose(ctx context.Context, req mcp.CallToolRequest, want string) (choice, error) {
	var notes []string
	for _, set := range c.setByUser() {
		if len(set.folders) > 0 {
			return set.pick(want)
		}
	}
	roots, err := c.roots.source(ctx, req)
	if err != nil {
		return choice{}, err
	}
	for _, s := range append([]source{roots}, c.setByClient(req)...) {
		s = c.withoutWideOnes(s)
		s.notes = append(notes, s.notes...)
		if len(s.folders) > 0 {
			return s.pick(want)
		}
		notes = s.notes
	}
	return choice{}, noWorkspace(notes)
}

// setByUser are the sources that the user named for sidecar itself. They are taken as they are.
func (c *conn) setByUser() []source {
	return []source{
		c.single(fromFlag, c.o.Flag),
		c.single(fromSidecar, c.o.Getenv(fromSidecar)),
		c.single(fromProject, c.o.Getenv(fromProject)),
	}
}

// setByClient are the sources below roots: what single clients pass, and the folder we were started in.
func (c *conn) setByClient(req mcp.CallToolRequest) []source {
	return []source{
		c.single(fromClaude, c.o.Getenv(fromClaude)),
		c.several(fromFolderPaths, c.o.Getenv(fromFolderPaths)),
		codex(req.Params.Meta),
		c.workingFolder(),
	}
}

// workingFolder is where we were started, unless that is gone.
func (c *conn) workingFolder() source {
	if c.o.NoDir != nil {
		return source{name: fromDir, notes: []string{fmt.Sprintf("%s: it is gone (%v)", fromDir, c.o.NoDir)}}
	}
	return c.single(fromDir, c.o.Dir)
}

// single is a source of one folder; a relative one starts at the working folder.
func (c *conn) single(name, path string) source {
	s := source{name: name}
	if path == "" {
		return s
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.o.Dir, path)
	}
	s.folders = []folder{{path: filepath.Clean(path)}}
	return s
}

// several is a source of a list, whose separator differs from client to client. A folder may have one in its
// name: then the whole is that folder.
func (c *conn) several(name, value string) source {
	if value == "" || checkFolder(value) == nil {
		return c.single(name, value)
	}
	s := source{name: name}
	for _, path := range strings.FieldsFunc(value, func(r rune) bool { return r == filepath.ListSeparator || r == ',' }) {
		if path = strings.TrimSpace(path); path != "" {
			s.folders = append(s.folders, c.single(name, path).folders...)
		}
	}
	return s
}

// codex is the folder that Codex sends with each call, as a path or a file URI.
func codex(meta *mcp.Meta) source {
	s := source{name: fromCodex}
	state, _ := meta.GetMetaField(codexKey).(map[string]any)
	path, _ := state["sandboxCwd"].(string)
	if strings.HasPrefix(path, "file:") {
		path, _ = rootPath(path)
	}
	if filepath.IsAbs(path) {
		s.folders = []folder{{path: filepath.Clean(path)}}
	}
	return s
}

// withoutWideOnes takes out folders of the system and what holds the whole home, which clients name when they know no project: a
// run may write in its workspace.
func (c *conn) withoutWideOnes(s source) source {
	var rest []folder
	for _, f := range s.folders {
		if workspace.IsWide(resolved(f.path), resolved(c.o.Home)) {
			s.notes = append(s.notes, fmt.Sprintf("%s: %s is too wide for a workspace and was skipped", s.name, f.path))
			continue
		}
		rest = append(rest, f)
	}
	s.folders = rest
	return s
}

// pick takes the folder that want names, or the first that exists.
func (s source) pick(want string) (choice, error) {
	if want != "" {
		return s.named(want)
	}
	var missing error
	for _, f := range s.folders {
		if err := checkFolder(f.path); err != nil {
			if missing == nil {
				missing = err
			}
			s.notes = append(s.notes, fmt.Sprintf("%s: %s; it was skipped", s.name, err))
			continue
		}
		return choice{root: f.path, source: s.name, notes: s.notes}, nil
	}
	return choice{}, s.unusable(missing)
}

// named finds the one folder of that path or name.
func (s source) named(want string) (choice, error) {
	var found []folder
	for _, f := range s.folders {
		if f.isCalled(want) && (len(found) == 0 || resolved(found[0].path) != resolved(f.path)) {
			found = append(found, f)
		}
	}
	switch {
	case len(found) == 0:
		return choice{}, badRequest(fmt.Sprintf("workspace %q is none of those that %s gives: %s", want, s.name, s.paths()),
			"workspace only chooses among these, by path or name; leave it out for the first.")
	case len(found) > 1:
		return choice{}, badRequest(fmt.Sprintf("workspace %q fits several of those that %s gives: %s", want, s.name, s.paths()),
			"Name it by its path.")
	}
	if err := checkFolder(found[0].path); err != nil {
		return choice{}, s.unusable(err)
	}
	return choice{root: found[0].path, source: s.name, notes: s.notes}, nil
}

// isCalled says whether want is this folder's path, its name or the last part of its path.
func (f folder) isCalled(want string) bool {
	if path, err := rootPath(want); err == nil {
		want = path
	}
	if filepath.IsAbs(want) {
		return resolved(want) == resolved(f.path)
	}
	return want == f.name || want == filepath.Base(f.path)
}

func (s source) paths() string {
	all := make([]string, len(s.folders))
	for i, f := range s.folders {
		all[i] = f.path
	}
	return strings.Join(all, ", ")
}

func (s source) unusable(err error) error {
	return badRequest(fmt.Sprintf("workspace from %s: %s", s.name, err), "Correct "+s.name+", or name another folder with --workspace or SIDECAR_WORKSPACE.")
}

// checkFolder says what is wrong with a path that should be a folder.
func checkFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", path)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", path)
	}
	return nil
}

// resolved follows symbolic links as far as the path exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

func noWorkspace(notes []string) error {
	message := "no workspace is known: the client names no folder"
	if len(notes) > 0 {
		message += " that can be used (" + strings.Join(notes, "; ") + ")"
	}
	return badRequest(message, "The user sets one in the client's configuration of this server: the argument --workspace DIR, or the variable SIDECAR_WORKSPACE.")
}

func badRequest(message, hint string) *protocol.Error {
	return &protocol.Error{Kind: protocol.BadRequest, Message: message, Hint: hint}
}

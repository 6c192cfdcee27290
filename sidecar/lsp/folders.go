package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
	"code.sidecar.dev/workspace"
)

// folder is one that the editor has open.
type folder struct {
	// uri and name are the editor's; uri is "" for one that the editor did not name.
	uri, name string
	// path is absolute, root that of the project around it. err says why it can have no sidecar.
	path, root string
	err        error
}

// named are the folders that the editor means: the one of the flag, those that it names, or the working folder.
func (e *editor) named(p initializeParams) []folder {
	if e.o.Flag != "" {
		return []folder{e.at(e.o.Flag)}
	}
	var out []folder
	for _, w := range p.WorkspaceFolders {
		out = append(out, e.folder(w))
	}
	switch {
	case len(out) > 0:
	case p.RootURI != nil && *p.RootURI != "":
		out = append(out, e.folder(workspaceFolder{URI: *p.RootURI}))
	case p.RootPath != nil && *p.RootPath != "":
		out = append(out, e.at(*p.RootPath))
	default:
		if f := e.at(e.o.Dir); f.err == nil {
			out = append(out, f)
		}
	}
	return out
}

// folder is one of the editor's.
func (e *editor) folder(w workspaceFolder) folder {
	path, err := pathOf(w.URI)
	if err != nil {
		return folder{uri: w.URI, name: w.Name, err: &protocol.Error{Kind: protocol.BadRequest, Message: err.Error(), Hint: "open a folder of this machine"}}
	}
	f := e.at(path)
	f.uri, f.name = w.URI, w.Name
	return f
}

// at is the folder at a path. A run may write in its project, so what holds the whole home is none, and no folder of the system.
func (e *editor) at(path string) folder {
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.o.Dir, path)
	}
	f := folder{path: filepath.Clean(path)}
	if f.root, f.err = e.o.Root(f.path); f.err == nil && workspace.IsWide(f.root, resolved(e.o.Home)) {
		f.err = &protocol.Error{Kind: protocol.BadRequest, Message: f.root + " is too wide for a project: runs may write in it", Hint: "open the folder of a project"}
	}
	return f
}

// open takes folders in.
func (e *editor) open(all []folder) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.folders = append(e.folders, all...)
}

// connectAll connects to every folder's sidecar, and waits for the first one's.
func (e *editor) connectAll() *protocol.About {
	e.mu.Lock()
	all := slices.Clone(e.folders)
	e.mu.Unlock()
	var first *protocol.About
	var wait sync.WaitGroup
	seen := map[string]bool{}
	for i, f := range all {
		if f.err != nil || seen[f.root] {
			continue
		}
		seen[f.root] = true
		connect := func() {
			if c, err := e.link(f.root).get(e.ctx); err == nil && i == 0 {
				about := c.About()
				first = &about
			}
		}
		if i == 0 {
			wait.Go(connect)
		} else {
			go connect()
		}
	}
	wait.Wait()
	return first
}

// changeFolders is workspace/didChangeWorkspaceFolders.
func (e *editor) changeFolders(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[struct {
		Event struct{ Added, Removed []workspaceFolder }
	}]("workspace/didChangeWorkspaceFolders", raw)
	if err != nil || e.o.Flag != "" {
		return nil, err
	}
	var added []folder
	for _, w := range p.Event.Added {
		f := e.folder(w)
		added = append(added, f)
		if f.err != nil {
			e.show(isError, "sidecar: "+f.err.Error())
		}
	}
	e.leave(p.Event.Removed)
	e.open(added)
	go e.connectAll()
	return nil, nil
}

// leave forgets folders, and lets go of the sidecars that none needs any more.
func (e *editor) leave(gone []workspaceFolder) {
	e.mu.Lock()
	needed := map[string]bool{}
	e.folders = slices.DeleteFunc(e.folders, func(f folder) bool {
		isGone := slices.ContainsFunc(gone, func(w workspaceFolder) bool { return w.URI == f.uri })
		needed[f.root] = needed[f.root] || !isGone
		return isGone
	})
	var unneeded []*link
	for root, l := range e.links {
		if isKnown, known := needed[root]; known && !isKnown {
			delete(e.links, root)
			unneeded = append(unneeded, l)
		}
	}
	e.mu.Unlock()
	for _, l := range unneeded {
		l.close()
	}
}

// rootFor is the root of the project that is meant: by the path or URI of a folder, or of anything inside one; "" is
// the first folder.
func (e *editor) rootFor(what string) (string, error) {
	e.mu.Lock()
	all := slices.Clone(e.folders)
	e.mu.Unlock()
	if what == "" {
		if len(all) == 0 {
			return "", &protocol.Error{Kind: protocol.BadRequest, Message: "the editor has no folder open", Hint: "open a project's folder, or start `sidecar lsp --workspace FOLDER`"}
		}
		return all[0].root, all[0].err
	}
	path, err := pathOf(what)
	if err != nil { // a name, or a document that has no file
		for _, f := range all {
			if f.name == what || f.uri == what {
				return f.root, f.err
			}
		}
		if strings.Contains(what, ":") {
			return e.rootFor("")
		}
		return "", &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("no folder of the editor is called %.100q", what), Hint: "name one by its path or its URI"}
	}
	best := folder{}
	for _, f := range all {
		if (isInside(path, f.path) || isInside(path, f.root)) && len(f.path) > len(best.path) {
			best = f
		}
	}
	if best.path != "" || e.o.Flag != "" {
		return cmp.Or(best.root, all[0].root), best.err
	}
	f := e.at(folderOf(path))
	return f.root, f.err
}

// isInside says whether path is dir or lies below it.
func isInside(path, dir string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}

// pathOf is the path that a file URI names; a path is taken as it is.
func pathOf(text string) (string, error) {
	if filepath.IsAbs(text) {
		return filepath.Clean(text), nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || !strings.EqualFold(u.Scheme, "file"):
		return "", fmt.Errorf("%.200q is no file URI", text)
	case u.Host != "" && !strings.EqualFold(u.Host, "localhost"):
		return "", fmt.Errorf("%.200q is on another machine", text)
	case !filepath.IsAbs(u.Path) || strings.ContainsRune(u.Path, 0):
		return "", fmt.Errorf("%.200q names no absolute path", text)
	}
	return filepath.Clean(u.Path), nil
}

// uriOf is the file URI of a path.
func uriOf(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// resolved follows symbolic links as far as the path exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// folderOf is the folder of a file that is in none of the editor's.
func folderOf(path string) string { return filepath.Dir(path) }

// workspaces is sidecar/workspaces.
func (e *editor) workspaces(context.Context, json.RawMessage) (any, error) {
	return protocol.WorkspacesResult{Workspaces: e.list()}, nil
}

// list says of each folder which sidecar it has.
func (e *editor) list() []protocol.Workspace {
	e.mu.Lock()
	all := slices.Clone(e.folders)
	e.mu.Unlock()
	out := []protocol.Workspace{}
	for _, f := range all {
		w := protocol.Workspace{Folder: f.uri, Name: f.name, Root: f.root, Error: protocol.AsError(f.err)}
		if f.err == nil {
			w.About, w.Error = e.link(f.root).shown()
		}
		out = append(out, w)
	}
	return out
}

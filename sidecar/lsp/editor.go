package lsp

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"

	lsp "go.lsp.dev/protocol"

	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// editor is who is served.
type editor struct {
	o    Options
	ctx  context.Context // ends with the editor
	peer *rpc.Peer
	exit chan error
	// tokens counts the runs that this edge asks for, or names for the editor.
	tokens atomic.Int64

	mu      sync.Mutex
	state   state
	name    string
	version string
	options protocol.InitializeOptions
	can     capabilities
	folders []folder
	links   map[string]*link
	routes  *routes
	// encoding is that of positions, documents are those that are open, own the runs that this edge asked for.
	encoding  string
	documents map[string]document
	own       ownRuns
	// diagnosed are the documents in which the last run of a document shows where it failed.
	diagnosed map[string][]string
}

// state is where an editor is in LSP's lifecycle.
type state int

const (
	fresh state = iota
	initialized
	shutDown
)

func newEditor(ctx context.Context, o Options) *editor {
	return &editor{o: o, ctx: ctx, exit: make(chan error, 1), links: map[string]*link{}, routes: newRoutes(), encoding: utf16Units, documents: map[string]document{}, diagnosed: map[string][]string{}}
}

// methods are what the Language Server Protocol has an editor ask for or tell, as far as it is served. Each group has
// its file.
var methods = map[string]func(*editor, context.Context, json.RawMessage) (any, error){
	lsp.MethodInitialize:                         (*editor).initialize,
	lsp.MethodInitialized:                        (*editor).initialized,
	lsp.MethodShutdown:                           (*editor).shutdown,
	lsp.MethodExit:                               (*editor).exited,
	lsp.MethodWorkspaceDidChangeWorkspaceFolders: (*editor).changeFolders,
	lsp.MethodTextDocumentDidOpen:                (*editor).didOpen,
	lsp.MethodTextDocumentDidChange:              (*editor).didChange,
	lsp.MethodTextDocumentDidClose:               (*editor).didClose,
	lsp.MethodTextDocumentCodeLens:               (*editor).codeLens,
	lsp.MethodTextDocumentCodeAction:             (*editor).codeAction,
	lsp.MethodWorkspaceExecuteCommand:            (*editor).execute,
	lsp.MethodWindowWorkDoneProgressCancel:       (*editor).cancelProgress,
	protocol.MethodWorkspaces:                    (*editor).workspaces,
}

// handle answers one request, or takes one notification.
func (e *editor) handle(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if err := e.ready(method); err != nil {
		return nil, err
	}
	if do, ok := methods[method]; ok {
		return do(e, ctx, params)
	}
	if strings.HasPrefix(method, "sidecar/") {
		return e.forward(ctx, method, params)
	}
	return nil, rpc.Unknown(method)
}

// ready refuses what comes outside the lifecycle.
func (e *editor) ready(method string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case method == lsp.MethodExit || e.state == initialized || e.state == fresh && method == lsp.MethodInitialize:
		return nil
	case e.state == fresh:
		return rpc.NotInitialized(method)
	}
	return rpc.AfterShutdown(method)
}

// shutdown ends the connections to sidecars, and with them the runs that the editor asked for.
func (e *editor) shutdown(context.Context, json.RawMessage) (any, error) {
	e.mu.Lock()
	e.state = shutDown
	e.mu.Unlock()
	e.close()
	return nil, nil
}

// exited ends the edge.
func (e *editor) exited(context.Context, json.RawMessage) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	if e.state != shutDown {
		err = ErrExit
	}
	select {
	case e.exit <- err:
	default:
	}
	return nil, nil
}

// close lets go of all sidecars; they live on.
func (e *editor) close() {
	e.mu.Lock()
	all := e.links
	e.links = map[string]*link{}
	e.mu.Unlock()
	for _, l := range all {
		l.close()
	}
}

// tell sends a notification to the editor; it waits while the editor does not read. Handlers of what the editor sends use
// push: an editor may well read nothing until it has written all.
func (e *editor) tell(method string, params any) {
	if err := e.peer.Notify(method, params); err != nil {
		e.o.Log.Debug("the editor was not told", "method", method, "err", err)
	}
}

// push is tell that does not wait, for what is small and rare.
func (e *editor) push(method string, params any) { e.peer.Push(method, params) }

// Kinds of messages (LSP, MessageType).
const (
	isError = iota + 1
	isWarning
	isInfo
	isLog
)

// show has the editor show a message to the person.
func (e *editor) show(kind int, text string) {
	e.push(lsp.MethodWindowShowMessage, message{kind, text})
}

// message is the parameter of window/showMessage and window/logMessage.
type message struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

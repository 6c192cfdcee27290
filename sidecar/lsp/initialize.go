package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// initializeParams is what is read of LSP's InitializeParams. It is read leniently, since editors differ.
type initializeParams struct {
	ProcessID        *int                           `json:"processId"`
	ClientInfo       struct{ Name, Version string } `json:"clientInfo"`
	RootURI          *string                        `json:"rootUri"`
	RootPath         *string                        `json:"rootPath"`
	WorkspaceFolders []workspaceFolder              `json:"workspaceFolders"`
	Options          json.RawMessage                `json:"initializationOptions"`
	Capabilities     capabilities                   `json:"capabilities"`
}

// workspaceFolder is LSP's WorkspaceFolder.
type workspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

// capabilities are those of an editor that count here (LSP, ClientCapabilities).
type capabilities struct {
	Window struct {
		WorkDoneProgress bool             `json:"workDoneProgress"`
		ShowMessage      *json.RawMessage `json:"showMessage"`
		ShowDocument     struct {
			Support bool `json:"support"`
		} `json:"showDocument"`
	} `json:"window"`
	General struct {
		PositionEncodings []string `json:"positionEncodings"`
	} `json:"general"`
	TextDocument struct {
		CodeAction struct {
			Literals *json.RawMessage `json:"codeActionLiteralSupport"`
		} `json:"codeAction"`
	} `json:"textDocument"`
	Workspace struct {
		CodeLens struct {
			Refresh bool `json:"refreshSupport"`
		} `json:"codeLens"`
	} `json:"workspace"`
}

// initialize is LSP's first request. It waits for the first folder's sidecar, so that the answer can tell of it; one
// that cannot be had is no reason to refuse the editor: it is asked for again when it is needed.
func (e *editor) initialize(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[initializeParams]("initialize", raw)
	if err != nil {
		return nil, err
	}
	o, err := rpc.Params[protocol.InitializeOptions]("initialize: initializationOptions", p.Options)
	if err == nil {
		err = checked(o)
	}
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.state, e.options, e.can = initialized, o, p.Capabilities
	if e.name, e.version = p.ClientInfo.Name, p.ClientInfo.Version; e.name == "" {
		e.name = "editor"
	}
	if slices.Contains(p.Capabilities.General.PositionEncodings, utf8Bytes) {
		e.encoding = utf8Bytes
	}
	e.mu.Unlock()
	e.open(e.named(p))
	if p.ProcessID != nil {
		go e.outlive(*p.ProcessID)
	}
	return map[string]any{
		"capabilities": e.capabilities(e.connectAll()),
		"serverInfo":   map[string]string{"name": "sidecar", "version": e.o.Client.Build.Version},
	}, nil
}

// hasPlugin says that the editor has a plugin, which knows sidecar's own notifications. Others are told nothing that is not
// LSP: many complain of what they do not know.
func (e *editor) hasPlugin() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return isPlugin(e.options)
}

func isPlugin(o protocol.InitializeOptions) bool {
	return o.Protocol != 0 || o.Output != "" || o.Events != nil || o.Approvals
}

// checked says what is wrong with what the editor's plugin wants.
func checked(o protocol.InitializeOptions) error {
	if err := o.Check(); err != nil {
		return err
	}
	if o.Protocol > protocol.Version || o.Protocol < 0 || o.Protocol != 0 && o.Protocol < protocol.OldestVersion {
		return &protocol.Error{Kind: protocol.Outdated, Message: fmt.Sprintf("the editor's plugin speaks protocol %d; this sidecar speaks %d to %d", o.Protocol, protocol.OldestVersion, protocol.Version),
			Hint: "install a plugin and a sidecar of the same release"}
	}
	return nil
}

// capabilities are this server's (LSP, ServerCapabilities), with what the first folder's sidecar says of itself.
func (e *editor) capabilities(about *protocol.About) map[string]any {
	names := slices.Sorted(maps.Keys(commands))
	all := map[string]any{
		"positionEncoding":       e.encoding,
		"textDocumentSync":       map[string]any{"openClose": true, "change": 2}, // 2 is incremental
		"codeLensProvider":       map[string]any{},
		"codeActionProvider":     true,
		"executeCommandProvider": map[string]any{"commands": names},
		"workspace":              map[string]any{"workspaceFolders": map[string]any{"supported": true, "changeNotifications": true}},
	}
	if about != nil {
		all["experimental"] = map[string]any{"sidecar": about}
	}
	return all
}

// initialized says what could not be said before.
func (e *editor) initialized(context.Context, json.RawMessage) (any, error) {
	for _, w := range e.list() {
		if w.Error != nil {
			e.show(isError, "sidecar: "+w.Error.Error())
		}
	}
	return nil, nil
}

// lookEvery is how often the editor's process is looked for.
const lookEvery = 2 * time.Second

// outlive ends the edge when the editor's process is gone, as LSP wants it. Where it cannot be seen from here, as from a
// container, the end of standard input is the sign.
func (e *editor) outlive(pid int) {
	if pid <= 1 || syscall.Kill(pid, 0) == syscall.ESRCH {
		return
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-tick.C:
			if syscall.Kill(pid, 0) == syscall.ESRCH {
				e.peer.Drop()
				return
			}
		}
	}
}

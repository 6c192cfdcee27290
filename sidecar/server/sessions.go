package server

import (
	"context"
	"encoding/json"

	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// listSessions gives the named sessions.
func (c *client) listSessions(context.Context, json.RawMessage) (any, error) {
	return protocol.ListSessionsResult{Sessions: c.server.engine.Sessions()}, nil
}

// closeSession ends named sessions.
func (c *client) closeSession(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[protocol.CloseSessionParams](protocol.MethodCloseSession, raw)
	if err != nil {
		return nil, err
	}
	closed, err := c.server.engine.CloseSession(p.Name, p.Language)
	if err != nil {
		return nil, err
	}
	return protocol.CloseSessionResult{Closed: closed}, nil
}

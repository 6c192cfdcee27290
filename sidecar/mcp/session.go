package mcp

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// session is what mcp-go knows of the client. There is one for the life of the connection.
type session struct {
	mu      sync.Mutex
	info    mcp.Implementation
	can     mcp.ClientCapabilities
	ready   bool
	notices chan mcp.JSONRPCNotification
}

func newSession() *session {
	return &session{notices: make(chan mcp.JSONRPCNotification, 64)}
}

// SessionID is the same for all: a process has one client.
func (s *session) SessionID() string { return "stdio" }

// NotificationChannel takes mcp-go's own notifications (the acknowledgement of a subscription).
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notices }

// Initialize marks the session as ready.
func (s *session) Initialize() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = true
}

// Initialized says whether the client has introduced itself.
func (s *session) Initialized() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

// GetClientInfo is the client's name and version.
func (s *session) GetClientInfo() mcp.Implementation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

// SetClientInfo is called by mcp-go.
func (s *session) SetClientInfo(info mcp.Implementation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info = info
}

// GetClientCapabilities is what the client said it can do.
func (s *session) GetClientCapabilities() mcp.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.can
}

// SetClientCapabilities is called by mcp-go.
func (s *session) SetClientCapabilities(can mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.can = can
}

// next is a notification that mcp-go left for the client, if there is one.
func (s *session) next() (mcp.JSONRPCNotification, bool) {
	select {
	case n := <-s.notices:
		return n, true
	default:
		return mcp.JSONRPCNotification{}, false
	}
}

// client names the client for people: "claude-code 2.1". Since 2026-07-28 each request may say.
func (c *conn) client(ctx context.Context) string {
	info := c.session.GetClientInfo()
	if request := server.RequestProtocolInfoFromContext(ctx); request != nil && request.ClientInfo != nil {
		info = *request.ClientInfo
	}
	switch {
	case info.Name == "":
		return "mcp client"
	case info.Version == "":
		return info.Name
	}
	return info.Name + " " + info.Version
}

// capabilities are what the client of a request can do. Since 2026-07-28 each request says, and no other counts.
func (c *conn) capabilities(ctx context.Context) mcp.ClientCapabilities {
	request := server.RequestProtocolInfoFromContext(ctx)
	switch {
	case request == nil || !request.Modern:
		return c.session.GetClientCapabilities()
	case request.ClientCapabilities == nil:
		return mcp.ClientCapabilities{}
	}
	return *request.ClientCapabilities
}

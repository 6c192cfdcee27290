package protocol

import "time"

// The methods about named sessions: interpreters that are kept between runs. (RunRequest.Session is another thing: an
// agent or a person at work in the sandbox.)
const (
	MethodListSessions = "sidecar/listSessions"
	MethodCloseSession = "sidecar/closeSession"
)

// SessionCall is what a result says of the session that its code ran in.
type SessionCall struct {
	Name string `json:"name"`
	// Call is the number of this call in the session; 1 means that it is new, without any state.
	Call int `json:"call"`
	// Lost says why the state of an earlier session of this name, which this call may count on, is gone.
	Lost string `json:"lost,omitempty"`
	// Ended says why the session has ended with this call; the next one starts anew.
	Ended string `json:"ended,omitempty"`
}

// NamedSession is an interpreter that is kept.
type NamedSession struct {
	Name        string `json:"name"`
	Language    string `json:"language"`
	Environment string `json:"environment"`
	Interpreter string `json:"interpreter,omitempty"`
	// Client is who started it.
	Client  string    `json:"client,omitempty"`
	Started time.Time `json:"started"`
	// Used is when its last call ended, Calls how many there were, Run the one that goes on.
	Used  time.Time `json:"used"`
	Calls int       `json:"calls"`
	Run   string    `json:"run,omitempty"`
}

// ListSessionsResult are the sessions that a sidecar keeps, by their names.
type ListSessionsResult struct {
	Sessions []NamedSession `json:"sessions"`
}

// CloseSessionParams is the parameter of sidecar/closeSession.
type CloseSessionParams struct {
	Name string `json:"name"`
	// Language closes only the session of that language; "" those of all.
	Language string `json:"language,omitempty"`
}

// CloseSessionResult are the sessions that were closed.
type CloseSessionResult struct {
	Closed []NamedSession `json:"closed"`
}

package protocol

import "errors"

// ErrorKind is one of the few, stable kinds of error.
type ErrorKind string

// The kinds of error. Each has one exit status (ExitStatus).
const (
	BadRequest         ErrorKind = "bad_request"
	UnknownEnvironment ErrorKind = "unknown_environment"
	BuildFailed        ErrorKind = "build_failed"
	Denied             ErrorKind = "denied_by_policy"
	BackendMissing     ErrorKind = "backend_missing"
	TimedOut           ErrorKind = "timed_out"
	OutOfMemory        ErrorKind = "out_of_memory"
	Cancelled          ErrorKind = "cancelled"
	// Gone: the sidecar ended, or is about to; what had not started can be asked of the next one.
	Gone ErrorKind = "sidecar_gone"
	// Outdated: the other side speaks a protocol that this one does not.
	Outdated ErrorKind = "protocol_mismatch"
	Internal ErrorKind = "internal"
)

// Error says what was asked, what stands against it, and, in Hint, what to do.
type Error struct {
	Kind    ErrorKind `json:"kind"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	// Log is a file with all that a build said; absolute.
	Log string `json:"log,omitempty"`
	Err error  `json:"-"`
}

// Error is the message, and the hint on a line of its own.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "\n" + e.Hint
}

// AsError is err as a client sees it: the *Error in it, or one of kind Internal; nil stays nil.
func AsError(err error) *Error {
	var known *Error
	if err != nil && !errors.As(err, &known) {
		known = &Error{Kind: Internal, Message: err.Error()}
	}
	return known
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// ExitStatus is the terminal's exit status for an error of this kind. A program's own status passes through,
// so these are chosen where few programs end: 64 to 78 follow sysexits(3), 124 follows timeout(1).
func (k ErrorKind) ExitStatus() int {
	switch k {
	case BadRequest:
		return 64
	case UnknownEnvironment:
		return 69
	case BuildFailed:
		return 70
	case Denied:
		return 77
	case BackendMissing:
		return 72
	case TimedOut:
		return 124
	case OutOfMemory:
		return 137
	case Cancelled:
		return 130
	case Gone, Outdated:
		return 75
	}
	return 70
}

// Code is the JSON-RPC error code of an error of this kind. JSON-RPC keeps -32000 to -32099 for servers; where
// LSP has a code of the same meaning (RequestCancelled, -32800; InvalidParams, -32602; InternalError, -32603), it
// is that.
func (k ErrorKind) Code() int {
	switch k {
	case BadRequest:
		return -32602
	case UnknownEnvironment:
		return -32010
	case BuildFailed:
		return -32011
	case Denied:
		return -32012
	case BackendMissing:
		return -32013
	case TimedOut:
		return -32014
	case OutOfMemory:
		return -32015
	case Gone:
		return -32016
	case Outdated:
		return -32017
	case Cancelled:
		return -32800
	}
	return -32603
}

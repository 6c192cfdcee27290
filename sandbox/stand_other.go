//go:build !linux

package sandbox

import "context"

// Standing is not there yet on this system.
type Standing struct{}

// Stand is not there yet on this system.
func Stand(Plan) (*Standing, error) { return nil, ErrUnsupported }

// Run is not there yet on this system.
func (*Standing) Run(context.Context, Limits, Handover, IO) (End, error) {
	return End{ExitCode: -1}, ErrUnsupported
}

// Gone is never closed.
func (*Standing) Gone() <-chan struct{} { return nil }

// Err is nothing.
func (*Standing) Err() error { return nil }

// Close does nothing.
func (*Standing) Close() {}

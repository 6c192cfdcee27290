//go:build !linux

package sandbox

import "context"

// Run is not there yet on this system.
func Run(context.Context, Plan, IO) (End, error) { return End{ExitCode: -1}, ErrUnsupported }

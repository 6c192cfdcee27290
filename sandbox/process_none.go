//go:build !linux && !darwin

package sandbox

import (
	"context"
	"os"
)

// Run is not there yet on this system.
func Run(context.Context, Plan, IO) (End, error) { return End{ExitCode: -1}, ErrUnsupported }

// Resize does nothing: there are no terminals.
func Resize(*os.File, Terminal) {}

// OpenPair is not there yet on this system.
func OpenPair() (controls, line *os.File, err error) { return nil, nil, ErrUnsupported }

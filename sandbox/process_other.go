//go:build !linux

package sandbox

import (
	"context"
	"os"
)

// Keep is not there on this system: keepers hold mounts.
func Keep(context.Context, Plan) (*Kept, error) { return nil, ErrUnsupported }

func sendWith(*os.File, []byte, *os.File) error { return ErrUnsupported }

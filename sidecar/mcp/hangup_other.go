//go:build !unix

package mcp

import (
	"context"
	"io"
)

// watchHangup has no means here; the end of the input is the sign.
func watchHangup(context.Context, io.Writer, func()) {}

//go:build plain

// Command plainshim is the shim of macOS on any system, for tests of its work: no sandbox is around it.
package main

import (
	"os"

	"code.sidecar.dev/sandbox/shim"
)

func main() { os.Exit(shim.Plain()) }

package shim

import "os"

// init takes over when sandbox-exec started this binary as the shim, and does not return then.
func init() {
	if len(os.Args) == 2 && os.Args[1] == Program {
		os.Exit(Plain())
	}
}

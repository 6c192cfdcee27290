// Command sidecar runs code in the sandbox of a project. See README.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "code.sidecar.dev/sandbox/shim" // this binary is also what runs first inside a sandbox
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(execute(ctx, os.Args[1:], terminal{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

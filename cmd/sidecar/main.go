// Command sidecar runs code in the sandbox of a project. See README.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"os/user"
	"slices"
	"syscall"
	"time"

	"github.com/adrg/xdg"

	_ "code.sidecar.dev/sandbox/shim" // this binary is also what runs first inside a sandbox
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), heeded(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)...)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(doubled, stop) }) // the second one ends us whatever we wait for; a SIGQUIT says what that was
	knowHome()
	os.Exit(execute(ctx, os.Args[1:], terminal{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// heeded leaves out what nohup(1), or a shell for what goes on in the background, has us ignore.
func heeded(all ...os.Signal) []os.Signal {
	return slices.DeleteFunc(all, signal.Ignored)
}

// dumps has SIGQUIT print where a process is that serves others, as Go does; in a command for people Ctrl-\\ is an end like others.
func dumps() { signal.Reset(syscall.SIGQUIT) }

// knowHome sets HOME where it is missing, as in some services: the settings and the sockets must be the same there.
func knowHome() {
	if os.Getenv("HOME") != "" {
		return
	}
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		_ = os.Setenv("HOME", u.HomeDir)
		xdg.Reload()
	}
}

package main

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// asks are the first requests to a server on standard input.
var asks = map[string]string{
	"mcp": `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n",
	"lsp": "Content-Length: 89\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":1,"capabilities":{}}}`,
}

// Who serves a client and is told to end has done what it was asked for.
func TestToldToEnd(t *testing.T) {
	t.Parallel()
	for name, ask := range asks {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
			t.Run(name+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				if code, said := told(t, name, ask, sig); code != 0 || said != "" {
					t.Errorf("exit status %d, and %q", code, said)
				}
			})
		}
	}
}

// told starts a server, asks it once, and ends it by a signal.
func told(t *testing.T, name, ask string, sig syscall.Signal) (code int, said string) {
	t.Helper()
	c := exec.Command(buildBinary(t), name)
	c.Dir = t.TempDir()
	var complaints strings.Builder
	c.Stderr = &complaints
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(in, ask)
	if _, err := bufio.NewReader(out).ReadByte(); err != nil {
		t.Fatal(err)
	}
	_ = c.Process.Signal(sig)
	_ = c.Wait()
	return c.ProcessState.ExitCode(), complaints.String()
}

//go:build unix

package mcp

import (
	"fmt"
	"io"
	"os"
	"testing"
	"time"
)

// The input stays open, as when a child of the dead client inherited it.
func TestClientThatHangsUp(t *testing.T) {
	h := newHeld()
	in, toServer := io.Pipe()
	defer toServer.Close()
	client, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), in, out, options(t, h.run)) }()
	fmt.Fprintln(toServer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"python","code":"x"}}}`)
	eventually(t, "the run to start", func() bool { return h.started.Load() == 1 })
	client.Close()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("Serve goes on without a client")
	}
	if h.ended.Load() != 1 {
		t.Error("Serve returned before the run had ended")
	}
}

package sidecar

import (
	"os"
	"os/exec"
	"testing"

	"code.sidecar.dev/sidecar/protocol"
)

// BenchmarkPrepare is what a run costs before its first process starts, in a small repository.
func BenchmarkPrepare(b *testing.B) {
	dir := b.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		b.Skipf("git: %v: %s", err, out)
	}
	if _, err := exec.LookPath("bwrap"); err != nil {
		b.Skip("bubblewrap is not installed")
	}
	e := New(Options{StateDir: b.TempDir(), Getenv: os.Getenv})
	defer e.Close()
	for b.Loop() {
		p, err := e.prepare(b.Context(), onHost(e, Request{ID: NewID(), Dir: dir, Params: protocol.RunParams{Language: "bash", Code: "true"}}))
		if err != nil {
			b.Fatal(err)
		}
		p.release()
	}
}

// onHost is a request that has found its environment: this machine's programs.
func onHost(e *Engine, r Request) Request {
	r.environment, _ = e.Environment(r.Dir)
	return r
}

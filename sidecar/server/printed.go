package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// maxPart is how much output one answer holds.
const maxPart = 1 << 20

// runOutput gives a part of what a run printed, also while it lasts.
func (c *client) runOutput(ctx context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[protocol.RunOutputParams](protocol.MethodRunOutput, raw)
	if err != nil {
		return nil, err
	}
	if p.Stream == "" {
		p.Stream = protocol.Stdout
	}
	if p.Stream != protocol.Stdout && p.Stream != protocol.Stderr || p.Offset < 0 || p.Limit < 0 {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("stream %.20q from byte %d on, %d bytes", p.Stream, p.Offset, p.Limit),
			Hint: `the stream is "stdout" or "stderr", offset and limit are not negative`}
	}
	r, err := c.server.runs.find(p.ID)
	if err == nil {
		kept, ended := r.printed(p.Stream)
		return part(p, kept, ended)
	}
	past, ok := c.server.past(ctx, p.ID)
	if !ok || past.Run.End == nil { // it is that of a sidecar that ends after it
		return nil, err
	}
	return part(p, outputOf(past, p.Stream), true)
}

// part is what was asked for of what there is.
func part(p protocol.RunOutputParams, kept sidecar.Kept, ended bool) (protocol.RunOutputResult, error) {
	if p.Limit == 0 || p.Limit > maxPart {
		p.Limit = maxPart
	}
	b, err := read(kept, p.Offset, p.Limit)
	if err != nil {
		return protocol.RunOutputResult{}, err
	}
	out := protocol.RunOutputResult{Total: kept.Total, Live: !ended, Next: p.Offset + int64(len(b))}
	if out.Next < kept.Total && int64(len(b)) < p.Limit {
		out.Missing = kept.Total - out.Next
	}
	if p.AsBytes {
		out.Bytes = b
		return out, nil
	}
	if cut := protocol.Unfinished(b); cut > 0 && len(b) > cut && (out.Next < kept.Total || !ended) {
		b = b[:len(b)-cut]
		out.Next -= int64(cut)
	}
	out.Text = protocol.Text(b)
	return out, nil
}

// read gives bytes of a stream; fewer at its end.
func read(kept sidecar.Kept, offset, limit int64) ([]byte, error) {
	if kept.File == "" {
		from := min(offset, int64(len(kept.Head)))
		return kept.Head[from:min(from+limit, int64(len(kept.Head)))], nil
	}
	f, err := os.Open(kept.File)
	if err != nil {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("the output was kept in %s, which cannot be read any more: %v", kept.File, err), Err: err}
	}
	defer f.Close()
	b := make([]byte, min(limit, max(0, kept.Total-offset)))
	n, err := f.ReadAt(b, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:n], nil
}

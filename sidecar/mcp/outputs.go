package mcp

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"code.sidecar.dev/sidecar/protocol"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// A run's output is also a resource, for clients that cannot read the host's files: sidecar://runs/ID/stdout.
const (
	outputTemplate = "sidecar://runs/{id}/{stream}"
	outputAbout    = "The whole output of a run that run_code did on this connection; stream is stdout or stderr. Results name it when they had to cut the output."
)

// logTemplate is the same for what Nix said while it built an environment, and failed.
const (
	logTemplate = "sidecar://builds/{name}"
	logAbout    = "The whole log of building an environment that failed, for a call of run_code on this connection; the error names it."
)

const (
	// mostOutputs is how many runs' outputs a connection can still be asked for.
	mostOutputs = 200
	// largestResource is how much of an output one answer holds; of more it has the head and the tail.
	largestResource = 4 << 20
)

// resourceOf is the address of one stream of a run.
func resourceOf(id string, s protocol.Stream) string {
	return strings.NewReplacer("{id}", id, "{stream}", string(s)).Replace(outputTemplate)
}

// outputs are those of the runs that this client asked for: no others can be read.
type outputs struct {
	mu    sync.Mutex
	by    map[string]protocol.Output
	order []string
}

// remember keeps where a run's outputs are.
func (o *outputs) remember(r protocol.RunResult) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by = map[string]protocol.Output{}
	}
	for s, out := range map[protocol.Stream]protocol.Output{protocol.Stdout: r.Stdout, protocol.Stderr: r.Stderr} {
		if out.File != "" {
			out.Text = ""
		}
		o.put(resourceOf(r.ID, s), out)
	}
}

// keep remembers one.
func (o *outputs) keep(uri string, out protocol.Output) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by = map[string]protocol.Output{}
	}
	o.put(uri, out)
}

// put is for who has the lock.
func (o *outputs) put(uri string, out protocol.Output) {
	o.by[uri], o.order = out, append(o.order, uri)
	for len(o.order) > 2*mostOutputs {
		delete(o.by, o.order[0])
		o.order = o.order[1:]
	}
}

// read is the resource itself. Who is told that there is none is told so by the code that its revision has for that, which mcp-go
// gives only to addresses of no template.
func (o *outputs) read(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	o.mu.Lock()
	out, ok := o.by[req.Params.URI]
	o.mu.Unlock()
	if !ok {
		err := fmt.Errorf("%w: %.200q; results of run_code name those that there are", server.ErrResourceNotFound, req.Params.URI)
		code := mcp.RESOURCE_NOT_FOUND
		if server.IsModernRequest(ctx) {
			code = mcp.INVALID_PARAMS
		}
		call := callOf(ctx)
		call.refusal = answer(refuse(call.id, code, err.Error()))
		return nil, err
	}
	text := out.Text
	if out.File != "" {
		var err error
		if text, err = contents(out.File); err != nil {
			return nil, fmt.Errorf("the output can no longer be read: %w", err)
		}
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: "text/plain", Text: text}}, nil
}

// contents reads a file as text; of a very long one its head and tail.
func contents(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() <= largestResource {
		b, err := io.ReadAll(io.LimitReader(f, largestResource))
		return strings.ToValidUTF8(string(b), "\uFFFD"), err
	}
	head, tail := make([]byte, largestResource/2), make([]byte, largestResource/2)
	if _, err := io.ReadFull(f, head); err != nil {
		return "", err
	}
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil && err != io.EOF {
		return "", err
	}
	mark := fmt.Sprintf("\n[… %d bytes left out; the whole is in %s …]\n", info.Size()-largestResource, name)
	return strings.ToValidUTF8(string(head), "\uFFFD") + mark + strings.ToValidUTF8(string(tail), "\uFFFD"), nil
}

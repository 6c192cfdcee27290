package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
)

// as is how this program connects to sidecars, under a name.
func (f *flags) as(name string, t terminal) client.Options {
	return client.Options{Name: name, Build: build(), ExplicitConfig: f.explicit(), ConfigFile: config.ConfigFile(), Output: protocol.OwnOutput, Log: f.log(t)}
}

// explicit is the settings file that --config or SIDECAR_CONFIG names, as from here: the sidecar has another working folder.
func (f *flags) explicit() string {
	file := f.config
	if file == "" {
		file = os.Getenv("SIDECAR_CONFIG")
	}
	if abs, err := filepath.Abs(file); err == nil && file != "" {
		return abs
	}
	return file
}

// here is the root of the project around here.
func (f *flags) here() (string, error) {
	dir, _, err := f.folder()
	if err != nil {
		return "", err
	}
	return sidecar.Root(dir)
}

// live connects to every sidecar of this user that lives, and clears away what dead ones left. Who calls it closes
// the connections. Those that do not answer are given as what is known of them.
func (f *flags) live(ctx context.Context, t terminal) (clients []*client.Client, silent []protocol.StatusResult, err error) {
	places, err := place.All()
	if err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, p := range places {
		all.Go(func() {
			c, err := client.Attach(ctx, p, f.observer(t))
			mu.Lock()
			defer mu.Unlock()
			var s *client.SilentError
			switch {
			case err == nil:
				clients = append(clients, c)
			case place.Nobody(err):
				p.Clear()
			case errors.As(err, &s):
				silent = append(silent, protocol.StatusResult{PID: s.PID, Socket: p.Socket, Silent: true})
			}
		})
	}
	all.Wait()
	return clients, silent, nil
}

// observer is how a command connects that only looks.
func (f *flags) observer(t terminal) client.Options {
	o := f.as("sidecar", t)
	o.Output, o.Observer, o.Patience = protocol.NoOutput, true, answerWithin
	return o
}

// errNobody is the cause where no sidecar serves a project.
var errNobody = errors.New("no sidecar")

// attach connects to the sidecar of the project around here, which must live already.
func (f *flags) attach(ctx context.Context, t terminal) (*client.Client, error) {
	root, err := f.here()
	if err != nil {
		return nil, err
	}
	p, err := place.Of(root)
	if err != nil {
		return nil, err
	}
	c, err := client.Attach(ctx, p, f.observer(t))
	if place.Nobody(err) {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: "no sidecar serves " + root, Hint: "`sidecar run`, an agent or an editor starts one; `sidecar status` shows those that live", Err: errNobody}
	}
	return c, err
}

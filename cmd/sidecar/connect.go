package main

import (
	"context"
	"sync"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
)

// as is how this program connects to sidecars, under a name.
func (f *flags) as(name string, t terminal) client.Options {
	return client.Options{Name: name, Build: build(), ExplicitConfig: f.config, ConfigFile: config.ConfigFile(), Output: protocol.OwnOutput, Log: f.log(t)}
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
// the connections.
func (f *flags) live(ctx context.Context, t terminal) ([]*client.Client, error) {
	places, err := place.All()
	if err != nil {
		return nil, err
	}
	found := make([]*client.Client, len(places))
	var all sync.WaitGroup
	for i, p := range places {
		all.Go(func() {
			c, err := client.Attach(ctx, p, f.as("sidecar status", t))
			if place.Nobody(err) {
				p.Clear()
			}
			found[i] = c
		})
	}
	all.Wait()
	var out []*client.Client
	for _, c := range found {
		if c != nil {
			out = append(out, c)
		}
	}
	return out, nil
}

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
	c, err := client.Attach(ctx, p, f.as("terminal", t))
	if place.Nobody(err) {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: "no sidecar serves " + root, Hint: "`sidecar run`, an agent or an editor starts one; `sidecar status` shows those that live"}
	}
	return c, err
}

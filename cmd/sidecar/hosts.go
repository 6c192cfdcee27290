package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/remote"
)

// reachWithin is how long a host may take to be reached and to say what lives there.
const reachWithin = 10 * time.Second

// everywhere are the sidecars of the hosts that --host names; without it those of this machine, and of the settings' hosts.
func (f *flags) everywhere(ctx context.Context, here bool, t terminal) (all []seen, err error) {
	names := f.hosts
	if len(names) == 0 {
		if all, err = f.statuses(ctx, t); err != nil || here || f.workspace != "" {
			return all, err
		}
		settings, err := personal()
		if err != nil { // what lives here is what one wants to know then
			say(t, err.Error())
			return all, nil
		}
		names = settings.Hosts.Status
	}
	of := make([][]seen, len(names))
	var asked sync.WaitGroup
	for i, name := range names {
		asked.Go(func() { of[i] = f.statusesOn(ctx, name) })
	}
	asked.Wait()
	for _, list := range of {
		all = append(all, list...)
	}
	return all, nil
}

// statusesOn are those of another machine, or the one line that it was not reached.
func (f *flags) statusesOn(ctx context.Context, name string) []seen {
	list, err := f.askStatus(ctx, name)
	if err != nil {
		return []seen{{Host: name, Unreachable: firstLine(err.Error())}}
	}
	for i := range list {
		list[i].Host = name
	}
	return list
}

// askStatus asks a machine. Nobody is asked for a password: there may be several at once.
func (f *flags) askStatus(outer context.Context, name string) (list []seen, err error) {
	ctx, stop := context.WithTimeout(outer, reachWithin)
	defer stop()
	h, err := f.host(name)
	if err != nil {
		return nil, err
	}
	h.Batch = true
	var out, words, complaints bytes.Buffer
	status, err := h.Do(ctx, remote.Call{Start: remote.Start{Args: []string{"status", "--here", "--json"}}, Words: &words, Output: func(s protocol.Stream, b []byte) {
		if s == protocol.Stderr {
			complaints.Write(b)
			return
		}
		out.Write(b)
	}})
	said := lastLine(words.String())
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("no answer within %s", reachWithin)
	case err != nil && said != "":
		return nil, fmt.Errorf("%s: %w", said, err)
	case err != nil:
		return nil, err
	case status != 0:
		return nil, fmt.Errorf("its `sidecar status` ended with status %d: %s", status, lastLine(complaints.String()))
	}
	return list, json.Unmarshal(out.Bytes(), &list)
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndex(text, "\n")+1:])
}

// missing is the exit status where a host was not reached that --host names: its line has said why.
func (f *flags) missing(all []seen) error {
	for _, s := range all {
		if len(f.hosts) > 0 && s.StatusResult == nil {
			return exitStatus(protocol.Gone.ExitStatus())
		}
	}
	return nil
}

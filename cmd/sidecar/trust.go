package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/declared"
	"code.sidecar.dev/sidecar/protocol"
)

func trustCommand(f *flags, t terminal) *cobra.Command {
	revoke, with := false, []string(nil)
	c := showCommand("trust", "Trust the project's Nix code as it is now, so that its dev shell can be the environment of runs", t, func(context.Context) (any, string, error) {
		e, root, err := f.open(t)
		if err != nil {
			return nil, "", err
		}
		defer e.Close()
		if revoke {
			was, err := e.Distrust(root)
			if !was {
				return map[string]string{}, "was not trusted: " + root + "\n", err
			}
			return map[string]string{"revoked": root}, "no longer trusted: " + root + "\n", err
		}
		trust, err := e.Trust(root, with...)
		var b strings.Builder
		for _, rel := range slices.Sorted(maps.Keys(trust.Files)) {
			_, _ = fmt.Fprintf(&b, "%s  %s\n", trust.Files[rel][:12], protocol.OneLine(rel))
		}
		return trust, b.String() + "trusted as it is now; a change has to be trusted anew. `sidecar run --environment project` uses it\n", err
	})
	c.Flags().BoolVar(&revoke, "revoke", false, "take it back")
	c.Flags().StringArrayVar(&with, "with", nil, "also a `FILE` or folder that the code reads by a computed path, from the project's root")
	c.AddCommand(trustListCommand(f, t))
	return c
}

// trusted is all that a person has allowed for good.
type trusted struct {
	Projects []sidecar.Trust `json:"projects"`
	// Domains are names that runs may reach by network.allowed_domains, Approved those that were allowed when a run asked.
	Domains  []string `json:"domains"`
	Approved []string `json:"approved,omitempty"`
	// Hosts are names with the addresses that they stand for, Ports TCP ports of this machine, Sockets unix sockets, and Files
	// what of the machine runs may see, each with its setting.
	Hosts   map[string]string `json:"hosts,omitempty"`
	Ports   string            `json:"ports,omitempty"`
	Sockets []string          `json:"sockets,omitempty"`
	Files   []string          `json:"files,omitempty"`
	// Nix says that nix itself works in runs.
	Nix bool `json:"nix,omitempty"`
}

func trustListCommand(f *flags, t terminal) *cobra.Command {
	return showCommand("list", "List what was trusted, and what was allowed for good", t, func(context.Context) (any, string, error) {
		e, err := f.engine("", t)
		if err != nil {
			return nil, "", err
		}
		defer e.Close()
		settings := e.Settings()
		n := settings.Network
		all := trusted{Projects: e.Trusts(), Domains: domainTexts(n.AllowedDomains), Approved: domainTexts(n.Approved), Hosts: n.Hosts, Sockets: n.Sockets, Nix: settings.Nix.AllowNix}
		if p := n.AllowedPorts; p.All || len(p.List) > 0 {
			all.Ports = p.String()
		}
		for _, p := range declared.Of(settings.Files) {
			all.Files = append(all.Files, p.Key+": "+p.Text)
		}
		return all, all.text(), nil
	})
}

func domainTexts(d *config.Domains) (out []string) {
	if d == nil {
		return nil
	}
	for _, one := range d.Names {
		text := one.Name
		if one.Methods != nil {
			text += " (" + strings.Join(one.Methods, ", ") + ")"
		}
		out = append(out, text)
	}
	return out
}

func (a trusted) text() string {
	var b strings.Builder
	for _, p := range a.Projects {
		_, _ = fmt.Fprintf(&b, "project  %s  (%s, on %s)\n", protocol.OneLine(p.Root), counted(len(p.Files), "file"), p.At.Format(time.DateOnly))
	}
	for _, d := range a.Domains {
		_, _ = fmt.Fprintf(&b, "domain   %s\n", protocol.OneLine(d))
	}
	for _, d := range a.Approved {
		_, _ = fmt.Fprintf(&b, "domain   %s, when a run asked\n", protocol.OneLine(d))
	}
	for _, name := range slices.Sorted(maps.Keys(a.Hosts)) {
		_, _ = fmt.Fprintf(&b, "host     %s at %s\n", protocol.OneLine(name), protocol.OneLine(a.Hosts[name]))
	}
	if a.Ports != "" {
		_, _ = fmt.Fprintf(&b, "ports    %s\n", a.Ports)
	}
	for _, s := range a.Sockets {
		_, _ = fmt.Fprintf(&b, "socket   %s\n", protocol.OneLine(s))
	}
	for _, file := range a.Files {
		_, _ = fmt.Fprintf(&b, "files    %s\n", protocol.OneLine(file))
	}
	if a.Nix {
		_, _ = fmt.Fprintln(&b, "nix      works in runs (nix.allow_nix)")
	}
	if b.Len() == 0 {
		return "nothing was trusted or allowed for good\n"
	}
	return b.String()
}

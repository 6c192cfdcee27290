//go:build linux

package main

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// endless is a nix that says what it is, and then builds for ever.
const endless = `#!/bin/sh
case "$*" in *--version*) echo 'nix (Nix) 2.30.0' ;; *) exec sleep 987651 ;; esac
`

// builds are kill -9 while an environment is built.
func builds() (list []fault) {
	theNix := role{"nix", func(p process, _ []process) bool { return strings.HasPrefix(p.args, "sleep\x00987651") }}
	for _, of := range []role{theNix, theServer, theClient} {
		list = append(list, fault{what: "kill -9 of " + of.name, stage: "while an environment is built", do: func(l *lab) error {
			if err := errors.Join(l.write("nix", endless), l.write("config/sidecar/config.yaml", "nix:\n  program: "+l.dir+"/nix\n  nixpkgs: github:NixOS/nixpkgs/0000000000000000000000000000000000000000\n"),
				unix.Chmod(l.dir+"/nix", 0o755)); err != nil {
				return err
			}
			s, err := l.start("sidecar", "run", "--language", "bash", "-p", "ripgrep", "-e", "true")
			if err != nil {
				return err
			}
			if err := l.reached(s, theNix.isThere); err != nil {
				return err
			}
			if err := of.signal(unix.SIGKILL); err != nil {
				return err
			}
			l.check("nix ends")
			return errors.Join(l.answeredSomehow(s), await("the end of nix", func() bool { return !theNix.isThere() }))
		}})
	}
	return list
}

//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// people are what a person does with git while a run goes on: each works, and nothing of it is moved aside or lost.
func people() (list []fault) {
	for _, p := range []struct{ what, does, has string }{
		{"a commit", "echo 2 >>file; git commit -qam two", "git log --oneline | grep two"},
		{"another branch", "git checkout -qb other; echo 2 >>file; git commit -qam two; git checkout -q -", "git rev-parse other"},
		{"garbage is collected", "git commit -q --allow-empty -m two; git reflog expire --expire=now --all; git gc -q --prune=now", "git fsck && git log --oneline | grep two"},
		{"a worktree is added", "git worktree add -q ../tree", "git -C ../tree status --short && git worktree list | grep tree"},
		{"a worktree is added and removed", "git worktree add -q ../tree; git worktree remove ../tree", "! git worktree list | grep tree"},
		{"a submodule is added", "git init -q ../sub; git -C ../sub commit -q --allow-empty -m sub; git -c protocol.file.allow=always submodule --quiet add ../sub sub", "git submodule status | grep sub && git -C sub log --oneline && git -C sub config core.worktree"},
		{"its config is written", "git config me.key value; sleep 0.5; git remote add origin /nowhere; sleep 0.5; git config core.pager less", "git config me.key && git config core.pager && git remote | grep origin"},
		{"its config is written many times", "for i in $(seq 50); do git config branch.b$i.remote origin; done", "[ $(git config --get-regexp '^branch.b' | wc -l) = 50 ]"},
		{"a rebase", "git checkout -qb b; git commit -q --allow-empty -m b; git checkout -q -; git commit -q --allow-empty -m c; git rebase -q b", "git log --oneline | grep ' c$'"},
		{"a stash", "echo 2 >>file; git stash -q; git stash pop -q", "grep 2 file"},
		{"a hook is written", "printf '#!/bin/sh\\n' >.git/hooks/pre-push; chmod +x .git/hooks/pre-push", "[ -x .git/hooks/pre-push ]"},
		{"a sparse checkout", "git sparse-checkout set nothing", "git config core.sparseCheckout"},
		{"git clones into it", "git clone -q . inner", "git -C inner log --oneline"},
	} {
		list = append(list, fault{what: "git at the same time", stage: p.what, do: func(l *lab) error { return l.meanwhile(p.does, p.has) }})
	}
	return list
}

// meanwhile does something while a run goes on, and has it afterwards.
func (l *lab) meanwhile(does, has string) error {
	s, err := l.run()
	if err != nil {
		return err
	}
	if err := l.begun(s); err != nil {
		return err
	}
	if _, err := l.sh(does); err != nil {
		return fmt.Errorf("while the run goes on: %w", err)
	}
	was, err := listing(l.project)
	if err != nil {
		return err
	}
	for _, placeholder := range []string{".git/commondir", ".git/objects/info/alternates"} {
		delete(was, placeholder)
	}
	if err := l.answered(s); err != nil {
		return err
	}
	if _, err := l.sh(has); err != nil {
		return fmt.Errorf("after the run: %w", err)
	}
	is, err := listing(l.project)
	if err != nil {
		return err
	}
	if diff := personal(differences(was, is)); len(diff) > 0 {
		return fmt.Errorf("the end of the run changed what is the person's: %s; it said %s", join(diff), s.err.String())
	}
	l.before = is
	l.check("the answer", "what the person did")
	return errors.Join(noneAside(l.dir))
}

// personal leaves out placeholders, which were there and are not.
func personal(diff []string) (out []string) {
	for _, d := range diff {
		if !strings.HasPrefix(d, "gone: .git/") || strings.HasPrefix(d, "gone: .git/objects") {
			out = append(out, d)
		}
	}
	return out
}

// noneAside finds what was moved aside.
func noneAside(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.Contains(path, ".disarmed-") {
			err = fmt.Errorf("%s was moved aside", path)
		}
		return err
	})
}

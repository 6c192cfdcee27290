//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// project makes a repository with submodules and files. The submodules are copies of one, written by hand: git
// itself takes a tenth of a second for each.
func project(dir string, submodules, files int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := git(dir, "", "init", "-q", "."); err != nil {
		return err
	}
	var modules, index strings.Builder
	for i := range submodules {
		name := fmt.Sprintf("lib%d", i)
		if err := submodule(dir, name); err != nil {
			return err
		}
		fmt.Fprintf(&modules, "[submodule %q]\n\tpath = %s\n\turl = ../%s\n", name, name, name)
		fmt.Fprintf(&index, "160000 %040x\t%s\n", i+1, name)
	}
	if submodules > 0 {
		if err := os.WriteFile(filepath.Join(dir, ".gitmodules"), []byte(modules.String()), 0o644); err != nil {
			return err
		}
	}
	for i := range files {
		folder := filepath.Join(dir, "src", fmt.Sprint(i/1000), fmt.Sprint(i/100%10))
		if i%100 == 0 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), nil, 0o644); err != nil {
			return err
		}
	}
	if err := git(dir, "", "add", "src"); err != nil {
		return err
	}
	return git(dir, index.String(), "update-index", "--add", "--index-info")
}

// submodule writes the git dir, the work tree and the pointer of one submodule, and its section in the config.
func submodule(dir, name string) error {
	gitDir := filepath.Join(dir, ".git/modules", name)
	for _, d := range []string{"objects", "refs/heads", "hooks"} {
		if err := os.MkdirAll(filepath.Join(gitDir, d), 0o755); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		return err
	}
	texts := map[string]string{
		filepath.Join(gitDir, "HEAD"):    "ref: refs/heads/main\n",
		filepath.Join(gitDir, "config"):  "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ../../../" + name + "\n",
		filepath.Join(dir, name, ".git"): "gitdir: ../.git/modules/" + name + "\n",
	}
	for path, text := range texts {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, ".git/config"), os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "[submodule %q]\n\tactive = true\n\turl = ../%s\n", name, name)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

func git(dir, input string, args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}

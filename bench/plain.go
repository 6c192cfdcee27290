//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// plain runs the program of a run under bubblewrap alone: the same arguments, with the generated files behind
// the same descriptors, and the program in the place of sidecar's shim.
type plain struct {
	bwrap   string
	args    []string
	program []string
	files   map[int]string // descriptor to what it holds
	highest int
	code    string
	// codeFile has the code on the host.
	codeFile string
}

// newPlain takes the arguments from sidecar's own plan of a run.
func newPlain(binary, ws string, flags ...string) (*plain, error) {
	return plainOf(binary, ws, "python", flags...)
}

// shortest is the shortest program of a language.
var shortest = map[string]string{"bash": ":", "python": "pass", "node": "0"}

// plainOf is newPlain for another language.
func plainOf(binary, ws, language string, flags ...string) (*plain, error) {
	args := append([]string{"run", "--workspace", ws, "--dry-run", "--json", "--language", language}, flags...)
	cmd := exec.Command(binary, append(args, "-e", shortest[language])...)
	cmd.Stderr = os.Stderr
	if len(flags) > 0 { // a closure's paths are mounts of bubblewrap then
		cmd.Env = append(os.Environ(), "SIDECAR_SANDBOX_MOUNTS=argv")
	}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("planning a run: %w", err)
	}
	var plan struct {
		Argv, Args, Program []string
		Dir                 string
	}
	if err := json.Unmarshal(out, &plan); err != nil {
		return nil, err
	}
	p := &plain{bwrap: plan.Argv[0], program: plan.Program, files: map[int]string{}, code: shortest[language] + "\n"}
	p.args = append(plan.Args, "--chdir", plan.Dir)
	if i := slices.Index(p.args, "--chdir"); i < len(p.args)-2 {
		p.args = slices.Delete(p.args, i, i+2) // the shim's own working folder
	}
	for i, arg := range p.args {
		if arg == "--file" || arg == "--ro-bind-data" || arg == "--bind-data" {
			if err := p.file(p.args[i+1], p.args[i+2]); err != nil {
				return nil, err
			}
		}
	}
	p.codeFile = filepath.Clean(ws) + "-shortest-" + language
	if err := os.WriteFile(p.codeFile, []byte(p.code), 0o644); err != nil {
		return nil, err
	}
	return p, p.run()
}

// file remembers what the file at path, behind descriptor fd, holds. Only the code matters.
func (p *plain) file(fd, path string) error {
	n, err := strconv.Atoi(fd)
	if err != nil {
		return fmt.Errorf("descriptor %q: %w", fd, err)
	}
	p.files[n], p.highest = "", max(p.highest, n)
	if strings.Contains(path, "/code/main.") {
		p.files[n] = p.code
	}
	return nil
}

func (p *plain) run() error {
	args := append(append([]string{}, p.args...), "--")
	cmd := exec.Command(p.bwrap, append(args, p.program...)...)
	extra, err := p.descriptors()
	if err != nil {
		return err
	}
	defer func() {
		for _, f := range extra {
			_ = f.Close()
		}
	}()
	cmd.ExtraFiles, cmd.Env, cmd.Stderr = extra, plainEnvironment, os.Stderr
	return cmd.Run()
}

// descriptors are 3 and up; those that no file is behind are /dev/null.
func (p *plain) descriptors() ([]*os.File, error) {
	var out []*os.File
	for fd := 3; fd <= p.highest; fd++ {
		r, w, err := os.Pipe()
		if err != nil {
			return out, err
		}
		_, err = w.WriteString(p.files[fd])
		_ = w.Close()
		out = append(out, r)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// bare runs the interpreter with no sandbox.
func (p *plain) bare() error {
	argv := p.inFile()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = plainEnvironment
	return cmd.Run()
}

// plainEnvironment is what programs have that are started without sidecar.
var plainEnvironment = []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8"}

// inFile is the interpreter with the code in a file: as an argument it takes Node twice as long.
func (p *plain) inFile() []string { return []string{p.program[0], p.codeFile} }

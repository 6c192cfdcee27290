package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/declared"
	"code.sidecar.dev/sidecar/protocol"
)

// readPolicy gives the request the profile of --policy, for the project at root.
func (x *execFlags) readPolicy(root string) error {
	if x.policy == "" {
		return nil
	}
	file, err := filepath.Abs(x.policy)
	if err != nil {
		return usage("give an absolute path", fmt.Sprintf("%q: %v", x.policy, err))
	}
	if leadsInto(file, root) {
		return &protocol.Error{Kind: protocol.Denied, Message: fmt.Sprintf("the policy %s lies in the project, where runs can change it", file), Hint: "put it elsewhere, or make a profile of it in your settings"}
	}
	text, err := config.ReadPolicy(file)
	if err == nil {
		_, _, err = config.ParsePolicy(file, text)
	}
	x.allow.Policy = &protocol.Policy{File: file, Text: text}
	return err
}

// leadsInto says that a file lies in a folder, or is reached over one of its links.
func leadsInto(file, folder string) bool {
	if real, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		file = filepath.Join(real, filepath.Base(file))
	}
	real, err := filepath.EvalSymlinks(file)
	return sandbox.Inside(file, folder) || err == nil && sandbox.Inside(real, folder)
}

// maxEnvFile is more than the kernel takes of variables (execve(2): a quarter of the stack, 2 MiB by default).
const maxEnvFile = 8 << 20

// readVariables adds what a file has: NAME=VALUE, each ended by a NUL byte, as `env -0` prints them.
func readVariables(file, root string, into map[string]string) error {
	f, err := sidecar.OpenStream(file, root)
	if err != nil {
		hint := "give a file that is there"
		if errors.Is(err, declared.ErrLeadsOut) {
			hint = sidecar.LeadsOutHint
		}
		return usage(hint, fmt.Sprintf("--env-file: %v", err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxEnvFile+1))
	switch {
	case err != nil:
		return usage("give a file that can be read", fmt.Sprintf("--env-file: %v", err))
	case len(text) > maxEnvFile:
		return usage("give it less", fmt.Sprintf("--env-file %s has more than %d bytes", file, maxEnvFile))
	case len(text) > 0 && text[len(text)-1] != 0:
		return usage("end each NAME=VALUE by a NUL byte, as `env -0` does", fmt.Sprintf("--env-file %s breaks off", file))
	}
	for entry := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte{0}), []byte{0}) {
		name, value, ok := strings.Cut(string(entry), "=")
		if !ok && len(text) > 0 {
			return usage("write each as NAME=VALUE", fmt.Sprintf("--env-file %s has an entry without a value", file))
		}
		if ok {
			into[name] = value
		}
	}
	return nil
}

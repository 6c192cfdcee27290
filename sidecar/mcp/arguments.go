package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

// runArguments are run_code's arguments.
type runArguments struct {
	params    protocol.RunParams
	workspace string
	has       map[string]bool
}

// runKeys reads each argument. A null is an argument left out: models send it.
var runKeys = map[string]func(*runArguments, json.RawMessage) error{
	"language":       into("a string", func(a *runArguments) any { return &a.params.Language }),
	"code":           into("a string", func(a *runArguments) any { return &a.params.Code }),
	"args":           into("an array of strings", func(a *runArguments) any { return &a.params.Args }),
	"cwd":            into("a string", func(a *runArguments) any { return &a.params.Cwd }),
	"workspace":      into("a string", func(a *runArguments) any { return &a.workspace }),
	"environment":    into("a string", func(a *runArguments) any { return &a.params.Environment }),
	"packages":       into("an array of strings", func(a *runArguments) any { return &a.params.Packages }),
	"files":          into("an array of strings", func(a *runArguments) any { return &a.params.Files }),
	"writable_files": into("an array of strings", func(a *runArguments) any { return &a.params.WritableFiles }),
	"session":        readSession,
	"env":            readEnv,
	"stdin":          readStdin,
	"timeout":        readTimeout,
}

// into reads a value of a JSON type into a field.
func into(kind string, field func(*runArguments) any) func(*runArguments, json.RawMessage) error {
	return func(a *runArguments, raw json.RawMessage) error {
		if hasNullItem(raw) || json.Unmarshal(raw, field(a)) != nil {
			return fmt.Errorf("must be %s", kind)
		}
		return nil
	}
}

// hasNullItem finds the nulls in an array, which encoding/json reads as empty strings.
func hasNullItem(raw json.RawMessage) bool {
	var items []json.RawMessage
	return raw[0] == '[' && json.Unmarshal(raw, &items) == nil && slices.ContainsFunc(items, isNull)
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(raw, null) }

func readSession(a *runArguments, raw json.RawMessage) error {
	if json.Unmarshal(raw, &a.params.SessionName) != nil || a.params.SessionName == "" {
		return fmt.Errorf("must be a string that is not empty")
	}
	return nil
}

func readStdin(a *runArguments, raw json.RawMessage) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return fmt.Errorf("must be a string")
	}
	a.params.Stdin = text
	return nil
}

func readEnv(a *runArguments, raw json.RawMessage) error {
	var values map[string]json.RawMessage
	if json.Unmarshal(raw, &values) != nil {
		return fmt.Errorf("must be an object whose values are strings")
	}
	a.params.Env = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var text string
		if value := values[name]; isNull(value) || json.Unmarshal(value, &text) != nil {
			return fmt.Errorf("must have strings as values; that of %q is %.60s", name, value)
		}
		a.params.Env[name] = text
	}
	return nil
}

// longestTimeout keeps seconds within what a time.Duration holds; the configured maximum is far below.
const longestTimeout = 365 * 24 * 3600

func readTimeout(a *runArguments, raw json.RawMessage) error {
	var seconds float64
	if json.Unmarshal(raw, &seconds) != nil {
		return fmt.Errorf("must be a number of seconds")
	}
	if seconds <= 0 || seconds > longestTimeout {
		return fmt.Errorf("must be more than 0 and at most %d seconds; it is %s", longestTimeout, raw)
	}
	a.params.Timeout = protocol.Duration(math.Ceil(seconds * float64(time.Second)))
	return nil
}

// readArguments reads and checks run_code's arguments.
func readArguments(raw json.RawMessage) (runArguments, error) {
	a := runArguments{has: map[string]bool{}}
	values, err := object(raw, slices.Sorted(maps.Keys(runKeys)))
	if err != nil {
		return a, err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if isNull(values[name]) {
			continue
		}
		if err := runKeys[name](&a, values[name]); err != nil {
			return a, badRequest(fmt.Sprintf("argument %q %s", name, err), "")
		}
		a.has[name] = true
	}
	return a, a.check()
}

// object reads an object that has no other keys than the known ones.
func object(raw json.RawMessage, known []string) (map[string]json.RawMessage, error) {
	var values map[string]json.RawMessage
	if len(raw) == 0 {
		return values, nil
	}
	if json.Unmarshal(raw, &values) != nil {
		return nil, badRequest("the arguments must be an object", "")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, name) {
			return nil, badRequest(fmt.Sprintf("unknown argument %.60q%s", name, didYouMean(name, known)), knownOnes(known))
		}
	}
	return values, nil
}

func knownOnes(known []string) string {
	if len(known) == 0 {
		return "This tool takes no arguments."
	}
	return "Known are " + strings.Join(known, ", ") + "."
}

// check finds what no run could be made of. Languages are the engine's matter.
func (a *runArguments) check() error {
	for _, name := range []string{"language", "code"} {
		if !a.has[name] {
			return badRequest(fmt.Sprintf("argument %q is missing", name), "run_code needs language and code.")
		}
	}
	return nil
}

// outside is those of the paths that lie outside the workspace; what is in it is there anyway, at its own path. Relative
// ones start from the root. What is no path as it stands is the engine's to refuse.
func outside(root string, paths []string) []string {
	var all []string
	for _, path := range paths {
		if path == "" {
			all = append(all, path)
			continue
		}
		if !filepath.IsAbs(path) && !strings.HasPrefix(path, "~") && !strings.HasPrefix(path, "$") {
			path = filepath.Join(root, path)
		}
		if rel, err := filepath.Rel(root, filepath.Clean(path)); err != nil || !filepath.IsLocal(rel) {
			all = append(all, path)
		}
	}
	return all
}

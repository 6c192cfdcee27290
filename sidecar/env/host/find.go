package host

import "code.sidecar.dev/sidecar/env"

// Find finds the interpreters that the machine's PATH names.
func Find(m Machine) env.Environment {
	return env.Environment{ID: "host", Provider: "host", Interpreters: map[string]env.Interpreter{}}
}

package seatbelt

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// What Seatbelt refuses it writes to the unified log, with the message of the rule or of the default: the run's tag (see
// sandbox-runtime, startMacOSSandboxLogMonitor, which reads it in this way, too).

// LogArguments are the arguments of log(1) to follow what is refused to a run: one JSON object a line. A tag holds nothing
// that a predicate could take for a quote (New).
func LogArguments(tag string) []string {
	return []string{"stream", "--style", "ndjson", "--predicate", fmt.Sprintf("eventMessage ENDSWITH %q", tag)}
}

// Refusal is something that was refused.
type Refusal struct {
	// Process is the program's name; Operation Seatbelt's, as file-write-create; Object a path, a service, or an address.
	Process, Operation, Object string
}

func (r Refusal) String() string {
	return strings.TrimSpace(r.Process + ": " + r.Operation + " " + r.Object)
}

// refused is the first line of a message: "Sandbox: bash(1234) deny(1) file-write-create /Users/me/x".
var refused = regexp.MustCompile(`^(?:Sandbox: )?([^\n]*?)\([0-9]+\) deny\([0-9]+\) ([a-z0-9*-]+)(?: ([^\n]*))?`)

// ParseRefusal reads a line of the log; false when it is none of a refusal of this run.
func ParseRefusal(line []byte, tag string) (Refusal, bool) {
	var event struct {
		Message string `json:"eventMessage"`
	}
	if json.Unmarshal(line, &event) != nil || !strings.HasSuffix(event.Message, tag) {
		return Refusal{}, false
	}
	m := refused.FindStringSubmatch(strings.TrimSuffix(event.Message, tag))
	if m == nil {
		return Refusal{}, false
	}
	return Refusal{Process: strings.TrimSpace(m[1]), Operation: m[2], Object: strings.TrimSpace(m[3])}, true
}

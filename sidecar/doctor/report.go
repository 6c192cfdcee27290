package doctor

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Status is the outcome of a check.
type Status string

// The outcomes.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Detail says what was found and what it means.
	Detail string `json:"detail"`
	// Fix is a command to paste, or what to change; empty when nothing is to be done.
	Fix string `json:"fix,omitempty"`
}

// Report is the outcome of all checks.
type Report struct {
	Checks []Check `json:"checks"`
}

// Count is how many checks ended so.
func (r Report) Count(s Status) int {
	n := 0
	for _, c := range r.Checks {
		if c.Status == s {
			n++
		}
	}
	return n
}

// ExitStatus is 1 when something fails; warnings do not count.
func (r Report) ExitStatus() int {
	if r.Count(Fail) > 0 {
		return 1
	}
	return 0
}

// JSON is the report for programs.
func (r Report) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// Text is the report for people: a line for each check, remedies below theirs, and a last line that sums up.
func (r Report) Text() string {
	var b strings.Builder
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "%-4s  %-16s  %s\n", c.Status, c.Name, indent(c.Detail, ""))
		if c.Fix != "" {
			fmt.Fprintf(&b, "      %-16s  %s\n", "", indent(c.Fix, "fix: "))
		}
	}
	b.WriteString("\n" + r.summary() + "\n")
	return b.String()
}

// indent aligns the further lines of a text.
func indent(text, prefix string) string {
	return prefix + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 24+len(prefix)))
}

func (r Report) summary() string {
	failed, warned := r.Count(Fail), r.Count(Warn)
	switch {
	case failed > 0:
		return fmt.Sprintf("sidecar cannot run sandboxes here: %s.", counted(failed, "failure", "failures"))
	case warned > 0:
		return fmt.Sprintf("sidecar can run sandboxes here, with %s.", counted(warned, "warning", "warnings"))
	}
	return "sidecar can run sandboxes here."
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

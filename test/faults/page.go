//go:build linux

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// opening is what the page says before its table.
const opening = `# Faults

Made by ` + "`test/faults/run -report docs/faults.md`" + `, which does to a real sidecar what machines and people do, one fault after
another, each in a project, a home and a state folder of its own. CI does it with each change. *Survived* is a fault after which all
of this held: who asked was answered or told why not; the next request was answered; the project was as before, without
placeholders; no record of a placeholder, socket or lock was left; the history could be read and had no run without an end; and
once the sidecars were stopped no process and no mount was left.

| fault | when | | how it went |
| --- | --- | --- | --- |
`

// closing names what is shown elsewhere.
const closing = `
Shown by other tests, of the same kind: a keeper that is killed, killed while it is asked, or hangs (` + "`sandbox`: `TestAKeeper…`" + `);
a history that is damaged, full or killed in mid-write (` + "`sidecar/history`: `TestDamage`, `TestFullDisk`, `TestKilledInMidWrite`" + `);
placeholders at each point of their making (` + "`workspace/hold`: `TestKilledAtAnyMoment`, `TestSweepTakesWhatWasBegun`" + `); environments of
Nix that are collected, torn or cancelled (` + "`nix`: `TestRebuilt`, `TestTornRecord`, `TestCancel`" + `); a session in a terminal
(` + "`cmd/sidecar`: `TestEndingsOfASession`, `TestHungSidecar`" + `). The machine's clock is not set by any test: deadlines are of Go's
monotonic clock, and what compares times of files is shown with such files (` + "`workspace/guard`: `TestTheClockIsSetBack`" + `).
`

// write writes the page.
func write(file string, table []fault, verdicts []verdict) error {
	var b strings.Builder
	b.WriteString(opening)
	for i, f := range table {
		v := verdicts[i]
		verdict, how := "survived", v.Seen
		if v.Err != "" {
			verdict, how = "**not survived**", strings.SplitN(v.Err, "\n", 2)[0]
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.what, f.stage, verdict, strings.ReplaceAll(changing.ReplaceAllString(how, "…"), "|", "\\|"))
	}
	b.WriteString(closing)
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// changing is what is another with each run: the lab's folder, a process's number, a run's id.
var changing = regexp.MustCompile(`/var/tmp/sidecar-faults\.\d+|\(process \d+\)|\d{8}-\d{6}-[0-9a-f]{8}`)

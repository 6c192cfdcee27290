//go:build unix

package guard

import (
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/companions"
)

// What refs/replace names in the place of an object is what git checks out and executes wherever the object is meant, a hook of a
// branch that nobody touched say, and neither its log nor its status tells (git-replace(1)). The folder is one of the companions;
// this is about those that are packed.
const (
	packedRefs = "packed-refs"
	// mostPacked is how much is read of packed-refs, in bytes. One that is longer is not put back.
	mostPacked = 256 << 20
)

// judgePackedRefs charges the file when it replaces objects; the charge's text is what is left without that.
func judgePackedRefs(fd int, spare func(name string, st stamp) bool) *charge {
	st := lookAt(fd, packedRefs)
	if !st.exists || st.link() || spare(packedRefs, st) { // a link is a charge of its own
		return nil
	}
	c := &charge{name: packedRefs, st: st, doubtful: true, reason: companions.Replace}
	file, err := unix.Openat(fd, packedRefs, fileFlags, 0)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(file), packedRefs)
	defer f.Close()
	if text, err := io.ReadAll(io.LimitReader(f, mostPacked+1)); err != nil || len(text) > mostPacked {
		return c
	} else if c.text = withoutReplacements(string(text)); len(c.text) == len(text) {
		return nil
	}
	return c
}

// withoutReplacements is the text without the lines of refs/replace, and what their tags were peeled to.
func withoutReplacements(text string) string {
	if !strings.Contains(text, " refs/replace/") {
		return text
	}
	var out strings.Builder
	gone := false
	for line := range strings.SplitAfterSeq(text, "\n") {
		if gone = strings.Contains(line, " refs/replace/") || gone && strings.HasPrefix(line, "^"); !gone {
			out.WriteString(line)
		}
	}
	return out.String()
}

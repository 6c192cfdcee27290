package sidecar

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
)

// bounds says in the result what held the run's processes together, and that a control group was missing that others have.
func (p *prepared) bounds(end sandbox.End, r *protocol.RunResult) {
	if p.plan.Limits.Memory == 0 && p.plan.Limits.Processes == 0 {
		return
	}
	r.Bounds, r.MaxMemory = protocol.BoundsWatch, end.MaxMemory
	if end.Grouped {
		r.Bounds = protocol.BoundsGroup
	}
	if end.Ungrouped != nil {
		r.Gaps = append(slices.Clip(r.Gaps), fmt.Sprintf("memory and number of its processes together were watched, not limited: %v", end.Ungrouped))
	}
}

// limitNotes say which limit ended the run, or which one it ran into, how high that is, and what raises it.
func (p *prepared) limitNotes(end sandbox.End, said string) []string {
	if text := p.endedBy(end); text != "" {
		return []string{text}
	}
	l := p.plan.Limits
	var out []string
	for _, path := range end.Full {
		out = append(out, fmt.Sprintf("%s was full when the program ended: it is in memory, and holds %v (setting limits.scratch); what is large goes into the workspace", path, p.scratch(path)))
	}
	if end.Refused > 0 {
		out = append(out, fmt.Sprintf("%d times it could not start a further process or thread: it may have %d at once (setting limits.processes)", end.Refused, l.Processes))
	}
	if end.ExitCode == 0 {
		return out
	}
	if full := p.fullDisk(); full != "" {
		out = append(out, full)
	}
	for _, s := range shortages {
		if text := s.says(p); text != "" && s.applies(said) && !s.isKnown(end) {
			out = append(out, text)
		}
	}
	return out
}

// endedBy is about the limit that ended it.
func (p *prepared) endedBy(end sandbox.End) string {
	l := p.plan.Limits
	switch {
	case end.Limit == sandbox.LimitTime:
		return fmt.Sprintf("ended after its time limit of %v (ask for more with timeout; settings limits.timeout and limits.timeout_max)", l.Time)
	case end.Limit == sandbox.LimitMemory && end.Grouped:
		return fmt.Sprintf("ended because its processes, and its files in /tmp, /dev/shm and the home, took more than %v of memory together (setting limits.memory)", config.Size(l.Memory))
	case end.Limit == sandbox.LimitMemory:
		return fmt.Sprintf("ended because its processes used more than %v of memory together (setting limits.memory)", config.Size(l.Memory))
	case end.Limit == sandbox.LimitOutput:
		return fmt.Sprintf("ended because it printed more than %v (setting limits.output); write to a file of the workspace instead", config.Size(l.Output))
	case end.Limit == sandbox.LimitProcesses:
		return fmt.Sprintf("ended because it had more than %d processes and threads (setting limits.processes)", l.Processes)
	case isFileSize(end):
		return fmt.Sprintf("ended because it wrote a file of more than %v (setting limits.file_size)", config.Size(l.FileSize))
	}
	return ""
}

// isFileSize says that the program, or one whose status it passed on as shells do, was ended for a file's size.
func isFileSize(end sandbox.End) bool {
	return end.Signal == int(syscall.SIGXFSZ) || end.ExitCode == 128+int(syscall.SIGXFSZ)
}

// scratch is how much a private folder holds.
func (p *prepared) scratch(path string) config.Size {
	for _, s := range p.policy.Scratch {
		if s.Target == path {
			return config.Size(s.Size)
		}
	}
	return 0
}

// littleLeft is how much a disk has left that is as good as full.
const littleLeft = 1 << 20

// fullDisk says that the workspace's disk, or that of a home that is kept, is full, which no setting changes.
func (p *prepared) fullDisk() string {
	dirs := []string{p.ws.Root}
	for _, b := range p.policy.Bases {
		dirs = append(dirs, b.Source)
	}
	for _, dir := range dirs {
		var st syscall.Statfs_t
		if syscall.Statfs(dir, &st) == nil && st.Blocks > 0 && uint64(st.Bavail)*uint64(st.Bsize) < littleLeft { //nolint:gosec,unconvert // sizes; types differ by system
			return fmt.Sprintf("the disk of %s is full", filepath.Clean(dir))
		}
	}
	return ""
}

// shortage is something that programs print when they run into a limit that they see themselves.
type shortage struct {
	// words are in the programs' own words, any of which it takes.
	words []string
	// says names the limit; known says, if not nil, that a result has said so already.
	says  func(*prepared) string
	known func(sandbox.End) bool
}

func (s shortage) applies(said string) bool {
	return slices.ContainsFunc(s.words, func(w string) bool { return strings.Contains(said, w) })
}

func (s shortage) isKnown(end sandbox.End) bool { return s.known != nil && s.known(end) }

// shortages are in the words of the C library (strerror(3)), and of what languages make of them.
var shortages = []shortage{
	{words: []string{"MemoryError", "Cannot allocate memory", "ENOMEM", "bad_alloc", "out of memory", "Out of memory"},
		says: func(p *prepared) string {
			return fmt.Sprintf("a process may have %v of memory (setting limits.memory)", config.Size(p.plan.Limits.Memory))
		}},
	{words: []string{"fork: ", "can't start new thread", "EAGAIN", "Resource temporarily unavailable", "failed to create new OS thread"},
		says: func(p *prepared) string {
			return fmt.Sprintf("a run may have %d processes and threads at once (setting limits.processes)", p.plan.Limits.Processes)
		},
		known: func(end sandbox.End) bool { return end.Refused > 0 }},
	{words: []string{"Too many open files", "EMFILE"},
		says: func(p *prepared) string {
			return fmt.Sprintf("a process may have %d files open (setting limits.open_files)", p.plan.Limits.OpenFiles)
		}},
	{words: []string{"File too large", "EFBIG"},
		says: func(p *prepared) string {
			return fmt.Sprintf("a file may have %v (setting limits.file_size)", config.Size(p.plan.Limits.FileSize))
		}},
	{words: []string{"No space left on device", "ENOSPC"},
		says: (*prepared).scratchNote, known: func(end sandbox.End) bool { return len(end.Full) > 0 }},
}

// scratchNote is about the private folders, of which a program may have removed what did not fit.
func (p *prepared) scratchNote() string {
	if p.fullDisk() != "" {
		return ""
	}
	var names []string
	var size int64
	for _, s := range p.policy.Scratch {
		names, size = append(names, s.Target), s.Size
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s are in memory, and each holds %v, and a file for each 4 KiB of that (setting limits.scratch); what is large goes into the workspace", strings.Join(names, ", "), config.Size(size))
}

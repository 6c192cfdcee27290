package nix

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Progress is how far a build has come.
type Progress struct {
	// Stage is "waiting" (for another process), "evaluating", "fetching" or "building".
	Stage string
	// Name is what is fetched or built now, without the store's hash.
	Name string
	// Built of ToBuild derivations are done, Fetched of ToFetch paths, and Bytes of BytesTotal of them. The totals grow
	// while Nix finds out what is needed.
	Built, ToBuild, Fetched, ToFetch int64
	Bytes, BytesTotal                int64
}

// Nix's numbers of activities and results (logging.hh); they are the same in 2.4 to 2.34.
const (
	activityCopyPath     = 100
	activityFileTransfer = 101
	activityCopyPaths    = 103
	activityBuilds       = 104
	activityBuild        = 105
	activitySubstitute   = 108

	resultBuildLog = 101
	resultProgress = 105
)

// event is one line of --log-format internal-json.
type event struct {
	Action string            `json:"action"`
	ID     uint64            `json:"id"`
	Level  int               `json:"level"`
	Type   int               `json:"type"`
	Text   string            `json:"text"`
	Msg    string            `json:"msg"`
	Fields []json.RawMessage `json:"fields"`
}

// text and number are the event's fields, or nothing.
func (e event) text(i int) (s string) {
	if i < len(e.Fields) {
		_ = json.Unmarshal(e.Fields[i], &s)
	}
	return s
}

func (e event) number(i int) (n int64) {
	if i < len(e.Fields) {
		_ = json.Unmarshal(e.Fields[i], &n)
	}
	return n
}

// parseEvent reads a line; false is one that is not Nix's structured log.
func parseEvent(line []byte) (e event, ok bool) {
	text, ok := bytes.CutPrefix(line, []byte("@nix "))
	return e, ok && json.Unmarshal(text, &e) == nil
}

// activity is something that goes on.
type activity struct {
	kind       int
	done, want int64
}

// meter makes Progress of events.
type meter struct {
	progress Progress
	open     map[uint64]*activity
	// finished are the bytes of transfers that are over.
	finished int64
}

// newMeter starts where nothing is known.
func newMeter() *meter {
	return &meter{progress: Progress{Stage: "evaluating"}, open: map[uint64]*activity{}}
}

// mostOpen bounds what a log can make us remember.
const mostOpen = 10000

// take follows an event, and says whether Progress changed, and whether more than its bytes did.
func (m *meter) take(e event) (changed, much bool) {
	before := m.progress
	switch e.Action {
	case "start":
		m.start(e)
	case "stop":
		if a := m.open[e.ID]; a != nil && a.kind == activityFileTransfer {
			m.finished += a.done
		}
		delete(m.open, e.ID)
	case "result":
		m.result(e)
	}
	m.sumBytes()
	bytes := before
	bytes.Bytes, bytes.BytesTotal = m.progress.Bytes, m.progress.BytesTotal
	return before != m.progress, bytes != m.progress
}

// start remembers an activity; a build and a fetch name what is done now.
func (m *meter) start(e event) {
	if len(m.open) >= mostOpen {
		return
	}
	m.open[e.ID] = &activity{kind: e.Type}
	switch e.Type {
	case activityBuild:
		m.now("building", strings.TrimSuffix(storeName(e.text(0)), ".drv"))
	case activitySubstitute, activityCopyPath:
		m.now("fetching", storeName(e.text(0)))
	case activityFileTransfer:
		if m.progress.Stage != "building" {
			m.now("fetching", e.text(0))
		}
	}
}

// now names what is done.
func (m *meter) now(stage, name string) {
	m.progress.Stage, m.progress.Name = stage, name
}

// result follows numbers: of all builds, of all copies, of one transfer.
func (m *meter) result(e event) {
	a := m.open[e.ID]
	if a == nil || e.Type != resultProgress {
		return
	}
	done, expected := e.number(0), e.number(1)
	switch a.kind {
	case activityBuilds:
		m.progress.Built, m.progress.ToBuild = done, max(expected, done)
	case activityCopyPaths:
		m.progress.Fetched, m.progress.ToFetch = done, max(expected, done)
	case activityFileTransfer:
		a.done, a.want = done, expected
	}
}

// sumBytes adds up the transfers.
func (m *meter) sumBytes() {
	m.progress.Bytes, m.progress.BytesTotal = m.finished, m.finished
	for _, a := range m.open {
		if a.kind == activityFileTransfer {
			m.progress.Bytes += a.done
			m.progress.BytesTotal += max(a.want, a.done)
		}
	}
}

// storeName is a store path without the store and the hash.
func storeName(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if len(name) > 33 && name[32] == '-' {
		return name[33:]
	}
	return name
}

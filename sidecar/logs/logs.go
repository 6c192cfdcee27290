// Package logs has what sidecars write down for people who look into a problem: one log a workspace, in files that are
// bounded in size and number and rotated while it is written, and the reading of them, also when nobody writes any more.
//
//	l, err := logs.Open(logs.Options{Path: logs.Path(state, name), Size: 1 << 20, Files: 4})
//	l.Logger(slog.LevelInfo).Info("run ended", "run", id)
//	err = logs.Print(ctx, files, logs.Query{Follow: true}, show)
//
// Every record is one line, in which control characters are escaped. It does not know what is secret: who logs leaves that out.
package logs

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Suffix is that of the file that is written to; older ones have a number behind it, the highest the oldest.
const Suffix = ".log"

// Dir is the folder of logs in the state folder.
func Dir(state string) string { return filepath.Join(state, "log") }

// Path is the file of the log with this name.
func Path(state, name string) string { return filepath.Join(Dir(state), name+Suffix) }

// Off is above every level.
const Off = slog.Level(100)

// Level reads the name of a level; false for what is none.
func Level(name string) (slog.Level, bool) {
	switch strings.ToLower(name) {
	case "debug":
		return slog.LevelDebug, true
	case "info":
		return slog.LevelInfo, true
	case "warn", "warning":
		return slog.LevelWarn, true
	case "error":
		return slog.LevelError, true
	case "off":
		return Off, true
	}
	return Off, false
}

// Options say where and how a log is written.
type Options struct {
	// Path is the file, absolute.
	Path string
	// JSON has lines of JSON instead of name=value.
	JSON bool
	// Size is how large a file may grow, in bytes, Files how many there are.
	Size  int64
	Files int
	// About is said at the beginning of each file: names and values, of which "workspace" says whose log it is.
	About []any
	// Also takes every record as well, if it wants it; nil is nobody.
	Also slog.Handler
}

// Log is a log that is written to. It is safe for many callers. What cannot be written, to a full disk say, is lost, and said
// when writing works again.
type Log struct {
	o    Options
	file *file

	// least is the lowest level that anybody listens to.
	least     atomic.Int64
	mu        sync.Mutex
	listeners map[*listener]bool
}

type listener struct {
	level slog.Level
	tell  func(Told)
}

// Told is a record as a listener gets it.
type Told struct {
	Time  time.Time
	Level slog.Level
	// Text is one line: the message and its values.
	Text string
}

// Open begins to write to a log. The file, and its folder, are made when they are missing. With an error the log can be used
// all the same: it is tried again with each record.
func Open(o Options) (*Log, error) {
	l := newLog(o)
	l.file = &file{path: o.Path, size: o.Size, files: max(o.Files, 1), head: l.head}
	return l, l.file.open()
}

// Discard is a log without a file; also is as in Options.
func Discard(also slog.Handler) *Log { return newLog(Options{Also: also}) }

func newLog(o Options) *Log {
	l := &Log{o: o, listeners: map[*listener]bool{}}
	l.least.Store(int64(Off))
	return l
}

// head is the first line of a file, or says how many lines could not be written.
func (l *Log) head(lost int) []byte {
	var b bytes.Buffer
	if log := slog.New(l.encoder(&b)); lost > 0 {
		log.Warn("lines could not be written", "lost", lost)
	} else {
		log.Info("log begins", l.o.About...)
	}
	return b.Bytes()
}

// encoder writes records to w, a line each.
func (l *Log) encoder(w io.Writer) slog.Handler {
	o := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: bounded}
	if l.o.JSON {
		return slog.NewJSONHandler(plain{w}, o)
	}
	return slog.NewTextHandler(plain{w}, o)
}

// longestValue is how much of a value is written, in bytes.
const longestValue = 2 << 10

// bounded cuts what is too long to be read.
func bounded(_ []string, a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	var text string
	switch v := a.Value.Any().(type) {
	case string:
		text = v
	case error:
		text = v.Error()
	default:
		return a
	}
	if len(text) > longestValue {
		text = strings.ToValidUTF8(text[:longestValue], "") + "…"
	}
	return slog.String(a.Key, text)
}

// Logger writes what is at least of a level to the log. What somebody listens to goes there whatever its level.
func (l *Log) Logger(level slog.Level) *slog.Logger {
	return slog.New(&handler{level: level, to: l.handler(), log: l})
}

// Silent is Logger for those whom listeners hear through: nobody is told of what it writes.
func (l *Log) Silent(level slog.Level) *slog.Logger {
	return slog.New(&handler{level: level, to: l.handler()})
}

func (l *Log) handler() slog.Handler {
	var all []slog.Handler
	if l.file != nil {
		all = append(all, l.encoder(l.file))
	}
	if l.o.Also != nil {
		all = append(all, l.o.Also)
	}
	return slog.NewMultiHandler(all...)
}

// Listen has records told of at least a level until stop is called. tell must not wait, nor log.
func (l *Log) Listen(level slog.Level, tell func(Told)) (stop func()) {
	n := &listener{level, tell}
	l.change(func() { l.listeners[n] = true })
	return func() { l.change(func() { delete(l.listeners, n) }) }
}

func (l *Log) change(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
	least := Off
	for n := range l.listeners {
		least = min(least, n.level)
	}
	l.least.Store(int64(least))
}

func (l *Log) tell(t Told) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := range l.listeners {
		if t.Level >= n.level {
			n.tell(t)
		}
	}
}

// Close ends writing.
func (l *Log) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.close()
}

// handler writes records of at least a level, and tells those who listen to the log, if it has one.
type handler struct {
	log   *Log
	level slog.Level
	to    slog.Handler
	attrs []slog.Attr
}

func (h *handler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.level || h.isHeard(level)
}

func (h *handler) isHeard(level slog.Level) bool {
	return h.log != nil && int64(level) >= h.log.least.Load()
}

func (h *handler) Handle(ctx context.Context, r slog.Record) (err error) {
	if r.Level >= h.level {
		err = h.to.Handle(ctx, r)
	}
	if h.isHeard(r.Level) {
		h.log.tell(Told{r.Time, r.Level, h.text(r)})
	}
	return err
}

// text is a record as one line, without its time and level.
func (h *handler) text(r slog.Record) string {
	var b bytes.Buffer
	to := slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
			return slog.Attr{}
		}
		return bounded(groups, a)
	}}).WithAttrs(h.attrs)
	_ = to.Handle(context.Background(), r)
	return strings.TrimSpace(r.Message + " " + escaped(strings.TrimSuffix(b.String(), "\n")))
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.log, h.level, h.to.WithAttrs(attrs), slices.Concat(h.attrs, attrs)}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.log, h.level, h.to.WithGroup(name), h.attrs}
}

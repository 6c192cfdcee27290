package sidecar

import (
	"fmt"
	"sync"

	"code.sidecar.dev/sidecar/protocol"
)

// lateTail is how much is told of what is printed after the end of a call.
const lateTail = 2 << 10

// lateOutput is what a session prints while none of its calls is to be credited with it: threads, timers and programs in
// the background, after the end of the call that started them.
type lateOutput struct {
	// limit is how much may be printed between two calls, and over is told once when it is more.
	limit int64
	over  func()

	mu    sync.Mutex
	total int64
	tail  []byte
}

// Write keeps the end of it.
func (l *lateOutput) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.total
	if l.total += int64(len(b)); l.limit > 0 && before <= l.limit && l.total > l.limit {
		go l.over()
	}
	l.tail = append(l.tail, b...)
	if over := len(l.tail) - lateTail; over > 0 {
		l.tail = append(l.tail[:0], l.tail[over:]...)
	}
	return len(b), nil
}

// sink is of the session's own streams, where its interpreter prints between calls.
func (l *lateOutput) sink(_ protocol.Stream, b []byte) { _, _ = l.Write(b) }

// take gives what there is, as a note; "" is nothing.
func (l *lateOutput) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total == 0 {
		return ""
	}
	text := fmt.Sprintf("%d bytes were printed by what earlier calls of the session left running, after their end: ", l.total)
	if l.total > int64(len(l.tail)) {
		text += "… "
	}
	text += protocol.Text(trimStart(l.tail))
	l.total, l.tail = 0, nil
	return text
}

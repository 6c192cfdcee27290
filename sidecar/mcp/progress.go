package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"code.sidecar.dev/sidecar/protocol"
	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// progressPause is the least time between two messages, unless progressEnough has come together.
	progressPause  = 50 * time.Millisecond
	progressEnough = 4 << 10
	// progressMost is the longest message: what came together while the client was slow goes out in pieces.
	progressMost = 64 << 10
	// progressHeld is how much waits for a slow client; what comes on top is left out. The result has it.
	progressHeld = 1 << 20
	// progressBeat is how often a silent run shows that it lives: clients give up on silent ones.
	progressBeat = 10 * time.Second
	// progressLead is how far the last message goes ahead of the result. The official TypeScript client handles
	// notifications a turn later than results and then no longer knows their call: it drops what it reads
	// together with the result.
	progressLead = 2 * time.Millisecond
)

// progress carries a run's output to the client while the run lasts. Writing to it never waits for the client.
type progress struct {
	call  *call
	token json.RawMessage
	start time.Time

	mu      sync.Mutex
	text    []byte
	partial map[protocol.Stream][]byte
	dropped int

	// more and full hold a token when there is something, and enough, to send.
	more, full chan struct{}
	done, idle chan struct{}
	last       time.Time
	count      int
	// stage is the last that building said, at staged.
	stage  string
	staged time.Time
}

// startProgress follows a call; without a token of the client's it does nothing.
func startProgress(c *call, token json.RawMessage) *progress {
	p := &progress{call: c, token: token, start: time.Now(), partial: map[protocol.Stream][]byte{},
		more: make(chan struct{}, 1), full: make(chan struct{}, 1), done: make(chan struct{}), idle: make(chan struct{})}
	if token == nil {
		close(p.idle)
		return p
	}
	go p.run()
	return p
}

// write takes in what the run printed.
func (p *progress) write(stream protocol.Stream, printed []byte) {
	if p.token == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all := append(p.partial[stream], printed...)
	text := all[:len(all)-protocol.Unfinished(all)]
	p.partial[stream] = append([]byte(nil), all[len(text):]...)
	p.add(text)
	signal(p.more)
	if len(p.text) >= progressEnough {
		signal(p.full)
	}
}

// building says how far the run's environment is: at each new stage, and now and then.
func (p *progress) building(b protocol.Building) {
	if p.token == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.Stage == p.stage && time.Since(p.staged) < progressBeat {
		return
	}
	p.stage, p.staged = b.Stage, time.Now()
	p.add([]byte("[environment " + b.Environment + ": " + b.Text() + "]\n"))
	signal(p.more)
}

// add holds text for the client, if there is room, and says how much was left out where there was none.
func (p *progress) add(text []byte) {
	if len(p.text)+len(text) > progressHeld {
		p.dropped += len(text)
		return
	}
	p.addDropped()
	p.text = append(p.text, text...)
}

func (p *progress) addDropped() {
	if p.dropped > 0 {
		p.text = fmt.Appendf(p.text, "\n[%d bytes of output were too fast to show]\n", p.dropped)
		p.dropped = 0
	}
}

// finish sends what is left. After it there is no more progress.
func (p *progress) finish() {
	p.mu.Lock()
	for _, stream := range []protocol.Stream{protocol.Stdout, protocol.Stderr} {
		p.add(p.partial[stream])
	}
	p.addDropped()
	p.mu.Unlock()
	close(p.done)
	<-p.idle
	if p.count > 0 {
		time.Sleep(progressLead - time.Since(p.last))
	}
}

// run sends until the run is over.
func (p *progress) run() {
	defer close(p.idle)
	beat := time.NewTicker(progressBeat)
	defer beat.Stop()
	for {
		select {
		case <-p.more:
			p.wait()
			p.send()
		case <-beat.C:
			p.beat()
		case <-p.done:
			p.send()
			return
		}
	}
}

// wait lets output come together.
func (p *progress) wait() {
	pause := time.NewTimer(progressPause - time.Since(p.last))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-p.full:
	case <-p.done:
	}
}

// send sends what is held now; what comes meanwhile waits for the next time.
func (p *progress) send() {
	p.mu.Lock()
	text := p.text
	p.text = nil
	p.mu.Unlock()
	for len(text) > 0 {
		n := pieceOf(text)
		p.tell(strings.ToValidUTF8(string(text[:n]), "\uFFFD"))
		text = text[n:]
	}
}

// pieceOf is how much of text goes into one message.
func pieceOf(text []byte) int {
	if len(text) <= progressMost {
		return len(text)
	}
	for n := progressMost; n > 0; n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return progressMost
}

// beat says that a silent run goes on.
func (p *progress) beat() {
	if time.Since(p.last) >= progressBeat {
		p.tell(fmt.Sprintf("[running for %d s]", int(time.Since(p.start).Seconds())))
	}
}

// tell sends one message. The number only has to grow; how far a run has come, nobody knows.
func (p *progress) tell(text string) {
	p.count++
	defer func() { p.last = time.Now() }()
	p.call.tell(notice{JSONRPC: mcp.JSONRPC_VERSION, Method: "notifications/progress", Params: map[string]any{
		"progressToken": p.token, "progress": p.count, "message": text,
	}})
}

// signal leaves a token, if none is there.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

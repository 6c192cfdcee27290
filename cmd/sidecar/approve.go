package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
)

// lookAgain is how often new sidecars are looked for.
const lookAgain = 200 * time.Millisecond

func approveCommand(f *flags, t terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "approve",
		Short: "Answer here what runs ask for: names to reach, files of this machine, a project's Nix code",
		Long: `Answer here what runs ask for: names to reach, files of this machine, a project's Nix code.

It goes on until it is interrupted. While it does, runs of every project wait for an answer
before they are refused what no setting allows. Editors and agents ask as well, if they can;
the first answer counts.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if t.in == nil || !term.IsTerminal(int(t.in.Fd())) {
				return usage("run it in a terminal", "there is nobody to ask: standard input is no terminal")
			}
			return newAsker(f, t).serve(c.Context())
		},
	}
}

// asker asks the person at this terminal, one question after another.
type asker struct {
	f     *flags
	t     terminal
	lines chan typed

	turn sync.Mutex
	mu   sync.Mutex
	at   map[string]*client.Client
}

func newAsker(f *flags, t terminal) *asker {
	return &asker{f: f, t: t, lines: make(chan typed), at: map[string]*client.Client{}}
}

// serve connects to every sidecar of this user, also to those that come later.
func (a *asker) serve(ctx context.Context) error {
	done, err := place.Wait()
	if err != nil {
		return err
	}
	defer done()
	go a.read(a.t.in)
	say(a.t, "waiting for what runs ask; end with Ctrl-C")
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		if err := a.connect(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			_, _ = fmt.Fprintln(a.t.err) // behind the ^C that the terminal shows
			return nil
		case <-tick.C:
		}
	}
}

// typed is a line, and when it came.
type typed struct {
	text string
	at   time.Time
}

// read hands lines to the question that waits for one. What is typed while none does answers none that is yet to come.
func (a *asker) read(in *os.File) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		select {
		case a.lines <- typed{lines.Text(), time.Now()}:
		default:
		}
	}
	close(a.lines)
}

func (a *asker) connect(ctx context.Context) error {
	places, err := place.All()
	if err != nil {
		return err
	}
	for _, p := range places {
		a.mu.Lock()
		old := a.at[p.Socket]
		a.mu.Unlock()
		if old != nil && !isOver(old) {
			continue
		}
		o := a.f.observer(a.t)
		o.Approve = a.ask
		c, err := client.Attach(ctx, p, o)
		if err != nil {
			continue // nobody, or one that does not answer: looked at again
		}
		a.mu.Lock()
		a.at[p.Socket] = c
		a.mu.Unlock()
	}
	return nil
}

func isOver(c *client.Client) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// settle is how long after a question that went away the next one comes: a run could withdraw the one that a person is just
// about to answer, and put another in its place.
const settle = 700 * time.Millisecond

// ask asks one question. Only what is typed after it was shown answers it.
func (a *asker) ask(ctx context.Context, q protocol.Question) protocol.Answer {
	a.turn.Lock()
	defer a.turn.Unlock()
	if ctx.Err() != nil {
		return protocol.No
	}
	flushInput(a.t.in)
	shown := time.Now()
	say(a.t, protocol.OneLine(fmt.Sprintf("%s asks (run %s): %s", q.Client, q.Run, q.Text)))
	for {
		_, _ = io.WriteString(a.t.err, "sidecar: "+choices(q)+" ")
		select {
		case <-ctx.Done():
			say(a.t, "\nanswered elsewhere, or the run has ended")
			time.Sleep(settle)
			return protocol.No
		case line, ok := <-a.lines:
			if !ok {
				return protocol.No
			}
			if line.at.Before(shown) {
				continue
			}
			answer, err := answerOf(line.text)
			if err == nil {
				return answer
			}
			say(a.t, err.Error())
		}
	}
}

func choices(q protocol.Question) string {
	if q.Kind == protocol.AskNetwork {
		return "always writes " + protocol.OneLine(q.Writes) + ", names below it too, in every project\nsidecar: [y] once  [a] always  [n] no?"
	}
	return "[y] yes  [n] no?"
}

func answerOf(line string) (protocol.Answer, error) {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes", "once":
		return protocol.Once, nil
	case "a", "always":
		return protocol.Always, nil
	case "n", "no", "":
		return protocol.No, nil
	}
	return protocol.No, errors.New("y, a or n")
}

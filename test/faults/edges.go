//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// killsOfOthers are kill -9 of the edges for agents and editors, of sandboxes that wait, and of what keeps a session.
func killsOfOthers() (list []fault) {
	for _, e := range []edge{anMCP, anLSP} {
		for _, s := range []stage{connecting, running, ending} {
			list = append(list, fault{what: "kill -9 of " + e.role.name, stage: s.name, do: func(l *lab) error { return l.killEdge(e, s) }})
		}
		list = append(list, fault{what: "kill -9 of the sidecar", stage: "while the program of " + e.role.name + " runs", do: func(l *lab) error { return l.killBehind(e) }})
	}
	for _, of := range []role{theBwrap, theFirst, theShim, theCode} {
		list = append(list, fault{what: "kill -9 of " + of.name, stage: "of a sandbox that is ready", do: func(l *lab) error { return l.killReady(of) }})
	}
	for _, of := range []role{theCode, theBwrap, theServer} {
		list = append(list, fault{what: "kill -9 of " + of.name, stage: "of a named session", do: func(l *lab) error { return l.killSession(of) }})
	}
	return list
}

// edge is a process that speaks for an agent or an editor.
type edge struct {
	role role
	verb string
	// hello are its first messages, run asks for a run, done is what its answer has; ID is what the answer's id is.
	hello []string
	run   func(code string) string
	frame string
}

var (
	anMCP = edge{role: theMCP, verb: "mcp", frame: "%[2]s\n",
		hello: []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"faults","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`},
		run: func(code string) string {
			return `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"bash","code":` + quoted(code) + `}}}`
		}}
	anLSP = edge{role: theLSP, verb: "lsp", frame: "Content-Length: %[1]d\r\n\r\n%[2]s",
		hello: []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{},"initializationOptions":{"protocol":1}}}`,
			`{"jsonrpc":"2.0","method":"initialized","params":{}}`},
		run: func(code string) string {
			return `{"jsonrpc":"2.0","id":2,"method":"sidecar/run","params":{"language":"bash","code":` + quoted(code) + `}}`
		}}
)

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// say sends one message.
func (s *started) say(e edge, message string) {
	_, _ = fmt.Fprintf(s.in, e.frame, len(message), message)
}

// open starts an edge and asks for a run.
func (l *lab) open(e edge) (*started, error) {
	s, err := l.start("sidecar", e.verb)
	if err != nil {
		return nil, err
	}
	s.say(e, e.hello[0])
	if err := l.reached(s, func() bool { return strings.Contains(s.out.String(), `"id":1`) }); err != nil {
		return nil, err
	}
	for _, message := range append(e.hello[1:], e.run(program)) {
		s.say(e, message)
	}
	return s, nil
}

// killEdge kills an edge: its run ends, and the sidecar lives on.
func (l *lab) killEdge(e edge, at stage) error {
	s, err := l.open(e)
	if err != nil {
		return err
	}
	if at.ends {
		if err := l.begun(s); err != nil {
			return err
		}
		if err := l.goOn(); err != nil {
			return err
		}
	}
	if err := l.reached(s, func() bool { return at.is(l) }); err != nil {
		return err
	}
	if err := s.Process.Kill(); err != nil {
		return err
	}
	l.check("its run ends")
	return await("the end of its run", func() bool { return !theCode.isThere() || l.is("end") })
}

// killBehind kills the sidecar below an edge, which answers, and then the next request, too.
func (l *lab) killBehind(e edge) error {
	s, err := l.open(e)
	if err != nil {
		return err
	}
	if err := l.begun(s); err != nil {
		return err
	}
	if err := theServer.signal(unix.SIGKILL); err != nil {
		return err
	}
	if err := l.reached(s, func() bool {
		return strings.Contains(s.out.String(), "sidecar_gone") || strings.Contains(s.out.String(), "ended while the run went on")
	}); err != nil {
		return fmt.Errorf("%w: %s", err, s.out.String())
	}
	s.say(e, strings.Replace(e.run("echo once more"), `"id":2`, `"id":3`, 1))
	err = l.reached(s, func() bool { return strings.Contains(s.out.String(), "once more") })
	_ = s.in.Close()
	l.check("the answer", "the next one of the same client")
	return err
}

// killReady kills a sandbox that waits for its run: the next run is done all the same.
func (l *lab) killReady(of role) error {
	l.env = append(l.env, "SIDECAR_PERFORMANCE_WARM=always")
	for range 3 {
		if err := l.goOn(); err != nil {
			return err
		}
		s, err := l.run()
		if err != nil {
			return err
		}
		if err := l.answered(s); err != nil {
			return err
		}
		// what is there may be the last of the run that was answered, and gone in a moment
		if err := await("a sandbox that is ready", func() bool { return of.signal(unix.SIGKILL) == nil }); err != nil {
			return err
		}
	}
	return nil
}

// killSession kills what a session is made of while a call goes on, which is answered; the next call has a new one.
func (l *lab) killSession(of role) error {
	call := func(code string) (*started, error) {
		return l.start("sidecar", "run", "--session", "s", "--language", "bash", "-e", code)
	}
	s, err := call(program)
	if err != nil {
		return err
	}
	if err := l.begun(s); err != nil {
		return err
	}
	if err := of.signal(unix.SIGKILL); err != nil {
		return err
	}
	if err := l.answeredSomehow(s); err != nil {
		return err
	}
	next, err := call("echo again")
	if err != nil {
		return err
	}
	status, err := next.ended()
	if err == nil && (status != 0 || next.out.String() != "again\n") {
		err = fmt.Errorf("the next call: exit status %d, %s%s", status, next.out.String(), next.err.String())
	}
	l.check("the next call")
	if err == nil { // what is open holds its placeholders
		_, _, err = l.sidecar("stop", "--all")
	}
	return err
}

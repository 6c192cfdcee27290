package proxy

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// nameTTL is how long a client may keep an answer, in seconds; the address stays the same for the whole run.
const nameTTL = 60

// answerPackets serves DNS over UDP. Nothing in an answer waits for anything, so that one goroutine does.
func (f *Filter) answerPackets(c net.PacketConn) {
	buf := make([]byte, 4096)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			if f.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			f.pause(time.Millisecond)
			continue
		}
		if answer := f.answer(buf[:n]); answer != nil {
			c.WriteTo(answer, from) //nolint:errcheck // UDP: who gets no answer asks again
		}
	}
}

// answerStream serves DNS over TCP: each message after its length (RFC 1035 section 4.2.2).
func (f *Filter) answerStream(s *stream) {
	defer end(s)
	for {
		s.deadline(time.Now().Add(f.opt.Patience))
		var size [2]byte
		if _, err := io.ReadFull(s, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(s, query); err != nil {
			return
		}
		answer := f.answer(query)
		if answer == nil {
			return
		}
		if _, err := s.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

// answer returns the reply to one message; nil for what deserves none: a reply, or less than a header.
func (f *Filter) answer(query []byte) []byte {
	var p dnsmessage.Parser
	head, err := p.Start(query)
	if err != nil || head.Response {
		return nil
	}
	reply := dnsmessage.Header{ID: head.ID, Response: true, OpCode: head.OpCode, RecursionDesired: head.RecursionDesired,
		RecursionAvailable: true}
	questions, err := p.AllQuestions()
	switch {
	case head.OpCode != 0:
		reply.RCode = dnsmessage.RCodeNotImplemented
		return build(reply, nil, nil)
	case err != nil || len(questions) != 1:
		reply.RCode = dnsmessage.RCodeFormatError
		return build(reply, nil, nil)
	}
	q := questions[0]
	addr, code := f.lookUp(q)
	reply.RCode = code
	return build(reply, &q, addr)
}

// lookUp returns the address for a question, nil if there is none to give, and the code of the reply.
func (f *Filter) lookUp(q dnsmessage.Question) (*[4]byte, dnsmessage.RCode) {
	if q.Class != dnsmessage.ClassINET {
		return nil, dnsmessage.RCodeRefused
	}
	wanted := q.Type == dnsmessage.TypeA || q.Type == dnsmessage.TypeALL
	host, err := ParseHost(q.Name.String())
	if err != nil || host.Name == "" {
		return nil, dnsmessage.RCodeNameError
	}
	if !f.answers(host) {
		if wanted || q.Type == dnsmessage.TypeAAAA {
			v := f.opt.Rules.Decide(Target{Host: host, Kind: DNS})
			_ = f.deny(Target{Host: host, Kind: DNS}, v.Why, v.Setting) // recorded; the answer has no room for words
		}
		return nil, dnsmessage.RCodeNameError
	}
	if !wanted {
		return nil, dnsmessage.RCodeSuccess
	}
	addr, ok := f.names.address(host.Name)
	if !ok {
		return nil, dnsmessage.RCodeServerFailure
	}
	b := addr.As4()
	return &b, dnsmessage.RCodeSuccess
}

// answers says whether a name gets an address: one of whose ports some is allowed, and where a person can be asked any
// that may be reached at all, since the question is put when a connection is made.
func (f *Filter) answers(h Host) bool {
	if f.opt.Ask != nil && forbidden(h) == "" {
		return !strings.HasSuffix(h.Name, ".arpa")
	}
	return f.opt.Rules.Knows(h)
}

// build packs a reply. The question goes back with the letters that it came with, by which clients know that the reply
// is theirs.
func build(head dnsmessage.Header, q *dnsmessage.Question, addr *[4]byte) []byte {
	b := dnsmessage.NewBuilder(make([]byte, 0, 128), head)
	b.EnableCompression()
	if q != nil {
		if b.StartQuestions() != nil || b.Question(*q) != nil {
			return nil
		}
	}
	if addr != nil {
		h := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: nameTTL}
		if b.StartAnswers() != nil || b.AResource(h, dnsmessage.AResource{A: *addr}) != nil {
			return nil
		}
	}
	out, err := b.Finish()
	if err != nil {
		return nil
	}
	return out
}

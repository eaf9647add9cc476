package peer

import (
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/salvage"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/ndjson"
)

// Deliver implements Receiver.
func (p *Peer) Deliver(raw []byte) { p.deliver(raw, nil) }

// deliver takes one message that came on the stream of via, if not nil, and
// reports whether it was via's answer. On inline links it then runs on via's
// own goroutine.
func (p *Peer) deliver(raw []byte, via *Call) (answered bool) {
	if jsonrpc.IsBatch(raw) && strictjson.Scan(raw, strictjson.FromWorkload) == nil {
		// Servers of 2025-03-26 may answer and push batches (W12.5).
		strictjson.Elements(raw, func(one []byte) bool {
			answered = p.one(one, via) || answered
			return true
		})
		return answered
	}
	return p.one(raw, via)
}

func (p *Peer) one(raw []byte, via *Call) (answered bool) {
	var read jsonrpc.Message
	if err := jsonrpc.ParseTo(&read, raw, strictjson.FromWorkload); err != nil {
		what := salvage.Bytes(raw)
		if what.Object && !isGrammar(err) && !meant(raw, what) {
			what = salvage.Peek{} // JSON, but no attempt at a message: a log line
		}
		return p.broken(what, raw, &Failure{Reason: BadResponse, Err: err}, via)
	}
	if read.Kind == jsonrpc.KindResponse {
		return p.answer(&read, via)
	}
	m := read // others keep it
	switch m.Kind {
	case jsonrpc.KindRequest:
		if p.mute.Load() {
			p.cfg.Hooks.dropped(DropReverse)
			return false
		}
		p.request(&m, p.owner(&m, via), via != nil)
	case jsonrpc.KindNotification:
		p.notification(&m, via)
	}
	return false
}

// answer resolves the call that m answers.
func (p *Peer) answer(m *jsonrpc.Message, via *Call) (answered bool) {
	s := settled{answer: Answer{Result: m.Result, Err: m.Err, Meta: m.Meta}}
	if m.ID.IsZero() {
		// The server could not read what it answers to.
		return p.settleSole(s, via, DropUnknownID)
	}
	id, isString, ok := ourID(m.ID.String())
	if !ok {
		p.cfg.Hooks.dropped(DropUnknownID)
		return false
	}
	c, minted := p.claim(id, &s)
	if c == nil || !c.settle(s) {
		drop := DropUnknownID
		if minted {
			drop = DropLate
		}
		p.cfg.Hooks.dropped(drop)
		return false
	}
	if isString && p.cfg.Hooks.StringID != nil {
		p.cfg.Hooks.StringID()
	}
	return c == via
}

// Broken implements Receiver.
func (p *Peer) Broken(what salvage.Peek, begin []byte, reason Reason) {
	p.broken(what, begin, &Failure{Reason: reason, Err: errors.New("the message is over the size limit")}, nil)
}

// broken deals with a message that cannot be read (R5): whoever waits for it
// learns at once, and a line of talk is only shown (C07).
func (p *Peer) broken(what salvage.Peek, begin []byte, f *Failure, via *Call) (answered bool) {
	if p.cfg.Hooks.Noise != nil {
		p.cfg.Hooks.Noise(ndjson.Excerpt(begin))
	}
	if !what.Object {
		p.cfg.Hooks.dropped(DropNoise)
		return false
	}
	p.cfg.Hooks.dropped(DropBroken)
	if what.Method {
		// A request or notification of the server. A request must not be left
		// to wait for its own deadline.
		if id, ok := jsonrpc.ParseID([]byte(what.ID)); ok && !p.mute.Load() {
			p.reply(id, "", nil, jsonrpc.Outcome{Err: jsonrpc.Errorf(jsonrpc.CodeParse, "message could not be read")})
		}
		return false
	}
	if id, _, ok := ourID(what.ID); ok {
		s := settled{err: f}
		c, _ := p.claim(id, &s)
		return c != nil && c.settle(s) && c == via
	}
	return p.settleSole(settled{err: f}, via, "")
}

// settleSole resolves via, or the only call in flight; with several nobody
// knows whose it was.
func (p *Peer) settleSole(s settled, via *Call, otherwise Drop) (answered bool) {
	c := via
	if c == nil {
		c = p.sole(func(c *Call) bool { return !c.aside })
	}
	if c != nil {
		p.claim(c.id, &s)
		if c.settle(s) {
			return c == via
		}
	}
	if otherwise != "" {
		p.cfg.Hooks.dropped(otherwise)
	}
	return false
}

// claim takes a call out of the table, so that it is settled once, with s, and
// counts as ended from here on; minted says whether we ever made that id.
func (p *Peer) claim(id int64, s *settled) (c *Call, minted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c = p.pending[id]; c != nil {
		delete(p.pending, id)
		p.touch()
		s.alone = !c.asked
	}
	return c, id <= p.next
}

// isGrammar reports whether a refused message was not JSON at all.
func isGrammar(err error) bool {
	var e *jsonrpc.ParseError
	return errors.As(err, &e) && e.Code == jsonrpc.CodeParse
}

// meant reports whether JSON that is no message was at least meant as one:
// programs log JSON objects, with members like "error" and "method" too.
func meant(raw []byte, what salvage.Peek) bool {
	has := func(name string) bool {
		_, ok := strictjson.Get(raw, name)
		return ok
	}
	return has("jsonrpc") || what.ID != "" && (has("result") || has("error"))
}

package peer

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Causes that end the ctx of a Handler's Request.
var (
	// ErrWithdrawn: the server cancelled its own request.
	ErrWithdrawn = errors.New("the server cancelled its request")
	errCallOver  = errors.New("the request it belonged to has ended")
)

// reverseCall is a request of the server in flight. Its id is opaque.
type reverseCall struct {
	call   *Call // nil: belongs to no call
	cancel context.CancelCauseFunc
}

// request serves a request of the server; it does not block.
func (p *Peer) request(m *jsonrpc.Message, call *Call) {
	if m.Method == "ping" { // B6.4
		p.reply(jsonrpc.EncodeResult(m.ID, []byte("{}")))
		return
	}
	if p.cfg.Handler == nil {
		p.reply(jsonrpc.EncodeError(m.ID, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found")))
		return
	}
	ctx, cancel := context.WithCancelCause(p.ctx)
	r := &reverseCall{call: call, cancel: cancel}
	if refused := p.admit(m.ID, r); refused != nil {
		cancel(refused)
		p.cfg.Hooks.dropped(DropReverse)
		p.reply(jsonrpc.EncodeError(m.ID, refused))
		return
	}
	p.handlers.Go(func() {
		defer cancel(nil)
		result, rpcErr := p.cfg.Handler.Request(ctx, Incoming{Msg: m, Call: call})
		p.mu.Lock()
		if p.reverse[m.ID] == r {
			delete(p.reverse, m.ID)
			p.touch()
		}
		p.mu.Unlock()
		if errors.Is(context.Cause(ctx), ErrWithdrawn) {
			return // W19.2
		}
		answer := jsonrpc.EncodeResult(m.ID, result)
		if rpcErr != nil {
			answer = jsonrpc.EncodeError(m.ID, rpcErr)
		}
		if p.Err() == nil && p.respond(answer) != nil {
			p.cfg.Hooks.dropped(DropReply)
		}
	})
}

// admit registers a request of the server, or says why not.
func (p *Peer) admit(id jsonrpc.ID, r *reverseCall) *jsonrpc.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ended != nil:
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the connection has ended")
	case len(p.reverse) >= p.cfg.MaxReverse:
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "too many requests in flight").WithReason(string(Busy))
	case p.reverse[id] != nil:
		return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "a request with this id is in flight")
	}
	p.reverse[id] = r
	return nil
}

// withdrawn ends a request that the server has cancelled; unknown ones are
// ignored (W19.3).
func (p *Peer) withdrawn(m *jsonrpc.Message) {
	raw, _ := strictjson.Get(m.Params, "requestId")
	id, ok := jsonrpc.ParseID(raw)
	if !ok {
		return
	}
	p.mu.Lock()
	r := p.reverse[id]
	p.mu.Unlock()
	if r != nil {
		r.cancel(ErrWithdrawn)
	}
}

// respond sends an answer and waits until the link has taken it.
func (p *Peer) respond(raw []byte) error {
	ctx, cancel := context.WithTimeout(p.ctx, replyTimeout)
	defer cancel()
	return p.link.Send(ctx, &Outgoing{Raw: raw, Kind: jsonrpc.KindResponse})
}

// reply sends an answer that is ready at once, without waiting.
func (p *Peer) reply(raw []byte) {
	p.sayLater(&Outgoing{Raw: raw, Kind: jsonrpc.KindResponse}, DropReply)
}

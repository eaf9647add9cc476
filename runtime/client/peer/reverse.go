package peer

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
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
	named  bool  // it names the task that it belongs to
	cancel context.CancelCauseFunc
}

// request serves a request of the server; it does not block.
func (p *Peer) request(m *jsonrpc.Message, call *Call, certain bool) {
	in := Incoming{Msg: m, Call: call, Certain: certain}
	if p.receive == nil && (m.Method == mcp.MethodPing || p.cfg.Handler == nil) {
		result, err := p.serve(p.ctx, in) // answered at once, without a goroutine
		p.reply(m.ID, m.Method, call, jsonrpc.Outcome{Result: result, Err: err})
		return
	}
	ctx, cancel := context.WithCancelCause(p.ctx)
	r := &reverseCall{call: call, named: relatedTask(m) != "", cancel: cancel}
	if refused := p.admit(m.ID, r); refused != nil {
		cancel(refused)
		p.cfg.Hooks.dropped(DropReverse)
		p.reply(m.ID, m.Method, call, jsonrpc.Fail(refused))
		return
	}
	p.handlers.Go(func() {
		defer cancel(nil)
		var result []byte
		var rpcErr *jsonrpc.Error
		if !fence.Call(p.cfg.Hooks.Panicked, func() { result, rpcErr = p.asked(ctx, in) }) {
			rpcErr = jsonrpc.Errorf(jsonrpc.CodeInternal, "internal error")
		}
		p.mu.Lock()
		if p.reverse[m.ID] == r {
			delete(p.reverse, m.ID) // who has the answer may use the id again
			p.touch()
		}
		p.replying++
		p.mu.Unlock()
		defer p.replied()
		if errors.Is(context.Cause(ctx), ErrWithdrawn) {
			return // W19.2
		}
		answer := p.response(m.ID, m.Method, call, jsonrpc.Outcome{Result: result, Err: rpcErr})
		if p.Err() == nil && p.respond(answer) != nil {
			p.cfg.Hooks.dropped(DropReply)
		}
	})
}

// replied: an answer to the server is no longer on its way.
func (p *Peer) replied() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replying--
}

// admit registers a request of the server, or says why not.
func (p *Peer) admit(id jsonrpc.ID, r *reverseCall) *jsonrpc.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ended != nil:
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the connection has ended")
	case len(p.reverse)+p.replying >= p.cfg.MaxReverse:
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "too many requests in flight").WithReason(string(Busy))
	case p.reverse[id] != nil:
		return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "a request with this id is in flight")
	}
	p.reverse[id] = r
	if r.call != nil {
		r.call.asked = true
	}
	return nil
}

// withdraw serves notifications/cancelled, behind links on a goroutine of its
// own: what cancels must not wait for what is cancelled. Too many at once go
// without links.
func (p *Peer) withdraw(m *jsonrpc.Message) {
	if p.receive == nil {
		p.withdrawn(m)
		return
	}
	select {
	case p.slots <- struct{}{}:
		p.handlers.Go(func() {
			defer func() { <-p.slots }()
			p.told(Incoming{Msg: m}, func(in Incoming) { p.withdrawn(in.Msg) })
		})
	default:
		p.withdrawn(m)
	}
}

// withdrawn ends a request that the server has cancelled, or a subscription of
// ours that it tears down (W19.9, W40.1); unknown ones are ignored (W19.3).
func (p *Peer) withdrawn(m *jsonrpc.Message) {
	raw, _ := strictjson.Get(m.Params, "requestId")
	if c := p.byID(raw); c != nil && c.method == mcp.MethodListen {
		s := settled{err: &Failure{Reason: StreamLost, Err: ErrWithdrawn}}
		p.claim(c.id, &s)
		c.settle(s)
		return
	}
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
func (p *Peer) respond(m *middleware.Message) error {
	ctx, cancel := context.WithTimeout(p.ctx, replyTimeout)
	defer cancel()
	if p.send != nil {
		return p.announced(ctx, m)
	}
	return p.link.Send(ctx, outgoing(m))
}

// reply sends an answer that is ready at once, without waiting.
func (p *Peer) reply(id jsonrpc.ID, method string, call *Call, o jsonrpc.Outcome) {
	p.sayLater(p.response(id, method, call, o), DropReply)
}

// response is the answer to a request of the server.
func (p *Peer) response(id jsonrpc.ID, method string, call *Call, o jsonrpc.Outcome) *middleware.Message {
	m := p.message(jsonrpc.KindResponse, method, "")
	m.ID, m.Result, m.Err, m.Parent = id, o.Result, o.Err, parent(call)
	return m
}

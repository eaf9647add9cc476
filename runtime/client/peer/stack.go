package peer

import (
	"context"
	"errors"
	"strconv"

	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// errTwice: a link called next again for a request that is on its way.
var errTwice = errors.New("peer: a link sent a request twice")

// message is a Message of this leg. revision may be empty: then it is what
// initialize agreed on.
func (p *Peer) message(kind jsonrpc.Kind, method, revision string) *middleware.Message {
	if revision == "" {
		p.mu.Lock()
		revision = p.revision
		p.mu.Unlock()
	}
	return &middleware.Message{Kind: kind, Method: method, Revision: revision}
}

func (p *Peer) negotiated(revision string) {
	p.mu.Lock()
	p.revision = revision
	p.mu.Unlock()
}

func (c *Call) wireID() jsonrpc.ID { return jsonrpc.RawID(strconv.FormatInt(c.id, 10)) }

// parent is the id of the call that a message of the server belongs to.
func parent(c *Call) jsonrpc.ID {
	if c == nil {
		return jsonrpc.ID{}
	}
	return c.wireID()
}

// sent takes a call through the send stack. What failed on the way is an error
// with that Cause to links, and itself again to the caller.
func (p *Peer) sent(ctx context.Context, c *Call, req Request, params []byte) (Answer, error) {
	m := p.message(jsonrpc.KindRequest, req.Method, req.Revision)
	m.ID, m.Params = c.wireID(), params
	var (
		answer Answer
		used   bool
	)
	o := p.send.Run(ctx, m, func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
		if used {
			return unsent(errTwice)
		}
		used = true
		var err error
		if answer, err = p.exchange(ctx, c, &req, m.Params); err != nil {
			return unsent(err)
		}
		return jsonrpc.Outcome{Result: answer.Result, Err: answer.Err}
	})
	switch {
	case o.Err != nil && o.Err.Cause != nil:
		return Answer{}, o.Err.Cause
	case o.IsZero():
		return Answer{}, &Failure{Reason: BadResponse, Err: errors.New("a link of the send stack gave no answer")}
	}
	return answer.with(o), nil
}

func unsent(err error) jsonrpc.Outcome {
	return jsonrpc.Fail(&jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error(), Cause: err})
}

// with is the answer after links have seen it.
func (a Answer) with(o jsonrpc.Outcome) Answer {
	switch {
	case o.Err != nil:
		return Answer{Err: o.Err}
	case len(o.Result) == len(a.Result) && len(o.Result) > 0 && &o.Result[0] == &a.Result[0]:
		return a
	}
	meta, _ := strictjson.Get(o.Result, "_meta")
	if !strictjson.IsObject(meta) {
		meta = nil
	}
	return Answer{Result: o.Result, Meta: meta}
}

// received takes an answer through the receive stack, on the caller's
// goroutine.
func (p *Peer) received(ctx context.Context, c *Call, revision string, a Answer) Answer {
	m := p.message(jsonrpc.KindResponse, c.method, revision)
	m.ID, m.Result, m.Err = c.wireID(), a.Result, a.Err
	out := Answer{Err: jsonrpc.Errorf(jsonrpc.CodeInternal, "the answer was withheld")}
	p.receive.Run(ctx, m, func(_ context.Context, m *middleware.Message) jsonrpc.Outcome {
		out = a.with(jsonrpc.Outcome{Result: m.Result, Err: m.Err})
		return jsonrpc.Outcome{}
	})
	return out
}

// errPanicked is a message that a link of the send stack panicked on.
var errPanicked = errors.New("peer: a panic kept the message from being sent")

// announced takes a message that gets no answer through the send stack to the
// link. The error is that of Link.Send.
func (p *Peer) announced(ctx context.Context, m *middleware.Message) (err error) {
	sent := false
	fine := fence.Call(p.cfg.Hooks.Panicked, func() {
		p.send.Run(ctx, m, func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
			err = p.link.Send(ctx, outgoing(m))
			sent = true
			return jsonrpc.Outcome{}
		})
	})
	if !fine && !sent {
		return errPanicked
	}
	return err
}

func outgoing(m *middleware.Message) *Outgoing {
	out := &Outgoing{Kind: m.Kind}
	switch {
	case m.Kind == jsonrpc.KindNotification:
		out.Method, out.Raw = m.Method, jsonrpc.EncodeNotification(m.Method, m.Params)
	case m.Err != nil:
		out.Raw = jsonrpc.EncodeError(m.ID, m.Err)
	default:
		out.Raw = jsonrpc.EncodeResult(m.ID, m.Result)
	}
	return out
}

// asked takes a request of the server through the receive stack to its Handler.
func (p *Peer) asked(ctx context.Context, in Incoming) (result []byte, err *jsonrpc.Error) {
	if p.receive == nil {
		return p.serve(ctx, in)
	}
	m := p.message(jsonrpc.KindRequest, in.Msg.Method, "")
	m.ID, m.Params, m.Parent = in.Msg.ID, in.Msg.Params, parent(in.Call)
	o := p.receive.Run(ctx, m, func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
		if msg, ok := changed(in.Msg, m.Params); ok {
			in.Msg = msg
		}
		result, err := p.serve(ctx, in)
		return jsonrpc.Outcome{Result: result, Err: err}
	})
	if o.IsZero() {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "no answer")
	}
	return o.Result, o.Err
}

// serve answers a request of the server.
func (p *Peer) serve(ctx context.Context, in Incoming) (result []byte, err *jsonrpc.Error) {
	switch {
	case in.Msg.Method == mcp.MethodPing: // B6.4
		return []byte("{}"), nil
	case p.cfg.Handler == nil:
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found")
	}
	return p.cfg.Handler.Request(ctx, in)
}

// told takes a notification through the receive stack to end.
func (p *Peer) told(in Incoming, end func(Incoming)) {
	fence.Call(p.cfg.Hooks.Panicked, func() { p.tell(in, end) })
}

func (p *Peer) tell(in Incoming, end func(Incoming)) {
	if p.receive == nil {
		end(in)
		return
	}
	m := p.message(jsonrpc.KindNotification, in.Msg.Method, "")
	m.Params, m.Parent = in.Msg.Params, parent(in.Call)
	p.receive.Run(p.ctx, m, func(_ context.Context, m *middleware.Message) jsonrpc.Outcome {
		if msg, ok := changed(in.Msg, m.Params); ok {
			in.Msg = msg
		}
		end(in)
		return jsonrpc.Outcome{}
	})
}

// changed is msg with other params; false when they are the same, or no object.
func changed(msg *jsonrpc.Message, params []byte) (*jsonrpc.Message, bool) {
	if len(params) == len(msg.Params) && (len(params) == 0 || &params[0] == &msg.Params[0]) {
		return nil, false
	}
	raw := jsonrpc.EncodeNotification(msg.Method, params)
	if msg.Kind == jsonrpc.KindRequest {
		raw = jsonrpc.EncodeRequest(msg.ID, msg.Method, params)
	}
	out, err := jsonrpc.Parse(raw, strictjson.FromWorkload)
	return out, err == nil
}

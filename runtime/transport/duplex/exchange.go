package duplex

import (
	"context"
	"errors"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// exchange is one request in flight and its way back to the client.
type exchange struct {
	c         *Conn
	msg       inbound
	profile   mcp.Profile // of modern requests
	legacy    *legacy     // nil for modern requests
	listening bool
	after     func(o dispatch.Outcome, silence error)

	mu    sync.Mutex // also the order of what is sent
	ended bool

	// waits ends a producer that waits for room when its request ends.
	waitMu sync.Mutex
	waits  []context.CancelFunc
	over   bool
	run    *dispatch.Run
	cause  error // of a cancel that came before run was known
}

var (
	_ dispatch.Channel = (*exchange)(nil)
	_ dispatch.Waiter  = (*exchange)(nil)
)

// start registers the request and begins its work.
func (x *exchange) start(parent context.Context, req dispatch.Request, h dispatch.Handler) {
	c := x.c
	if refusal, ok := c.enter(); !ok {
		x.msg.done()
		c.refuse(x.msg.ID, refusal)
		return
	}
	c.mu.Lock()
	_, twice := c.runs[x.msg.ID]
	if !twice {
		c.runs[x.msg.ID] = x
	}
	c.mu.Unlock()
	if twice {
		x.msg.done()
		c.leave()
		c.refuse(x.msg.ID, duplicate())
		return
	}
	run, err := c.cfg.Dispatcher.Start(parent, req, h, x.deliver)
	if err != nil {
		x.deliver(dispatch.Fail(err), nil)
		return
	}
	x.waitMu.Lock()
	x.run = run
	cause := x.cause
	x.waitMu.Unlock()
	if cause != nil {
		run.Cancel(cause)
	}
}

func duplicate() *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "a request with this id is in flight").WithReason(mcp.ReasonDuplicateID)
}

// cancel ends the request with a cause.
func (x *exchange) cancel(cause error) {
	x.waitMu.Lock()
	run := x.run
	if run == nil {
		x.cause = cause
	}
	x.waitMu.Unlock()
	if run != nil {
		run.Cancel(cause)
	}
}

// deliver implements dispatch.Deliver.
func (x *exchange) deliver(o dispatch.Outcome, silence error) {
	x.waitMu.Lock()
	x.over = true
	waits := x.waits
	x.waits = nil
	x.waitMu.Unlock()
	for _, stop := range waits {
		stop()
	}
	x.mu.Lock()
	x.ended = true
	x.c.mu.Lock()
	if x.c.runs[x.msg.ID] == x {
		delete(x.c.runs, x.msg.ID)
	}
	x.c.mu.Unlock()
	if silence == nil {
		x.c.say(encode(x.msg.ID, o))
	}
	x.mu.Unlock()
	if x.after != nil {
		x.after(o, silence)
	}
	x.msg.done()
	x.c.leave()
}

// encode makes the response of an outcome.
func encode(id jsonrpc.ID, o dispatch.Outcome) []byte {
	if o.Err != nil {
		return jsonrpc.EncodeError(id, o.Err)
	}
	return jsonrpc.EncodeResult(id, o.Result)
}

// Notify implements dispatch.Channel.
func (x *exchange) Notify(raw []byte) error {
	return x.send(raw, x.c.cfg.Wire.Send)
}

// NotifyWait implements dispatch.Waiter.
func (x *exchange) NotifyWait(ctx context.Context, raw []byte) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	x.waitMu.Lock()
	if !x.over {
		x.waits = append(x.waits, stop)
	}
	over := x.over
	x.waitMu.Unlock()
	if over {
		return x.late()
	}
	defer x.forget()
	return x.send(raw, func(raw []byte) error { return x.c.cfg.Wire.SendWait(ctx, raw) })
}

// forget drops the waits of a producer that waits no more. There is one
// producer as a rule; with several the rest are told a little early or late,
// which they cannot tell from a message that came too late.
func (x *exchange) forget() {
	x.waitMu.Lock()
	if len(x.waits) == 1 {
		x.waits = nil
	}
	x.waitMu.Unlock()
}

// send keeps the order: nothing of a request follows its answer (W20.3).
func (x *exchange) send(raw []byte, send func([]byte) error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return x.late()
	}
	return send(raw)
}

func (x *exchange) late() error {
	x.c.cfg.Observer.Drop(hook.DropLate)
	return errOver
}

var errOver = errors.New("the request has ended")

// Call implements dispatch.Channel. It ends early when the client can say no
// more.
func (x *exchange) Call(ctx context.Context, method string, params []byte) dispatch.Outcome {
	if x.legacy == nil {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "the client cannot be asked on this request").WithReason(mcp.ReasonNoChannel))
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(x.c.in, func() { stop(context.Cause(x.c.in)) })()
	return x.legacy.CallOn(ctx, method, params, func(raw []byte) error { return x.c.cfg.Wire.SendWait(ctx, raw) })
}

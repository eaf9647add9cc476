package dispatch

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/internal/lapse"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Run is one request between its start and its end. The zero value is for Begin;
// it may not be copied.
type Run struct {
	d        *Dispatcher
	id       jsonrpc.ID
	x        Exchange
	legacy   *Legacy
	handler  Handler
	to       Recipient
	op       hook.Operation
	began    time.Time
	ctx      context.Context
	cancel   context.CancelCauseFunc
	deadline lapse.Alarm
	unwatch  func() bool // nil: Work is prompt
	over     atomic.Bool
	listens  bool
	waits    bool
	counted  bool // its session waits for it, see Legacy.Retire
	grace    atomic.Pointer[time.Timer]
}

// Begin is Dispatcher.Start that leaves the work to the caller, who calls Go or,
// where Prompt says that he may, Work. r is his to keep where he keeps the rest of
// the request.
func (r *Run) Begin(d *Dispatcher, parent context.Context, req Request, h Handler, to Recipient) *jsonrpc.Error {
	r.d, r.id, r.handler, r.to, r.began = d, req.Msg.ID, h, to, time.Now()
	r.legacy, _ = req.Session.(*Legacy)
	registered := r.legacy != nil && req.Msg.Method != mcp.MethodInitialize
	if registered && parent == r.legacy.Context() {
		parent = context.Background() // the session knows its requests and cancels them
	}
	r.ctx, r.cancel = context.WithCancelCause(parent)
	r.x.set(r.ctx, req)
	r.x.d = d
	r.listens, r.waits = r.x.method.Listening, r.x.method.Waiting
	r.op = d.operation(&r.x.req, r.x.known)
	if registered {
		if !r.legacy.begin(r) {
			r.cancel(context.Canceled)
			return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "a request with this id is in flight").WithReason(mcp.ReasonDuplicateID)
		}
		r.legacy.Ready()
	}
	if d.Timeout != nil && !r.listens {
		if limit := d.Timeout(); limit > 0 {
			// Not one more context or timer, of which there are enough.
			d.deadlines.Set(&r.deadline, r.began, limit, (*overdue)(r))
		}
	}
	d.Observer.Start(r.op)
	return nil
}

// overdue is a Run whose deadline passes.
type overdue Run

// Ring implements lapse.Ringer.
func (r *overdue) Ring() { r.cancel(ErrDeadline) }

// Cancel ends the request with a cause. Idempotent; does not wait for the
// handler.
func (r *Run) Cancel(cause error) { r.cancel(cause) }

// Exchange is what the handler was given.
func (r *Run) Exchange() *Exchange { return &r.x }

// Began is when the request began.
func (r *Run) Began() time.Time { return r.began }

// Go works on the request on a goroutine of its own. Whatever the handler does,
// the request ends when its context does.
func (r *Run) Go() {
	r.unwatch = context.AfterFunc(r.ctx, r.interrupted)
	go func() {
		grow()
		r.Work()
	}()
}

// Work takes the request through the receive stack to its handler, and delivers
// what becomes of it, on the goroutine of the caller: Run.Prompt says whether
// he may spare it.
func (r *Run) Work() {
	var o Outcome
	if stack := r.d.receiving(); stack != nil {
		o = r.d.received(r.ctx, &r.x.req, stack, r.turn)
	} else {
		o = r.turn(r.ctx, nil)
	}
	watched := r.unwatch == nil || r.unwatch()
	if r.ctx.Err() == nil || r.listens && graceful(context.Cause(r.ctx)) {
		r.end(o, nil)
		return
	}
	// The context ended first: no answer after a cancel (D3). A handler may
	// have seen that before whoever watches the context did.
	if watched {
		r.interrupted()
	}
}

// turn waits for a turn and runs the handler. m is nil without a stack.
func (r *Run) turn(ctx context.Context, m *middleware.Message) Outcome {
	if !r.listens && !r.waits {
		if err := r.d.gate.enter(ctx, r.d.MaxConcurrent, r.d.Observer); err != nil {
			if errors.Is(err, errGateFull) {
				return Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "too many requests").WithReason(mcp.ReasonBusy))
			}
			return Fail(Explain(err))
		}
		defer r.d.gate.leave()
	}
	if m != nil {
		msg, err := edited(r.x.Msg, m.Params)
		if err != nil {
			return Fail(err)
		}
		r.x.Msg = msg
	}
	switch {
	case r.listens:
		return r.listen(ctx)
	case r.waits:
		return r.wait(ctx)
	}
	return r.call(ctx)
}

func (r *Run) call(ctx context.Context) (o Outcome) {
	defer r.d.guard(&o)
	o = r.handler(ctx, &r.x)
	return certain(o)
}

// interrupted is called when the context ends before the handler has answered.
func (r *Run) interrupted() {
	cause := context.Cause(r.ctx)
	switch {
	case errors.Is(cause, ErrCancelled), errors.Is(cause, ErrDisconnected):
		r.end(Outcome{}, cause)
	case r.listens && graceful(cause):
		r.grace.Store(time.AfterFunc(listenGrace, func() { r.end(Fail(Explain(cause)), nil) }))
	default:
		r.end(Fail(Explain(cause)), nil)
	}
}

// end resolves the request; only the first call counts.
func (r *Run) end(o Outcome, silence error) {
	if !r.over.CompareAndSwap(false, true) {
		return
	}
	if r.legacy != nil {
		r.legacy.finish(r)
		defer r.legacy.delivered(r)
	}
	if silence == nil {
		o = r.d.respond(r.ctx, &r.x.req, o)
	}
	r.to.Deliver(o, silence)
	if t := r.grace.Load(); t != nil {
		t.Stop()
	}
	r.d.Observer.Finish(r.op, r.summary(o, silence))
	r.stop()
}

// stop releases what the request held.
func (r *Run) stop() {
	r.d.deadlines.Stop(&r.deadline)
	r.cancel(context.Canceled)
}

func (r *Run) summary(o Outcome, silence error) hook.End {
	end := hook.End{Duration: time.Since(r.began)}
	switch {
	case errors.Is(silence, ErrDisconnected):
		end.ErrorType = "disconnected"
	case silence != nil:
		end.ErrorType = "cancelled"
	case o.Err != nil:
		end.Code = o.Err.Code
		end.ErrorType = strconv.FormatInt(o.Err.Code, 10)
		if o.Err.Reason() == mcp.ReasonTimeout {
			end.ErrorType = "timeout"
		}
	case r.op.Method == mcp.MethodToolsCall && r.d.Observer.Watches():
		if isError, _ := strictjson.Get(o.Result, "isError"); string(isError) == "true" {
			end.ErrorType = "tool_error"
		}
	}
	return end
}

// Explain words a cause as the error that a client gets. A cause that is or
// wraps a *jsonrpc.Error is that error; nothing else of the cause is shown
// (B16.3).
func Explain(cause error) *jsonrpc.Error {
	var own *jsonrpc.Error
	switch {
	case errors.As(cause, &own):
		return own
	case errors.Is(cause, ErrDeadline), errors.Is(cause, context.DeadlineExceeded):
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the request took too long").WithReason(mcp.ReasonTimeout)
	case errors.Is(cause, ErrShutdown), errors.Is(cause, ErrGoingAway):
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the server is shutting down").WithReason(mcp.ReasonDraining)
	}
	return jsonrpc.Errorf(jsonrpc.CodeInternal, "the session has ended").WithReason(mcp.ReasonSessionEnded)
}

// usualStack is what a request needs that is parsed, validated and encoded.
const usualStack = 12 << 10

// grow makes the stack of a new goroutine that large at once. Else it would be
// copied three times on the way there, which costs as much as reading the
// request.
//
//go:noinline
func grow() {
	var room [usualStack]byte
	keep(&room)
}

//go:noinline
func keep(*[usualStack]byte) {}

package dispatch

import (
	"context"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
	"github.com/fairlead-dev/fairlead/runtime/internal/lapse"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Dispatcher takes requests from transports through to a Server. Server is
// required; other zero fields mean defaults. No field may change once it is in
// use. All methods may be called concurrently.
type Dispatcher struct {
	Server Server
	// Binding is what the transport carries; it labels observations.
	Binding mcp.Binding
	// Offer is asked which revisions are served; nil means all. Sessions keep
	// theirs when it changes.
	Offer func() mcp.Offer
	// Pod is what the ids of reverse requests begin with, so that any pod
	// knows whose they are (P10).
	Pod string
	// Timeout bounds one request, waiting included; nil or 0 means no bound.
	Timeout func() time.Duration
	// MaxConcurrent bounds requests that a Server is working on; nil or 0
	// means DefaultConcurrent. Ten times as many may wait for their turn,
	// further ones fail at once.
	MaxConcurrent func() int
	// MaxListening and MaxListeningPerPrincipal bound listening exchanges, and
	// apart from them those that wait (mcp.Method.Waiting): both take no part
	// in MaxConcurrent. nil or 0 means DefaultListening, and no bound per
	// principal. One too many fails at once.
	MaxListening, MaxListeningPerPrincipal func() int
	// Receive and Send see every message that the client sends and gets (D4);
	// nil costs nothing. A request waits for its turn behind Receive.
	Receive, Send middleware.Middleware
	Observer      *hook.Observer

	stacks             stacks
	gate               gate
	listeners, waiters listeners
	deadlines          lapse.Clock
	serial             atomic.Uint64
}

// DefaultConcurrent is the bound of requests in work.
const DefaultConcurrent = 256

// Handler works on one request: Server.Serve, or Server.Open with its session.
type Handler func(ctx context.Context, x *Exchange) Outcome

// Recipient is told once how a request ended. With a nil silence the outcome is
// to be sent; otherwise nothing may be sent (D3: no answer leaves after a
// cancel) and silence says why. It must not block on the client.
type Recipient interface {
	Deliver(o Outcome, silence error)
}

// Deliver is a Recipient.
type Deliver func(o Outcome, silence error)

// Deliver implements Recipient.
func (f Deliver) Deliver(o Outcome, silence error) { f(o, silence) }

// Offered is which revisions are served.
func (d *Dispatcher) Offered() mcp.Offer {
	if d == nil || d.Offer == nil {
		return nil
	}
	return d.Offer()
}

// Start begins a request that belongs to parent and returns at once; the work
// runs on a goroutine of its own. deliver is called once, from whatever ended
// the request first: the handler, cancel, deadline, or parent's end. The error
// is an id that is in flight already on the session.
func (d *Dispatcher) Start(parent context.Context, r Request, h Handler, deliver Deliver) (*Run, *jsonrpc.Error) {
	run := new(Run)
	if err := run.Begin(d, parent, r, h, deliver); err != nil {
		return nil, err
	}
	run.Go()
	return run, nil
}

// Answer answers what needs no Server: ping (B11.7), and methods that the
// request's revision does not have. answered is false for everything else,
// which is to be started. ctx is for links of the stacks, which may wait.
func (d *Dispatcher) Answer(ctx context.Context, r Request) (o Outcome, answered bool) {
	if l, ok := r.Session.(*Legacy); ok {
		l.Ready()
	}
	method, known := r.Profile.Method(r.Msg.Method)
	switch {
	case known && method.Name == mcp.MethodPing:
		o = Result([]byte(`{}`))
	case !known && !r.Profile.Serves(r.Msg.Method):
		o = Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found"))
	default:
		return Outcome{}, false
	}
	run := Run{d: d, op: d.operation(&r, known), began: time.Now()}
	d.Observer.Start(run.op)
	if stack := d.receiving(); stack != nil {
		o = d.answered(ctx, r, stack, o)
	}
	o = d.respond(ctx, &r, o)
	d.Observer.Finish(run.op, run.summary(o, nil))
	return o, true
}

func (d *Dispatcher) answered(ctx context.Context, r Request, stack *middleware.Stack, o Outcome) Outcome {
	return d.received(ctx, &r, stack, func(context.Context, *middleware.Message) Outcome { return o })
}

// operation names a request for telemetry; known says that its revision has the
// method.
func (d *Dispatcher) operation(r *Request, known bool) hook.Operation {
	op := hook.Operation{Method: r.Msg.Method, Revision: r.Profile.Revision, Binding: d.Binding.String()}
	if !known && !mcp.KnownMethod(op.Method) {
		op.Method = "_OTHER"
	}
	if d.Observer == nil {
		return op
	}
	switch op.Method {
	case mcp.MethodToolsCall:
		op.Tool = stringParam(r.Msg.Params, "name")
	case mcp.MethodPromptsGet:
		op.Prompt = stringParam(r.Msg.Params, "name")
	}
	return op
}

func stringParam(params []byte, name string) string {
	raw, _ := strictjson.Get(params, name)
	text, _ := strictjson.String(raw)
	return text
}

// mint makes the id of a reverse request: a string that carries the pod.
func (d *Dispatcher) mint() jsonrpc.ID {
	text := d.Pod + "." + strconv.FormatUint(d.serial.Add(1), 10)
	return jsonrpc.RawID(string(strictjson.Quote(nil, text)))
}

// closed tells the Server that a session has ended, from whatever ended it: a
// request, a timer, another goroutine.
func (d *Dispatcher) closed(l *Legacy, cause error) {
	fence.Call(d.Observer.Panic, func() { d.Server.Closed(l, cause) })
}

// guard turns a panic of the Server into an internal error: one bad request
// must not end the others.
func (d *Dispatcher) guard(o *Outcome) {
	if v := recover(); v != nil {
		d.Observer.Panic(v, debug.Stack())
		*o = Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "internal error"))
	}
}

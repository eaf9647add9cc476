package dispatch

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/paramheader"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Channel is an exchange's way back to its client. Transports implement it;
// so does a test. Both methods may be called concurrently and fail once the
// exchange has ended.
type Channel interface {
	// Notify sends one complete notification on the exchange's own stream.
	Notify(raw []byte) error
	// Call makes a reverse request on the exchange's own stream and waits for
	// the client's answer or for ctx.
	Call(ctx context.Context, method string, params []byte) Outcome
}

// Waiter is a Channel that can hold a producer up until its client has read.
type Waiter interface {
	NotifyWait(ctx context.Context, raw []byte) error
}

// Caller names whom limits count a request for (P22, auth.Bucket). It is asked
// only where something counts.
type Caller interface{ Bucket() string }

// Bucket is a Caller whose name is known.
type Bucket string

// Bucket implements Caller.
func (b Bucket) Bucket() string { return string(b) }

// bucket is the name; empty where nobody can tell.
func (r *Request) bucket() string {
	switch {
	case r.Caller != nil:
		return r.Caller.Bucket()
	case r.Principal != "":
		return "principal:" + r.Principal
	}
	return ""
}

// Request is what an Exchange is made of. Msg and Profile are required.
type Request struct {
	Msg     *jsonrpc.Message
	Profile mcp.Profile
	// Session is nil for requests that belong to none.
	Session   Session
	Principal string
	// Identity is who sent this very request, nil for the anonymous; its
	// principal is Principal.
	Identity *auth.Identity
	// Caller is whom limits count the request for; nil: the principal.
	Caller Caller
	// ClientCapabilities and ClientInfo are raw objects: the envelope's, or
	// the session's.
	ClientCapabilities []byte
	ClientInfo         []byte
	// Fields are the Mcp-Param headers that came with a modern call, decoded.
	Fields []paramheader.Field
	// Channel may be nil: then nothing but the answer can be sent.
	Channel Channel
}

// Exchange is one request in flight (D3). Fields and results are read-only;
// everything may be called concurrently. It stays valid after the answer, when
// Notify and Call only fail.
type Exchange struct {
	// Msg is the request as it came, without the _meta keys that a client may
	// not set (P14).
	Msg *jsonrpc.Message

	ctx    context.Context
	req    Request
	method mcp.Method
	known  bool
	d      *Dispatcher // nil: no stacks
}

// NewExchange makes an exchange that ends with ctx. Transports call it; a
// Server needs it only in its tests.
func NewExchange(ctx context.Context, r Request) *Exchange {
	x := &Exchange{}
	x.set(ctx, r)
	return x
}

func (x *Exchange) set(ctx context.Context, r Request) {
	if len(r.ClientCapabilities) == 0 {
		r.ClientCapabilities = []byte(`{}`)
	}
	x.Msg, x.ctx, x.req = r.Msg, ctx, r
	x.method, x.known = r.Profile.Method(r.Msg.Method)
}

// Context is cancelled, with a cause, when the exchange ends.
func (x *Exchange) Context() context.Context { return x.ctx }

// Profile says what the request's revision has; the era is decided once.
func (x *Exchange) Profile() mcp.Profile { return x.req.Profile }

// Method is what the revision says about the request; known is false, and
// Method empty, where it says nothing.
func (x *Exchange) Method() (m mcp.Method, known bool) { return x.method, x.known }

// Revision is the request's protocol revision.
func (x *Exchange) Revision() string { return x.req.Profile.Revision }

// Session is the legacy session, nil for requests without one.
func (x *Exchange) Session() Session { return x.req.Session }

// Principal is who asks; empty is anonymous.
func (x *Exchange) Principal() string { return x.req.Principal }

// Identity is who sent this request, as it was authenticated; nil for the
// anonymous. Two requests of one session may come with different scopes.
func (x *Exchange) Identity() *auth.Identity { return x.req.Identity }

// Bucket names whom limits count this request for: the principal, or where an
// anonymous caller comes from (P22); empty where the transport cannot tell.
func (x *Exchange) Bucket() string { return x.req.bucket() }

// Offer is which revisions the endpoint serves, for server/discover.
func (x *Exchange) Offer() mcp.Offer { return x.d.Offered() }

// ID is the request's id, as the client wrote it.
func (x *Exchange) ID() jsonrpc.ID { return x.Msg.ID }

// ClientCapabilities is the raw object that holds for this request, never nil:
// the envelope's (W5.8), or the one from initialize.
func (x *Exchange) ClientCapabilities() []byte { return x.req.ClientCapabilities }

// ClientInfo is the raw self-reported identity of the client; nil if it gave
// none. No decision may rest on it (W6.8).
func (x *Exchange) ClientInfo() []byte { return x.req.ClientInfo }

// Fields are the Mcp-Param headers that came with the request: what no schema
// asks for among them is for whoever the request is passed on to (W15.8).
func (x *Exchange) Fields() []paramheader.Field { return x.req.Fields }

// LogLevel is the level that a modern request asks log messages for; empty
// means none at all (W23.5).
func (x *Exchange) LogLevel() string {
	if x.req.Profile.Handshake {
		return ""
	}
	raw, _ := strictjson.Get(x.Msg.Meta, mcp.MetaLogLevel)
	level, _ := strictjson.String(raw)
	return level
}

// ProgressToken is the token's raw JSON text, nil if the client wants no
// progress. 0 and "" are tokens (C24).
func (x *Exchange) ProgressToken() []byte {
	raw, ok := strictjson.Get(x.Msg.Meta, mcp.MetaProgressToken)
	if !ok {
		return nil
	}
	if _, legal := jsonrpc.ParseID(raw); !legal {
		return nil
	}
	return raw
}

// Notify sends a notification that belongs to this exchange, on its stream.
// raw is a complete message. An error means that the client will not get it;
// the exchange itself may go on (a client that takes only JSON gets none).
func (x *Exchange) Notify(raw []byte) error {
	if x.req.Channel == nil {
		return ErrNoChannel
	}
	return x.d.notify(x.ctx, &x.req, x.Msg.ID, raw, x.req.Channel.Notify)
}

// NotifyWait is Notify for a producer that serves this exchange alone: it waits
// while the client reads too slowly, so that nothing is lost (P18).
func (x *Exchange) NotifyWait(ctx context.Context, raw []byte) error {
	w, ok := x.req.Channel.(Waiter)
	if !ok {
		return x.Notify(raw)
	}
	return x.d.notify(ctx, &x.req, x.Msg.ID, raw, func(raw []byte) error { return w.NotifyWait(ctx, raw) })
}

// Call makes a reverse request that belongs to this exchange, on its stream
// (W8.18, B6.3). It refuses, without asking the client, what the revision does
// not have (-32601, reason "not_in_revision"), what the client did not declare
// (-32601, reason "no_capability"; an elicitation mode: -32602, W30.15), and
// what cannot reach it (-32603, reason "no_channel"). When ctx or the exchange
// ends first, the client is sent notifications/cancelled for it.
func (x *Exchange) Call(ctx context.Context, method string, params []byte) Outcome {
	if err := MayCall(x.req.Profile, x.req.ClientCapabilities, method, params); err != nil {
		return Fail(err)
	}
	if x.req.Channel == nil {
		return Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "the client cannot be asked on this request").WithReason(mcp.ReasonNoChannel))
	}
	// The call ends with its exchange (D3), whoever's ctx it was given.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	defer context.AfterFunc(x.ctx, func() { cancel(context.Cause(x.ctx)) })()
	return x.req.Channel.Call(context.WithValue(ctx, callerKey{}, &x.req), method, params)
}

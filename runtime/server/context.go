package server

import (
	"context"
	"encoding/json"
	"maps"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// Context is what a handler runs in: the request, who asked, and the ways back
// to the client. It is a context.Context that ends, with a cause, when the
// request does. Its methods may be called concurrently; after the request has
// ended they only fail.
type Context struct {
	context.Context

	s *Server
	x *dispatch.Exchange
	// push, when not nil, is used instead of the exchange: the run has been
	// detached from its request.
	push dispatch.Session
	// detached: nothing goes on the exchange any more.
	detached bool
	// ask, when not nil, asks the client and waits; otherwise input comes by
	// rounds.
	ask asker
	// sender, when not nil, takes every notification instead of the exchange.
	sender func(method string, params []byte) error

	// task is not nil while the run is a task.
	task *task.Handle
	// later, when not nil, makes the run a task.
	later *later

	// in is what the request says of input, where its method may ask for some.
	in incoming

	mu       sync.Mutex
	progress progress
	logs     bucket
	errors   bucket
	inputs   inputs
}

// asker makes one request to the client and waits for the answer. key names
// it within the request.
type asker func(ctx context.Context, key, method string, params []byte) (json.RawMessage, error)

func (s *Server) newContext(ctx context.Context, x *dispatch.Exchange) *Context {
	c := &Context{Context: ctx, s: s, x: x}
	if x.Profile().ReverseCalls {
		c.ask = c.reverse
	}
	return c
}

// fork is a Context of the same request and the same answers, with another
// context.
func (c *Context) fork(ctx context.Context) *Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	in := c.inputs
	in.answers = maps.Clone(in.answers)
	return &Context{Context: ctx, s: c.s, x: c.x, push: c.push, detached: c.detached, ask: c.ask, sender: c.sender, task: c.task, later: c.later, in: c.in, progress: c.progress, inputs: in}
}

// ID is the request's id.
func (c *Context) ID() jsonrpc.ID { return c.x.Msg.ID }

// Method is the request's method.
func (c *Context) Method() string { return c.x.Msg.Method }

// Session is the legacy session, nil for requests without one.
func (c *Context) Session() dispatch.Session { return c.x.Session() }

// Principal is who asks; empty is anonymous.
func (c *Context) Principal() string { return c.x.Principal() }

// Identity is who asks in full, nil for anonymous callers.
func (c *Context) Identity() *auth.Identity { return c.x.Identity() }

// Revision is the protocol revision of the request.
func (c *Context) Revision() string { return c.x.Revision() }

// Profile says what the revision has.
func (c *Context) Profile() mcp.Profile { return c.x.Profile() }

// ClientCapabilities is the raw object that holds for this request, never nil.
func (c *Context) ClientCapabilities() json.RawMessage { return c.x.ClientCapabilities() }

// Supports reports whether the client declared a capability for this request.
func (c *Context) Supports(capability mcp.Capability) bool {
	return capability.Declared(c.x.ClientCapabilities())
}

// ClientInfo is the client's raw self-reported identity; nil if it gave none.
// Nothing may be decided by it (W6.8).
func (c *Context) ClientInfo() json.RawMessage { return c.x.ClientInfo() }

// Exchange is the request itself, for what this package has no word for.
func (c *Context) Exchange() *dispatch.Exchange { return c.x }

// Meta is the raw _meta object of the request; nil when there is none.
func (c *Context) Meta() json.RawMessage { return c.x.Msg.Meta }

// Notify sends a notification that belongs to this request, on its own stream;
// after Detach, on the session's. params is anything that encodes to a JSON
// object, or nil. It never waits for the client.
func (c *Context) Notify(method string, params any) error {
	var raw []byte
	if params != nil {
		var err error
		if raw, err = encode(params); err != nil {
			return err
		}
	}
	return c.send(method, raw)
}

func (c *Context) send(method string, params []byte) error {
	if c.sender != nil {
		return c.sender(method, params)
	}
	if c.detached && c.push == nil {
		return dispatch.ErrNoChannel
	}
	if params != nil {
		params = strictjson.OneLine(params)
	}
	raw := jsonrpc.EncodeNotification(method, params)
	if c.push != nil {
		return c.push.Notify(raw)
	}
	return c.x.Notify(raw)
}

// Call makes a request to the client and waits, for revisions in which a
// server may do so; elsewhere it fails at once. Elicit, Sample and Roots work
// in every revision. A refusal of the client is a *ClientError.
func (c *Context) Call(method string, params any) (json.RawMessage, error) {
	raw := []byte(`{}`)
	if params != nil {
		var err error
		if raw, err = encode(params); err != nil {
			return nil, err
		}
	}
	if c.task != nil {
		return c.callFromTask(method, raw)
	}
	return c.reverse(c.Context, "", method, raw)
}

// reverse is the asker of revisions with reverse calls (W8.18: on the stream
// of the request it belongs to).
func (c *Context) reverse(ctx context.Context, key, method string, params []byte) (json.RawMessage, error) {
	if c.s.opt.NameInputs && key != "" {
		named, err := strictjson.Splice(params, strictjson.Set(strictjson.Quote(nil, key), "_meta", mcp.MetaInputKey))
		if err != nil {
			return nil, err
		}
		params = named
	}
	var o dispatch.Outcome
	switch {
	case c.push != nil:
		o = c.push.Call(ctx, method, params)
	case c.detached:
		return nil, dispatch.ErrNoChannel
	default:
		o = c.x.Call(ctx, method, params)
	}
	if o.Err == nil {
		return o.Result, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	switch o.Err.Reason() {
	case mcp.ReasonNoCapability, mcp.ReasonNotInRevision, mcp.ReasonNoChannel: // R1: a client that takes JSON only
		return nil, &CapabilityError{Capability: capabilityFor(method)}
	}
	return nil, &ClientError{Code: o.Err.Code, Message: o.Err.Message, Data: o.Err.Data}
}

// capabilityFor is what a client declares that takes a kind of request.
func capabilityFor(method string) mcp.Capability {
	switch method {
	case mcp.MethodElicit:
		return mcp.CapElicitation
	case mcp.MethodCreateMessage:
		return mcp.CapSampling
	case mcp.MethodRootsList:
		return mcp.CapRoots
	}
	return mcp.Capability(method)
}

// Detach returns a Context for work that goes on after the request has been
// answered. It ends with the session, or never where there is none; what it
// sends goes the session's own way, and without a session nowhere
// (dispatch.ErrNoChannel). Progress is over: it belongs to the request.
func (c *Context) Detach() *Context {
	d := &Context{Context: context.WithoutCancel(c.Context), s: c.s, x: c.x, push: c.x.Session(), detached: true}
	d.progress.over = true
	if d.push != nil {
		d.Context = background{Context: d.push.Context(), values: d.Context}
		d.ask = d.reverse
	}
	return d
}

// background ends with the session and still knows what the request knew. It
// registers nothing with the session, which may outlive it by days.
type background struct {
	context.Context
	values context.Context
}

// Value implements context.Context.
func (b background) Value(key any) any {
	if v := b.values.Value(key); v != nil {
		return v
	}
	return b.Context.Value(key)
}

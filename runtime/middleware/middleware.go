package middleware

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Message is one message on its way through a stack. It belongs to the links
// while they run, one after the other, and may not be kept. A link may replace
// Params, Result and Err before it calls next, or pass on a copy with others;
// the bytes they point to are read-only. Other fields say where the message
// stands, and changing them has no effect on where it goes.
type Message struct {
	// Kind is request, notification or response.
	Kind jsonrpc.Kind
	// Method of a response is that of the request it answers, as far as it is
	// known.
	Method string
	// ID is zero for notifications.
	ID jsonrpc.ID
	// Params are raw, of requests and notifications; nil when there are none.
	Params []byte
	// Result and Err are of responses; exactly one is set.
	Result []byte
	Err    *jsonrpc.Error
	// Revision is the protocol revision the message is of; empty while none
	// has been negotiated.
	Revision string
	// Session is the key of the session; empty when there is none.
	Session string
	// Principal and Identity are who is at the other end of a server's stacks;
	// a nil Identity is anonymous, and those of sessions may be known by
	// Principal alone.
	Principal string
	Identity  *auth.Identity
	// Bucket is whom limits count a request of the client for: the principal,
	// or where an anonymous caller comes from (P22); empty where that is not
	// known.
	Bucket string
	// Parent is, for what a server sends during a request and for the client's
	// answers to it, the id of that request; zero when it belongs to none.
	Parent jsonrpc.ID

	end Handler // what stands behind the stack
}

// Handler takes a message on. For requests it returns the answer, for
// everything else the zero Outcome. It may be called concurrently, for
// different messages.
type Handler func(ctx context.Context, m *Message) jsonrpc.Outcome

// Middleware is a link of a stack: it makes the handler that stands before
// next. It is called once, when the stack is put together.
type Middleware func(next Handler) Handler

// Chain makes one link of several; the first is the outermost. Nil ones are
// left out. It returns nil when nothing is left, so that an empty stack costs
// nothing.
func Chain(ms ...Middleware) Middleware {
	var links []Middleware
	for _, m := range ms {
		if m != nil {
			links = append(links, m)
		}
	}
	switch len(links) {
	case 0:
		return nil
	case 1:
		return links[0]
	}
	return func(next Handler) Handler {
		for i := len(links) - 1; i >= 0; i-- {
			next = links[i](next)
		}
		return next
	}
}

package middleware

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Stack is a Middleware put together, for whoever runs messages through it: a
// dispatcher, a client's peer. A nil Stack has no links.
type Stack struct{ first Handler }

// NewStack puts m together, once; nil for a nil m.
func NewStack(m Middleware) *Stack {
	if m == nil {
		return nil
	}
	return &Stack{first: m(last)}
}

// Run takes one message through the links to end, and returns what the
// outermost link returned. The Stack may not be nil.
func (s *Stack) Run(ctx context.Context, m *Message, end Handler) jsonrpc.Outcome {
	m.end = end
	return s.first(ctx, m)
}

// last hands a message to its own end. A link may pass a copy on, but not a
// message of its own making, which leads nowhere.
func last(ctx context.Context, m *Message) jsonrpc.Outcome {
	if m.end == nil {
		return jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "a link passed on a message of its own"))
	}
	return m.end(ctx, m)
}

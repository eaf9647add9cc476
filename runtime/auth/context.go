package auth

import "context"

type contextKey struct{}

// NewContext returns a context that carries the identity, for handlers that get
// nothing else. In MCP handlers the identity comes with the message instead.
func NewContext(ctx context.Context, id *Identity) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// FromContext returns the identity of NewContext; nil for the anonymous caller.
func FromContext(ctx context.Context) *Identity {
	id, _ := ctx.Value(contextKey{}).(*Identity)
	return id
}

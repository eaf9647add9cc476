package auth

import (
	"context"
	"errors"
	"time"
)

// ErrExpired is the cause of a context that ended with its token.
var ErrExpired = errors.New("auth: the token has expired")

// UntilExpiry returns a context that ends with the token of id, with ErrExpired
// as its cause, and never when id is anonymous or has no end. It bounds what
// outlives the check of one request: GETs and listens (B10.8, B15.9). The caller
// calls stop when it is done.
//
// The end is counted on the monotonic clock from the moment of the call, so that
// a wall clock that is set neither ends a stream early nor lets it live longer.
func UntilExpiry(ctx context.Context, id *Identity) (_ context.Context, stop context.CancelFunc) {
	if id == nil || id.Expires.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, time.Until(id.Expires), ErrExpired)
}

package auth

import (
	"context"
	"net/http"
)

// Checker finds out who a bearer token stands for. Implementations are safe for
// concurrent use, bounded in time by ctx, and return
//
//   - the identity, never nil without an error;
//   - a *[Refusal] when the token is no good or not good enough;
//   - any other error when they could not find out (the issuer's keys cannot be
//     had): the caller is told to try again, not that the token is bad.
//
// r is the request that brought the token, for checkers that look at the peer or
// at the method; its body must not be read. It is nil where there is none.
type Checker interface {
	Check(ctx context.Context, token string, r *http.Request) (*Identity, error)
}

// CheckerFunc makes a Checker of a function.
type CheckerFunc func(ctx context.Context, token string, r *http.Request) (*Identity, error)

// Check implements Checker.
func (f CheckerFunc) Check(ctx context.Context, token string, r *http.Request) (*Identity, error) {
	return f(ctx, token, r)
}

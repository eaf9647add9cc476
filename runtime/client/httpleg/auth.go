package httpleg

import (
	"context"
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
)

// maxChallenges bounds how often one message is made again because of 401 or
// 403: a new token, and once more scopes (W38.12).
const maxChallenges = 2

// Auth is where credentials come from. Both methods may be called concurrently
// and may wait for a token endpoint or a person, within the request's context.
type Auth interface {
	// Authorize adds credentials to a request. An error ends the request, of
	// which nothing was sent.
	Authorize(r *http.Request) error
	// Challenged reads a 401 or 403; true means that the same request may
	// succeed now. An error says why nothing better can be had, and is what the
	// caller of the message is told. The body must be left alone.
	Challenged(ctx context.Context, resp *http.Response) (again bool, err error)
}

// authorize adds credentials. Those of our own configuration stay.
func (l *Leg) authorize(r *http.Request) error {
	if l.cfg.Auth == nil {
		return nil
	}
	if err := l.cfg.Auth.Authorize(r); err != nil {
		if cause := context.Cause(r.Context()); cause != nil {
			return cause
		}
		return &peer.Failure{Reason: peer.Auth, NotDelivered: true, Err: err}
	}
	return nil
}

// challenged reports whether a refused request is to be made again.
func (l *Leg) challenged(ctx context.Context, resp *http.Response, n *int) (again bool, err error) {
	if l.cfg.Auth == nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden || *n >= maxChallenges {
		return false, nil
	}
	again, err = l.cfg.Auth.Challenged(ctx, resp)
	if again || err != nil {
		*n++
		discard(resp)
	}
	if err == nil {
		return again, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return false, cause
	}
	return false, &peer.Failure{Reason: peer.Auth, Status: resp.StatusCode, NotDelivered: true, Err: err}
}

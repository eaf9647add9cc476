// Package outcome classifies how the phases of a reconcile end and turns a
// class into what the controller does next. It owns the classes and that one
// mapping; it knows no kinds, no conditions and no clients.
//
// A phase returns a *Failure and reports nothing itself: the reconciler writes
// it into a condition and an event, Resolve logs it and decides about the
// retry, so that one failure is told once.
package outcome

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Class says who has to act next.
type Class string

const (
	// Invalid: the object asks for something that cannot be. Nothing helps but
	// an edit, which brings its own event.
	Invalid Class = "Invalid"
	// Waiting: what happens is expected and needs time.
	Waiting Class = "Waiting"
	// Conflict: an object of somebody else is in the way. It is not watched,
	// so it is looked at again.
	Conflict Class = "Conflict"
	// Transient: the API server or a peer failed; the queue backs off.
	Transient Class = "Transient"
)

// Failure is how a phase ended when it did not reach its end. It is immutable
// after it was returned.
type Failure struct {
	Class Class
	// Reason is a condition reason.
	Reason string
	// Message is a sentence of ours for the owner of the object. It holds no
	// text of the API server, the kubelet or the workload (O18).
	Message string
	// After is when to look again; Waiting and Conflict need it.
	After time.Duration
	// Cause is for the log only. May be nil.
	Cause error
}

// Error implements error.
func (f *Failure) Error() string {
	if f.Cause != nil {
		return fmt.Sprintf("%s %s: %s: %v", f.Class, f.Reason, f.Message, f.Cause)
	}
	return fmt.Sprintf("%s %s: %s", f.Class, f.Reason, f.Message)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// Transientf is a failure of the API server or a peer while doing what the
// message says.
func Transientf(reason string, cause error, format string, args ...any) *Failure {
	return &Failure{Class: Transient, Reason: reason, Cause: cause, Message: fmt.Sprintf(format, args...)}
}

// Of returns err as a *Failure: itself if there is one in its chain, otherwise
// a Transient one with the given reason.
func Of(err error, reason string) *Failure {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return Transientf(reason, err, "%s", Describe(err))
}

// Describe words an API error by its class only, because its text names
// versions, addresses and pods that would make a condition change at every
// attempt.
func Describe(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.DeadlineExceeded), apierrors.IsTimeout(err), apierrors.IsServerTimeout(err):
		return "The API server did not answer in time."
	case apierrors.IsForbidden(err):
		return "The API server refuses the operator's request as forbidden: its role, a quota or an admission rule stands in the way."
	case apierrors.IsUnauthorized(err):
		return "The API server does not accept the operator's credentials."
	case apierrors.IsConflict(err):
		return "The object changed while it was being written."
	case apierrors.IsTooManyRequests(err):
		return "The API server is overloaded."
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return "The API server refuses the object as invalid."
	case apierrors.IsNotFound(err):
		return "An object or kind that is needed does not exist."
	case apierrors.IsInternalError(err), apierrors.IsServiceUnavailable(err):
		return "The API server failed."
	}
	return "The API server could not be reached or its answer not be read."
}

package outcome

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Resolve turns the end of a reconcile into what the queue does. f is nil when
// all phases succeeded; next is when the reconciler itself wants to look again,
// 0 for never. It logs f, once.
//
// Invalid is not returned as an error: the pods that run keep being observed,
// and a user's mistake is no error of the operator (it stands in a condition).
func Resolve(ctx context.Context, f *Failure, next time.Duration) (reconcile.Result, error) {
	if f == nil {
		return reconcile.Result{RequeueAfter: Jitter(next)}, nil
	}
	l := log.FromContext(ctx).WithValues("class", f.Class, "reason", f.Reason)
	switch f.Class {
	case Invalid, Waiting, Conflict:
		l.Info(f.Message, "cause", causeText(f))
		return reconcile.Result{RequeueAfter: Jitter(sooner(f.After, next))}, nil
	}
	if errors.Is(f.Cause, context.Canceled) {
		// The manager stops; that is no failure to report.
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, f
}

func causeText(f *Failure) string {
	if f.Cause == nil {
		return ""
	}
	return f.Cause.Error()
}

// sooner is the smaller of two delays of which 0 means never.
func sooner(a, b time.Duration) time.Duration {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return min(a, b)
}

// Jitter shortens a delay by up to a tenth, so that objects that were created
// together do not stay together, and a bound given to Jitter still holds.
func Jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d - time.Duration(rand.Int64N(int64(d)/10+1)) //nolint:gosec // spread, not a secret
}

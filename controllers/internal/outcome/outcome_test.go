package outcome_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
)

func TestResolve(t *testing.T) {
	boom := errors.New("boom")
	tests := map[string]struct {
		failure  *outcome.Failure
		next     time.Duration
		wantErr  bool
		atMost   time.Duration // 0: no requeue
		atLeast  time.Duration
		ctxError error
	}{
		"success without a wish is never requeued": {},
		"success looks again when the reconciler asks": {
			next: 10 * time.Second, atMost: 10 * time.Second, atLeast: 9 * time.Second,
		},
		"invalid is no error and keeps the reconciler's own clock": {
			failure: &outcome.Failure{Class: outcome.Invalid, Reason: "R", Message: "m"},
			next:    20 * time.Second, atMost: 20 * time.Second, atLeast: 18 * time.Second,
		},
		"waiting comes back after its own delay": {
			failure: &outcome.Failure{Class: outcome.Waiting, Reason: "R", Message: "m", After: 2 * time.Second},
			atMost:  2 * time.Second, atLeast: 1800 * time.Millisecond,
		},
		"the sooner of two delays wins": {
			failure: &outcome.Failure{Class: outcome.Conflict, Reason: "R", Message: "m", After: 30 * time.Second, Cause: boom},
			next:    5 * time.Second, atMost: 5 * time.Second, atLeast: 4500 * time.Millisecond,
		},
		"transient is an error without a delay, so that the queue backs off": {
			failure: outcome.Transientf("R", boom, "doing it"), next: time.Second, wantErr: true,
		},
		"a manager that stops reports nothing": {
			failure: outcome.Transientf("R", fmt.Errorf("get: %w", context.Canceled), "doing it"),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := outcome.Resolve(t.Context(), tc.failure, tc.next)
			if (err != nil) != tc.wantErr {
				t.Fatalf("error %v, want one: %v", err, tc.wantErr)
			}
			if got.RequeueAfter > tc.atMost || got.RequeueAfter < tc.atLeast {
				t.Errorf("requeue after %v, want %v..%v", got.RequeueAfter, tc.atLeast, tc.atMost)
			}
		})
	}
}

func TestOfKeepsTheFailureInAChain(t *testing.T) {
	inner := &outcome.Failure{Class: outcome.Conflict, Reason: "NameConflict", Message: "m"}
	if got := outcome.Of(fmt.Errorf("phase: %w", inner), "Other"); got != inner {
		t.Errorf("got %v, want the failure itself", got)
	}
	if got := outcome.Of(nil, "Other"); got != nil {
		t.Errorf("nil became %v", got)
	}
	got := outcome.Of(errors.New("boom"), "WriteFailed")
	if got.Class != outcome.Transient || got.Reason != "WriteFailed" {
		t.Errorf("got %v, want a Transient WriteFailed", got)
	}
}

// O18: what the API server says varies with every attempt.
func TestDescribeNeverQuotesTheAPIServer(t *testing.T) {
	gr := schema.GroupResource{Group: "apps", Resource: "deployments"}
	secret := "pod-5f6d resourceVersion 4711"
	errs := []error{
		apierrors.NewForbidden(gr, "x", errors.New(secret)),
		apierrors.NewConflict(gr, "x", errors.New(secret)),
		apierrors.NewBadRequest(secret),
		apierrors.NewInternalError(errors.New(secret)),
		apierrors.NewNotFound(gr, secret),
		apierrors.NewTooManyRequests(secret, 3),
		apierrors.NewUnauthorized(secret),
		apierrors.NewTimeoutError(secret, 1),
		apierrors.NewServiceUnavailable(secret),
		errors.New(secret),
	}
	seen := map[string]bool{}
	for _, err := range errs {
		got := outcome.Describe(err)
		if got == "" || strings.Contains(got, "4711") {
			t.Errorf("%v is described as %q", err, got)
		}
		seen[got] = true
	}
	if len(seen) < 8 {
		t.Errorf("only %d different descriptions for %d errors", len(seen), len(errs))
	}
}

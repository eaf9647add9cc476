package world

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// Patience of waits: far above what a claim allows, so that a slow machine
// fails no test; the time that was really needed is logged.
const (
	Patience = 3 * time.Minute
	pollEach = 100 * time.Millisecond
)

// Await polls until check says done and returns how long that took. state is
// told when patience ends.
func Await(t testing.TB, what string, check func(ctx context.Context) (done bool, state string)) time.Duration {
	t.Helper()
	return AwaitFor(t, Patience, what, check)
}

// AwaitFor is Await with a patience of its own.
func AwaitFor(t testing.TB, patience time.Duration, what string, check func(ctx context.Context) (done bool, state string)) time.Duration {
	t.Helper()
	begun := time.Now()
	for {
		done, state := check(t.Context())
		if done {
			took := time.Since(begun)
			t.Logf("%s: after %.1f s", what, took.Seconds())
			return took
		}
		if time.Since(begun) > patience {
			t.Fatalf("%s: not after %s; last seen: %s", what, patience, state)
		}
		select {
		case <-time.After(pollEach):
		case <-t.Context().Done():
			t.Fatalf("%s: %v; last seen: %s", what, context.Cause(t.Context()), state)
		}
	}
}

// AwaitReady waits until the server is Ready for its newest generation and has
// all its pods ready.
func (w *World) AwaitReady(t testing.TB, s *v1alpha1.McpServer) time.Duration {
	t.Helper()
	return Await(t, "McpServer "+s.Name+" Ready", func(ctx context.Context) (bool, string) {
		var now v1alpha1.McpServer
		if err := w.Get(ctx, client.ObjectKeyFromObject(s), &now); err != nil {
			return false, err.Error()
		}
		c := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.ConditionReady)
		if c == nil {
			return false, "no condition Ready"
		}
		want, have := number(now.Spec.Replicas), number(now.Status.UpdatedReadyReplicas)
		ok := c.Status == metav1.ConditionTrue && c.ObservedGeneration == now.Generation && have >= want
		return ok, fmt.Sprintf("Ready=%s %s %q generation %d of %d, %d of %d pods", c.Status, c.Reason, c.Message, c.ObservedGeneration, now.Generation, have, want)
	})
}

// AwaitCondition waits for a condition with one of the reasons.
func (w *World) AwaitCondition(t testing.TB, s *v1alpha1.McpServer, kind string, status metav1.ConditionStatus, reasons ...string) *metav1.Condition {
	t.Helper()
	var got *metav1.Condition
	Await(t, fmt.Sprintf("McpServer %s %s=%s %v", s.Name, kind, status, reasons), func(ctx context.Context) (bool, string) {
		c, err := w.Condition(ctx, s, kind)
		if err != nil {
			return false, err.Error()
		}
		if c == nil {
			return false, "absent"
		}
		got = c
		for _, r := range reasons {
			if c.Status == status && c.Reason == r {
				return true, ""
			}
		}
		return false, fmt.Sprintf("%s %s %q", c.Status, c.Reason, c.Message)
	})
	return got
}

func number(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

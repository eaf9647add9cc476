package app

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/sidecar/observe"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/park"
)

// Tasks and parked calls are kept for as long as always, or for less where that
// is said (B7.16, R22).
func TestHowLongWhatWaitsIsKept(t *testing.T) {
	for name, tc := range map[string]struct {
		keep, ttl time.Duration
		parked    park.Limits
	}{
		"as always": {0, time.Hour, park.Limits{}},
		"for less":  {10 * time.Second, 10 * time.Second, park.Limits{Round: 10 * time.Second, Grace: 10 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := parkingFor(tc.keep); got != tc.parked {
				t.Errorf("parked calls: %+v, want %+v", got, tc.parked)
			}
			keys := &seal.Keyring{}
			if err := keys.LoadEphemeral(); err != nil {
				t.Fatal(err)
			}
			e, err := newTasks(Config{Keep: tc.keep, Keys: keys, Log: slog.New(slog.DiscardHandler)}, observe.New("", observe.Sources{}))
			if err != nil {
				t.Fatal(err)
			}
			defer closeTasks(t.Context(), e)
			for wish, ttl := range map[string]time.Duration{"none": 0, "a day": 24 * time.Hour} {
				made, err := e.Start(t.Context(), task.Owner{Principal: "p"}, task.Spec{TTL: ttl}, done)
				if err != nil || made.TTL != tc.ttl {
					t.Errorf("wish %s: %v, %v, want %v", wish, made.TTL, err, tc.ttl)
				}
			}
		})
	}
}

func done(context.Context, *task.Handle) jsonrpc.Outcome { return jsonrpc.Result([]byte("{}")) }

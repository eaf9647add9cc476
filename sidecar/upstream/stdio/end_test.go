package stdio

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Whoever is in charge of a key's process is told that it has ended, however
// that came; of one that never served it hears nothing.
func TestTheEndOfAKeysProcessIsTold(t *testing.T) {
	shutdown := func(r *rig) {
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		r.Shutdown(ctx)
	}
	for name, tc := range map[string]struct {
		model  Model
		end    func(r *rig, l upstream.Lease)
		before bool // its life goes on until Shutdown
	}{
		"idle":                       {end: func(*rig, upstream.Lease) { time.Sleep(time.Hour) }},
		"crashed":                    {end: func(_ *rig, l upstream.Lease) { _, _ = l.Call(context.Background(), peer.Request{Method: "die"}) }},
		"closed":                     {end: func(_ *rig, l upstream.Lease) { l.Close(nil) }},
		"shut down":                  {end: func(r *rig, _ upstream.Lease) { shutdown(r) }},
		"everybody's, crashed":       {model: Shared, before: true, end: func(_ *rig, l upstream.Lease) { _, _ = l.Call(context.Background(), peer.Request{Method: "die"}) }},
		"everybody's, shut down":     {model: Shared, end: func(r *rig, _ upstream.Lease) { shutdown(r) }},
		"another that died at birth": {model: Pooled, before: true, end: func(*rig, upstream.Lease) {}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{Model: tc.model}, func(t *testing.T, r *rig) {
				if name == "another that died at birth" {
					first := r.mustOpen() // from now on there are spares
					synctest.Wait()
					r.child(1).end(agent.Exit{Code: 1})
					first.Close(nil)
				}
				lease, err := r.Instance(t.Context(), upstream.Key{})
				if err != nil {
					t.Fatal(err)
				}
				var told atomic.Int32
				lease.Shared.OnEnded(func() { told.Add(1) })
				lease.Release()
				tc.end(r, lease)
				synctest.Wait()
				if n := told.Load(); n != map[bool]int32{false: 1, true: 0}[tc.before] {
					t.Errorf("told %d times", n)
				}
				shutdown(r)
				synctest.Wait()
				if n := told.Load(); n != 1 {
					t.Errorf("told %d times in the end", n)
				}
			})
		})
	}
}

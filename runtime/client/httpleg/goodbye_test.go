package httpleg

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A server that never answers the DELETE holds up neither Close nor, for more
// than its time, whoever waits for the leg to be gone.
func TestAGoodbyeThatNobodyAnswers(t *testing.T) {
	bubble(t, Config{}, session("2025-11-25", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), func(t *testing.T, r *rig) {
		r.initialize(t)
		begin := time.Now()
		r.leg.Close(nil)
		if d := time.Since(begin); d != 0 {
			t.Errorf("Close took %v", d)
		}
		r.leg.Wait()
		if d := time.Since(begin); d != deleteTimeout {
			t.Errorf("gone after %v, want %v", d, deleteTimeout)
		}
	})
}

// A server that stops answering in the middle of everything: a call ends with
// its context, and the cancel that follows it holds up nobody.
func TestACancelThatNobodyReads(t *testing.T) {
	bubble(t, Config{}, session("2025-11-25", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), func(t *testing.T, r *rig) {
		r.initialize(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		r.call(ctx, "tools/call")
		if d := time.Since(begin); d != time.Second {
			t.Errorf("the call came back after %v", d)
		}
		synctest.Wait()
	})
}

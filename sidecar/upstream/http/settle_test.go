package http

import (
	nethttp "net/http"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// P6, B10.3: nobody uses a session before it is known whether the workload can
// be heard outside requests; one that does not say is not waited for long.
func TestWhetherAWorkloadCanBeHeardIsKnownFirst(t *testing.T) {
	for name, tc := range map[string]struct {
		answer time.Duration // to the GET
		status int
		took   time.Duration
		deaf   bool
	}{
		"it lets nobody listen":          {300 * time.Millisecond, 405, 300 * time.Millisecond, true},
		"it is slow to say so":           {300 * time.Millisecond, 200, 300 * time.Millisecond, false},
		"it says so with what comes":     {time.Minute, 200, hearing, false},
		"it refuses when nobody expects": {30 * time.Second, 405, hearing, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{Idle: time.Minute}, func(t *testing.T, w *Workload, s *server) {
				s.answer(func(out nethttp.ResponseWriter, m *jsonrpc.Message) bool {
					if m.Method != nethttp.MethodGet {
						return false
					}
					time.Sleep(tc.answer)
					if tc.status != 200 {
						out.WriteHeader(tc.status)
					}
					return tc.status != 200
				})
				began := time.Now()
				lease, err := w.Instance(t.Context(), upstream.Key{})
				if err != nil {
					t.Fatal(err)
				}
				defer lease.Release()
				if took := time.Since(began); took != tc.took || lease.Deaf() != tc.deaf {
					t.Errorf("after %v, deaf: %v", took, lease.Deaf())
				}
				time.Sleep(tc.answer) // the handler ends by itself
			})
		})
	}
}

package drain

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// at returns a Drainer in a state.
func at(s State) *Drainer {
	d := New(Options{})
	d.Begin("test")
	d.advance(s)
	return d
}

func TestMiddlewareSaysGoodbyeOnceClosing(t *testing.T) {
	for name, write := range map[string]http.HandlerFunc{
		"a body":         func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") },
		"a head alone":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) },
		"a flushed head": func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush() },
		"an early hint first": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusOK)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, tc := range []struct {
				d     *Drainer
				close bool
			}{{New(Options{}), false}, {at(Leaving), false}, {at(Closing), true}} {
				s := httptest.NewServer(tc.d.Middleware(write, nil))
				resp, err := s.Client().Get(s.URL)
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				if resp.Close != tc.close {
					t.Errorf("%v: connection close %v, want %v", tc.d.State(), resp.Close, tc.close)
				}
				s.Client().CloseIdleConnections()
				s.Close()
				if n := tc.d.InFlight(); n != 0 {
					t.Errorf("%v: %d requests still count", tc.d.State(), n)
				}
			}
		})
	}
}

func TestMiddlewareRefusesAtTheEnd(t *testing.T) {
	refused := 0
	d := at(Drained)
	d.Close()
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the request got through") })
	rec := httptest.NewRecorder()
	d.Middleware(next, func() { refused++ }).ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/mcp", nil))
	if rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") == "" || refused != 1 {
		t.Errorf("%d %v, refused %d", rec.Code, rec.Header(), refused)
	}
}

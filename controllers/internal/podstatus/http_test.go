package podstatus

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// serve answers at the admin port of a loopback address of its own, which is
// what a pod's address looks like from here.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	ip := "127.17.8.1"
	l, err := net.Listen("tcp", net.JoinHostPort(ip, strconv.Itoa(config.PortAdmin)))
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: h, ReadHeaderTimeout: time.Second}}
	s.Start()
	t.Cleanup(s.Close)
	return ip
}

func TestHTTPGet(t *testing.T) {
	tests := map[string]struct {
		handler http.HandlerFunc
		wantErr string
	}{
		"a status, with members of a newer release": {
			handler: func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/status" {
					t.Errorf("%s %s", r.Method, r.URL)
				}
				_, _ = w.Write([]byte(`{"podUID":"a","liveDigest":"d","newer":{}}`))
			},
		},
		"no 200": {handler: http.NotFound, wantErr: "404"},
		"a redirect is not followed": {
			handler: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
			},
			wantErr: "never redirected",
		},
		"too long": {
			handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, maxBody+1)) },
			wantErr: "more than",
		},
		"no JSON": {
			handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) },
			wantErr: "cannot be read",
		},
		"never answers": {
			handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			wantErr: "Timeout",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ip := serve(t, tc.handler)
			got, err := NewHTTP(200*time.Millisecond).Get(t.Context(), ip)
			if tc.wantErr == "" {
				if err != nil || got.PodUID != "a" || got.LiveDigest != "d" {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want one that says %q", err, tc.wantErr)
			}
		})
	}
}

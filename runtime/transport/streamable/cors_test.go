package streamable_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// R21, P33.3: what stands beside the endpoint has its rules for browsers.
func TestCORS(t *testing.T) {
	h := streamable.CORS(http.NotFoundHandler(), "GET, OPTIONS", func() []string { return []string{"https://ok.example"} })
	for name, tt := range map[string]struct {
		method, target string
		header         map[string]string
		status         int
		allow          string // Access-Control-Allow-Origin
	}{
		"no browser":                    {"GET", "/x", nil, 404, ""},
		"an allowed origin, errors too": {"GET", "/x", map[string]string{"Origin": "https://ok.example"}, 404, "https://ok.example"},
		"another origin":                {"GET", "/x", map[string]string{"Origin": "https://evil.example"}, 403, ""},
		"null":                          {"GET", "/x", map[string]string{"Origin": "null"}, 403, ""},
		"a preflight":                   {"OPTIONS", "/x", map[string]string{"Origin": "https://ok.example", "Access-Control-Request-Headers": "Authorization, X-Evil"}, 204, "https://ok.example"},
		"a preflight of another origin": {"OPTIONS", "/x", map[string]string{"Origin": "https://evil.example"}, 403, ""},
		"a token in the query":          {"GET", "/x?access_token=y", nil, 400, ""},
	} {
		r := httptest.NewRequest(tt.method, tt.target, nil)
		for k, v := range tt.header {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status || w.Header().Get("Access-Control-Allow-Origin") != tt.allow || w.Header().Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
		if tt.status == 204 && (w.Header().Get("Access-Control-Allow-Headers") != "authorization" || w.Header().Get("Access-Control-Allow-Methods") != "GET, OPTIONS") {
			t.Errorf("%s: %v", name, w.Header())
		}
		if strings.Contains(w.Body.String(), "access_token") {
			t.Errorf("%s: %s", name, w.Body)
		}
	}
}

func ExampleCORS() {
	about := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "about this server") })
	h := streamable.CORS(about, "GET, OPTIONS", func() []string { return []string{"https://app.example"} })

	r := httptest.NewRequest("GET", "/about", nil)
	r.Header.Set("Origin", "https://app.example")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Header().Get("Access-Control-Allow-Origin"), w.Body)
	// Output: 200 https://app.example about this server
}

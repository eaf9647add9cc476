package guard_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/runtime/auth/guard"
)

// W38.4, W38.7, C21, P33.8
func TestTheDocumentIsWhereClientsLook(t *testing.T) {
	g := make1(t, func(o *guard.Options) {
		o.Resource = "HTTPS://H.Example:443/crm/mcp/"
		o.LocalPaths = []string{"/mcp", "/sse/"}
		o.Name, o.Documentation = "CRM", "https://h.example/docs"
	})
	h := g.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	const root = "/.well-known/oauth-protected-resource"
	for path, found := range map[string]bool{
		root: true, root + "/": true, root + "/crm/mcp": true, root + "/crm/mcp/": true, root + "/mcp": true, root + "/sse": true,
		root + "/crm": false, root + "/mcp/x": false, root + "x": false, "/mcp": false, "/mcp" + root: false, "/.well-known/": false,
		"/.well-known/oauth-authorization-server": false, "/authorize": false, "/token": false, "/register": false,
	} {
		r := httptest.NewRequest("GET", "http://evil.example"+path, nil)
		r.Header.Set("X-Forwarded-Proto", "http")
		r.Header.Set("X-Forwarded-Host", "evil.example")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if !found {
			if w.Code != http.StatusTeapot {
				t.Errorf("%s: %d", path, w.Code)
			}
			continue
		}
		var got map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %d %v", path, w.Code, err)
		}
		want := map[string]any{
			"resource": "https://h.example/crm/mcp", "authorization_servers": []any{"https://as.example"},
			"scopes_supported": []any{"mcp"}, "bearer_methods_supported": []any{"header"},
			"resource_name": "CRM", "resource_documentation": "https://h.example/docs",
		}
		if diff := cmp.Diff(want, got); diff != "" || w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, w.Code, diff)
		}
	}
	if got := g.MetadataURL(); got != "https://h.example"+root+"/crm/mcp" || g.Resource() != "https://h.example/crm/mcp" {
		t.Errorf("the challenge points to %s for %s", got, g.Resource())
	}
}

// R21
func TestWebPagesMayReadTheDocument(t *testing.T) {
	for name, tc := range map[string]struct {
		allowed []string
		method  string
		origin  string
		want    string
	}{
		"CORS is off":         {nil, "GET", "https://app.example", "200  "},
		"no page asks":        {[]string{"https://app.example"}, "GET", "", "200 Origin "},
		"an allowed page":     {[]string{"https://app.example"}, "GET", "https://app.example", "200 Origin https://app.example"},
		"in other spelling":   {[]string{"https://APP.example:443"}, "GET", "https://app.example", "200 Origin https://app.example"},
		"another page":        {[]string{"https://app.example"}, "GET", "https://app.example.evil", "200 Origin "},
		"another port":        {[]string{"https://app.example"}, "GET", "https://app.example:444", "200 Origin "},
		"any page":            {[]string{"*"}, "GET", "https://other.example", "200 Origin https://other.example"},
		"a page of no origin": {[]string{"*"}, "GET", "null", "200 Origin "},
		"a preflight":         {[]string{"https://app.example"}, "OPTIONS", "https://app.example", "204 Origin https://app.example GET, HEAD, OPTIONS"},
		"a head":              {nil, "HEAD", "", "200  "},
		"another method":      {[]string{"https://app.example"}, "POST", "https://app.example", "405 Origin https://app.example"},
	} {
		t.Run(name, func(t *testing.T) {
			g := make1(t, func(o *guard.Options) { o.AllowedOrigins = tc.allowed })
			w := httptest.NewRecorder()
			r := httptest.NewRequest(tc.method, "/.well-known/oauth-protected-resource", nil)
			if tc.origin != "" {
				r.Header.Set("Origin", tc.origin)
			}
			g.Handler(http.NotFoundHandler()).ServeHTTP(w, r)
			h := w.Header()
			got := fmt.Sprintf("%d %s %s %s", w.Code, h.Get("Vary"), h.Get("Access-Control-Allow-Origin"), h.Get("Access-Control-Allow-Methods"))
			if strings.TrimSpace(got) != strings.TrimSpace(tc.want) || h.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if tc.method == "HEAD" && (w.Body.Len() != 0 || h.Get("Content-Length") == "0") {
				t.Error("HEAD with a body")
			}
		})
	}
}

// W38.17
func TestOldClientsAreSentToTheAuthorizationServer(t *testing.T) {
	for name, tc := range map[string]struct {
		old  bool
		path string
		want string
	}{
		"asked for":         {true, "/.well-known/oauth-authorization-server", "307 https://as.example/.well-known/oauth-authorization-server/t"},
		"with a slash":      {true, "/.well-known/oauth-authorization-server/", "307 https://as.example/.well-known/oauth-authorization-server/t"},
		"not asked for":     {false, "/.well-known/oauth-authorization-server", "404 "},
		"another document":  {true, "/.well-known/openid-configuration", "404 "},
		"our own, as ever":  {true, "/.well-known/oauth-protected-resource", "200 "},
		"no token endpoint": {true, "/token", "404 "},
	} {
		t.Run(name, func(t *testing.T) {
			g := make1(t, func(o *guard.Options) {
				o.OldClients, o.AuthorizationServers = tc.old, []string{"https://as.example/t", "https://other.example"}
			})
			w := httptest.NewRecorder()
			g.Handler(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest("GET", "http://evil.example"+tc.path, nil))
			if got := fmt.Sprint(w.Code, " ", w.Header().Get("Location")); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

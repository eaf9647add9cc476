package guard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/guard"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

func Example() {
	tokens, err := auth.NewStatic(auth.StaticToken{Token: "0123456789abcdef-a-token", Identity: auth.Identity{Principal: "alice"}})
	if err != nil {
		panic(err)
	}
	g, err := guard.New(guard.Options{
		Checker:              tokens, // or oidc.New(…), or both with auth.First
		Resource:             "https://tools.example.com/mcp",
		AuthorizationServers: []string{"https://login.example.com"},
		Scopes:               []string{"mcp"},
	})
	if err != nil {
		panic(err)
	}
	front := &streamable.Server{Authenticate: g.Authenticate, Challenge: g.Challenge} // and Handler, Keys
	handler := g.Handler(front)

	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("POST", "/mcp", http.NoBody))
	fmt.Println(w.Code, w.Header().Get("WWW-Authenticate"))

	w = httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "/.well-known/oauth-protected-resource/mcp", http.NoBody))
	fmt.Println(w.Code, w.Body)
	// Output:
	// 401 Bearer scope="mcp", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
	// 200 {"resource":"https://tools.example.com/mcp","authorization_servers":["https://login.example.com"],"scopes_supported":["mcp"],"bearer_methods_supported":["header"]}
}

package oidc

import (
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
)

// Whatever is in a token, what comes of it is a refusal or somebody whom this
// issuer sent to this server, for a time.
func FuzzClaims(f *testing.F) {
	for _, seed := range []string{
		`{"iss":"https://as.example","aud":"https://h.example/mcp","sub":"a","exp":4102444800,"scope":"a b","scp":["c"],"nbf":1,"iat":1}`,
		`{"iss":"https://as.example","aud":["x","HTTPS://h.example/mcp/"],"sub":"a","exp":1e300}`,
		`{"iss":"https://as.example","aud":{},"sub":1,"exp":"1"}`, `[]`, `{`, ``,
	} {
		f.Add([]byte(seed))
	}
	c, err := New(Config{Issuer: "https://as.example", Audience: []string{"https://h.example/mcp"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, claims []byte) {
		now := time.Unix(1_800_000_000, 0)
		id, err := c.read(claims, now)
		if (id == nil) == (err == nil) {
			t.Fatalf("%v, %v", id, err)
		}
		if err != nil {
			if auth.AsRefusal(err) == nil {
				t.Errorf("another error: %v", err)
			}
			return
		}
		if id.Principal == "" || id.Expired(now) || id.Expires.IsZero() || len(id.Scopes) > auth.MaxScopes || id.Claims["iss"] != "https://as.example" {
			t.Errorf("%+v of %s", id, claims)
		}
	})
}

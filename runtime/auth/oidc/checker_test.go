package oidc_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/oidc"
)

// The whole way: an issuer on loopback, its metadata, its keys, real signatures.
func TestTokensOfAnIssuer(t *testing.T) {
	i := &issuer{}
	server := httptest.NewServer(i)
	defer server.Close()
	i.url = server.URL
	signers := []key{{rsaKey(), "r", jose.RS256}, {rsaKey(), "r", jose.PS512}, ecKey(t, "e"), edKey(t, "d"), ecKey(t, "")}
	for _, k := range signers {
		i.keys = append(i.keys, k.public())
	}
	c, err := oidc.New(oidc.Config{Issuer: i.url, Audience: []string{resource}})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range signers {
		if got := verdict(t.Context(), c, sign(t, k, i.claims(nil), nil)); got != i.url+"|alice" {
			t.Errorf("%s %s: %s", k.kid, k.alg, got)
		}
	}
	if i.count() != 1 {
		t.Errorf("the keys were fetched %d times", i.count())
	}
	id, err := c.Check(t.Context(), sign(t, signers[2], i.claims(map[string]any{"big": json.Number("12345678901234567890"), "email": "a@h"}), nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"read", "write"}, id.Scopes); diff != "" || id.Claims["email"] != "a@h" || fmt.Sprint(id.Claims["big"]) != "12345678901234567890" {
		t.Errorf("%s %v", diff, id.Claims)
	}
}

// W38.13, W38.14
func TestTokensThatAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{url: "https://as.example"}
		good, stranger := ecKey(t, "k"), ecKey(t, "k")
		i.keys = []jose.JSONWebKey{good.public()}
		c := i.checker(t, nil)
		now := time.Now()
		at := func(d time.Duration) int64 { return now.Add(d).Unix() }
		with := func(name string, value any) string { return sign(t, good, i.claims(map[string]any{name: value}), nil) }
		unsigned := func(header string) string {
			claims, _ := json.Marshal(i.claims(nil))
			return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString(claims) + "."
		}
		hmacWithPublicKey := func() string {
			public, _ := json.Marshal(good.public())
			signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: public}, nil)
			if err != nil {
				t.Fatal(err)
			}
			claims, _ := json.Marshal(i.claims(nil))
			jws, err := signer.Sign(claims)
			if err != nil {
				t.Fatal(err)
			}
			token, _ := jws.CompactSerialize()
			return token
		}
		const (
			ok, noJWT, other, elsewhere = "https://as.example|alice", "the token is no JWT with a signature that counts here", "the token is of another issuer", "the token was made for another server"
			expired, early, forged      = "the token has expired", "the token is not valid yet", "the token is not signed by its issuer"
		)
		whole := sign(t, good, i.claims(nil), nil)
		for name, tc := range map[string]struct{ token, want string }{
			"a good one":                      {whole, ok},
			"no JWT":                          {"sk-1234567890", noJWT},
			"a JWT without its signature":     {whole[:strings.LastIndex(whole, ".")+1], forged},
			"a JWT cut short":                 {whole[:len(whole)-10], forged},
			"alg none":                        {unsigned(`{"alg":"none"}`), noJWT},
			"alg none in other spelling":      {unsigned(`{"alg":"nOnE"}`), noJWT},
			"HMAC with the public key":        {hmacWithPublicKey(), noJWT},
			"signed by a stranger":            {sign(t, stranger, i.claims(nil), nil), forged},
			"a stranger's key in the header":  {sign(t, stranger, i.claims(nil), map[jose.HeaderKey]any{"jwk": stranger.public()}), forged},
			"a stranger's keys by address":    {sign(t, stranger, i.claims(nil), map[jose.HeaderKey]any{"jku": "https://evil.example/keys"}), forged},
			"a kid that is a path":            {sign(t, key{stranger.private, "../../k", jose.ES256}, i.claims(nil), nil), forged},
			"an extension that must be known": {sign(t, good, i.claims(nil), map[jose.HeaderKey]any{"crit": []string{"x"}, "x": 1}), forged},
			"a logout token":                  {sign(t, good, i.claims(nil), map[jose.HeaderKey]any{"typ": "logout+jwt"}), "the token is a JWT of another kind"},
			"a DPoP proof":                    {sign(t, good, i.claims(nil), map[jose.HeaderKey]any{"typ": "dpop+jwt"}), "the token is a JWT of another kind"},
			"a plain JWT":                     {sign(t, good, i.claims(nil), map[jose.HeaderKey]any{"typ": "JWT"}), ok},
			"of another issuer":               {with("iss", "https://as.example/"), other},
			"of no issuer":                    {with("iss", nil), other},
			"for another server":              {with("aud", "https://other.example/mcp"), elsewhere},
			"for a client (an ID token)":      {with("aud", "client-1"), elsewhere},
			"for nobody":                      {with("aud", nil), elsewhere},
			"for a part of the server's name": {with("aud", "https://h.example/mc"), elsewhere},
			"for the server's whole host":     {with("aud", "https://h.example"), elsewhere},
			"for several":                     {with("aud", []any{"https://other.example", resource}), ok},
			"for several, one no name":        {with("aud", []any{1, resource}), "the claims of the token cannot be read"},
			"for us, in other spelling":       {with("aud", "HTTPS://H.example:443/mcp/"), ok},
			"without an end":                  {with("exp", nil), "the token has no end"},
			"an end that is text":             {with("exp", "tomorrow"), "the token has a time that is none"},
			"an end before all time":          {with("exp", -1), "the token has a time that is none"},
			"an end after all time":           {with("exp", json.Number("1e300")), ok},
			"expired, within the skew":        {with("exp", at(-59*time.Second)), ok},
			"expired":                         {with("exp", at(-60*time.Second)), expired},
			"not yet, within the skew":        {with("nbf", at(60*time.Second)), ok},
			"not yet":                         {with("nbf", at(61*time.Second)), early},
			"made in the future":              {with("iat", at(2*time.Minute)), early},
			"without a subject":               {with("sub", nil), "the token names no subject"},
			"a subject that is a number":      {with("sub", 7), "the token names no subject"},
			"bound to a key":                  {with("cnf", map[string]string{"jkt": "x"}), "the token is bound to a key"},
			"too many scopes":                 {with("scope", scopeList(300)), "the token grants too many scopes"},
			"claims that come twice":          {sign(t, good, `{"iss":"https://as.example","iss":"https://as.example"}`, nil), "the claims of the token cannot be read"},
			"claims that are none":            {sign(t, good, `[]`, nil), "the claims of the token cannot be read"},
			"names in other letter case":      {sign(t, good, fmt.Sprintf(`{"Iss":"https://as.example","aud":%q,"exp":%d,"sub":"a"}`, resource, at(time.Hour)), nil), other},
		} {
			if got := verdict(t.Context(), c, tc.token); got != tc.want {
				t.Errorf("%s: got %q, want %q", name, got, tc.want)
			}
		}
	})
}

func scopeList(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint("s", i))
	}
	return strings.Join(out, " ")
}

func TestTheEndOfAnIdentityHoldsTheSkew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{url: "https://as.example"}
		k := ecKey(t, "k")
		i.keys = []jose.JSONWebKey{k.public()}
		id, err := i.checker(t, func(c *oidc.Config) { c.Skew = 30 * time.Second }).Check(t.Context(), sign(t, k, i.claims(map[string]any{"exp": time.Now().Add(-10 * time.Second).Unix()}), nil), nil)
		if err != nil || id.Expired(time.Now()) || !id.Expired(time.Now().Add(20*time.Second)) {
			t.Errorf("%v, %v", id, err)
		}
	})
}

func TestWhoIsAskingAndWhatTheyMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{url: "https://as.example"}
		k := ecKey(t, "k")
		i.keys = []jose.JSONWebKey{k.public()}
		c := i.checker(t, func(c *oidc.Config) {
			c.TenantClaim = "tid"
			c.Hierarchy = auth.Hierarchy{"admin": {"read"}}
		})
		for name, tc := range map[string]struct {
			changes map[string]any
			want    string
		}{
			"a tenant's subject":            {map[string]any{"tid": "t1"}, "https://as.example|t1|alice [read write]"},
			"no tenant":                     {nil, "the token names no tenant"},
			"names with our separator":      {map[string]any{"tid": "t|1", "sub": "a|b"}, "https://as.example|t%7C1|a%7Cb [read write]"},
			"scopes as a list":              {map[string]any{"tid": "t", "scope": []string{"b", "a"}}, "https://as.example|t|alice [a b]"},
			"scopes by another name":        {map[string]any{"tid": "t", "scope": nil, "scp": []string{"x y", "x"}}, "https://as.example|t|alice [x y]"},
			"a scope that includes another": {map[string]any{"tid": "t", "scope": "admin"}, "https://as.example|t|alice [admin read]"},
			"no scopes":                     {map[string]any{"tid": "t", "scope": nil}, "https://as.example|t|alice []"},
		} {
			id, err := c.Check(t.Context(), sign(t, k, i.claims(tc.changes), nil), nil)
			var got string
			if refusal := auth.AsRefusal(err); refusal != nil {
				got = refusal.Reason
			} else {
				got = fmt.Sprint(id.Principal, " ", id.Scopes)
			}
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", name, got, tc.want)
			}
		}
	})
}

func TestConfigurationsThatCannotBeMeant(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*oidc.Config)
		want string
	}{
		"no issuer":            {func(c *oidc.Config) { c.Issuer = "" }, "is no issuer"},
		"no audience":          {func(c *oidc.Config) { c.Audience = nil }, "without an audience"},
		"an empty audience":    {func(c *oidc.Config) { c.Audience = []string{""} }, "without an audience"},
		"tokens of a secret":   {func(c *oidc.Config) { c.Algorithms = []string{"HS256"} }, `"HS256" prove nothing`},
		"tokens of nobody":     {func(c *oidc.Config) { c.Algorithms = []string{"ES256", "none"} }, `"none" prove nothing`},
		"clocks an hour apart": {func(c *oidc.Config) { c.Skew = time.Hour }, "clock skew"},
	} {
		t.Run(name, func(t *testing.T) {
			c := oidc.Config{Issuer: "https://as.example", Audience: []string{resource}}
			tc.edit(&c)
			if _, err := oidc.New(c); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestAlgorithmsAreALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{url: "https://as.example"}
		e, d := ecKey(t, "e"), edKey(t, "d")
		i.keys = []jose.JSONWebKey{e.public(), d.public()}
		c := i.checker(t, func(c *oidc.Config) { c.Algorithms = []string{"EdDSA"} })
		if got := verdict(t.Context(), c, sign(t, d, i.claims(nil), nil)); got != "https://as.example|alice" {
			t.Error(got)
		}
		if got := verdict(t.Context(), c, sign(t, e, i.claims(nil), nil)); !strings.HasPrefix(got, "the token is no JWT") {
			t.Error(got)
		}
	})
}

func TestKeysThatDoNotCount(t *testing.T) {
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		weak, enc, ok := key{small, "weak", jose.RS256}, ecKey(t, "enc"), ecKey(t, "ok")
		encKey := enc.public()
		encKey.Use = "enc"
		i := &issuer{url: "https://as.example", keys: []jose.JSONWebKey{
			weak.public(), encKey, {Key: []byte("a shared secret of 32 bytes here"), KeyID: "oct"}, {Key: enc.private, KeyID: "private"}, ok.public(),
		}}
		c := i.checker(t, nil)
		for _, k := range []key{weak, enc, {enc.private, "private", jose.ES256}} {
			if got := verdict(t.Context(), c, sign(t, k, i.claims(nil), nil)); got != "the token is not signed by its issuer" {
				t.Errorf("%s: %s", k.kid, got)
			}
		}
		if got := verdict(t.Context(), c, sign(t, ok, i.claims(nil), nil)); got != "https://as.example|alice" {
			t.Error(got)
		}
	})
}

// A key set without end costs no more than one of 64 keys.
func TestKeySetsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, last, beyond := ecKey(t, "first"), ecKey(t, "last"), ecKey(t, "beyond")
		i := &issuer{url: "https://as.example", keys: []jose.JSONWebKey{first.public()}}
		for range 62 {
			i.keys = append(i.keys, first.public())
		}
		i.keys = append(i.keys, last.public(), beyond.public())
		c := i.checker(t, nil)
		for _, k := range []key{first, last} {
			if got := verdict(t.Context(), c, sign(t, k, i.claims(nil), nil)); got != "https://as.example|alice" {
				t.Errorf("%s: %s", k.kid, got)
			}
		}
		if got := verdict(t.Context(), c, sign(t, beyond, i.claims(nil), nil)); got != "the token is not signed by its issuer" {
			t.Errorf("the 65th key: %s", got)
		}
	})
}

func ExampleNew() {
	c, err := oidc.New(oidc.Config{
		Issuer:   "https://login.example.com/tenant",
		Audience: []string{"https://tools.example.com/mcp"},
	})
	if err != nil {
		panic(err)
	}
	_, err = c.Check(context.Background(), "sk-not-a-token-of-ours", nil)
	fmt.Println(err)
	// Output: invalid_token: the token is no JWT with a signature that counts here
}

package oidc_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/metadata"
	"github.com/fairlead-dev/fairlead/runtime/auth/oidc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const resource = "https://h.example/mcp"

// key is a private key with the name and algorithm it signs with.
type key struct {
	private crypto.Signer
	kid     string
	alg     jose.SignatureAlgorithm
}

// rsaKey is made once: it takes a while.
var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

func ecKey(t testing.TB, kid string) key {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key{k, kid, jose.ES256}
}

func edKey(t testing.TB, kid string) key {
	_, k, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key{k, kid, jose.EdDSA}
}

func (k key) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.private.Public(), KeyID: k.kid, Use: "sig"}
}

// sign makes a token; header adds to or replaces what is in its header.
func sign(t testing.TB, k key, claims any, header map[jose.HeaderKey]any) string {
	t.Helper()
	raw, isRaw := claims.(string)
	if !isRaw {
		encoded, err := json.Marshal(claims)
		if err != nil {
			t.Fatal(err)
		}
		raw = string(encoded)
	}
	o := (&jose.SignerOptions{}).WithType("at+jwt")
	if k.kid != "" {
		o = o.WithHeader("kid", k.kid)
	}
	for name, value := range header {
		o = o.WithHeader(name, value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.alg, Key: k.private}, o)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// issuer publishes keys. It can be served, or be a RoundTripper itself where a
// test needs the clock.
type issuer struct {
	url string

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	down    bool
	fetches int
	hold    chan struct{}
}

func (i *issuer) set(edit func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	edit()
}

func (i *issuer) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	down, keys := i.down, i.keys
	if r.URL.Path == "/keys" {
		i.fetches++
	}
	i.mu.Unlock()
	switch {
	case down:
		w.WriteHeader(http.StatusBadGateway)
	case r.URL.Path == "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.url, "jwks_uri": i.url + "/keys"})
	case r.URL.Path == "/keys":
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: keys})
	default:
		http.NotFound(w, r)
	}
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	if i.hold != nil {
		select {
		case <-i.hold:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	w := httptest.NewRecorder()
	i.ServeHTTP(w, r)
	return w.Result(), nil
}

// checker makes one that asks the issuer without a network.
func (i *issuer) checker(t *testing.T, edit func(*oidc.Config)) *oidc.Checker {
	t.Helper()
	c := oidc.Config{Issuer: i.url, Audience: []string{resource}, JWKSURL: i.url + "/keys", Fetcher: &metadata.Fetcher{Transport: i}}
	if edit != nil {
		edit(&c)
	}
	checker, err := oidc.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return checker
}

// claims are good ones, with changes; nil takes one away.
func (i *issuer) claims(changes map[string]any) map[string]any {
	now := time.Now()
	out := map[string]any{
		"iss": i.url, "sub": "alice", "aud": resource, "scope": "read write",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	maps.Copy(out, changes)
	maps.DeleteFunc(out, func(_ string, v any) bool { return v == nil })
	return out
}

// verdict is what a check came to, in short.
func verdict(ctx context.Context, c auth.Checker, token string) string {
	id, err := c.Check(ctx, token, nil)
	var outage *oidc.OutageError
	switch refusal := auth.AsRefusal(err); {
	case err == nil:
		return id.Principal
	case refusal != nil:
		return refusal.Reason
	case errors.As(err, &outage):
		return "outage"
	}
	return "?" + err.Error()
}

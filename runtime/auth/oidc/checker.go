package oidc

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/fairlead-dev/fairlead/runtime/auth"
)

// Checker checks tokens of one issuer; see New. It is safe for concurrent use,
// and several of them are put together by auth.First.
type Checker struct {
	c        Config
	algs     []jose.SignatureAlgorithm
	keys     *issuerKeys
	verifier *oidc.IDTokenVerifier
	memory   *memory
}

var _ auth.Checker = (*Checker)(nil)

// New makes a Checker. It asks nobody anything yet: an issuer that is down must
// not keep a server from starting.
func New(c Config) (*Checker, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	checker := &Checker{c: c, memory: newMemory(c.Remember)}
	for _, alg := range c.Algorithms {
		checker.algs = append(checker.algs, jose.SignatureAlgorithm(alg))
	}
	checker.keys = &issuerKeys{
		fetch: checker.c.fetchKeys, fetched: c.Fetched, algs: checker.algs,
		refresh: c.Refresh, refetch: c.Refetch, stale: c.Stale,
	}
	checker.verifier = oidc.NewVerifier(c.Issuer, keySet{checker.keys}, &oidc.Config{
		SupportedSigningAlgs: c.Algorithms,
		SkipClientIDCheck:    true, // audiences are several, and compared as addresses
		SkipExpiryCheck:      true, // it has another skew for each time
	})
	return checker, nil
}

// Check implements auth.Checker.
func (c *Checker) Check(ctx context.Context, token string, _ *http.Request) (*auth.Identity, error) {
	now := time.Now()
	generation, good := c.keys.generation()
	if good {
		if id := c.memory.get(token, generation, now); id != nil {
			return id, nil
		}
	}
	id, err := c.verify(ctx, token, now)
	if err == nil && good {
		c.memory.put(token, generation, id)
	}
	return id, err
}

// verify takes a token apart. What can be refused without a key is, so that
// tokens of others cost nothing; what is believed was signed.
func (c *Checker) verify(ctx context.Context, token string, now time.Time) (*auth.Identity, error) {
	jws, err := jose.ParseSignedCompact(token, c.algs)
	if err != nil || len(jws.Signatures) != 1 {
		return nil, refused("the token is no JWT with a signature that counts here", err)
	}
	if !isAccessToken(jws.Signatures[0].Header) {
		return nil, refused("the token is a JWT of another kind", nil)
	}
	if _, err := c.read(jws.UnsafePayloadWithoutVerification(), now); err != nil {
		return nil, err
	}
	var signature error
	verified, err := c.verifier.Verify(context.WithValue(ctx, signatureKey{}, &signature), token)
	var outage *OutageError
	switch {
	case errors.As(signature, &outage):
		return nil, outage
	case signature != nil:
		return nil, refused("the token is not signed by its issuer", signature)
	case err != nil:
		return nil, refused("the claims of the token cannot be read", err)
	}
	var payload rawClaims
	if err := verified.Claims(&payload); err != nil {
		return nil, refused("the claims of the token cannot be read", err)
	}
	return c.read(payload, now)
}

// isAccessToken refuses JWTs that say they are something else, such as logout
// tokens. Many issuers say "JWT" of all of theirs, and some nothing.
func isAccessToken(h jose.Header) bool {
	kind, _ := h.ExtraHeaders[jose.HeaderType].(string)
	switch kind {
	case "", "JWT", "jwt", "at+jwt", "application/at+jwt", "AT+JWT":
		return true
	}
	return false
}

func refused(reason string, cause error) *auth.Refusal {
	return &auth.Refusal{Code: auth.InvalidToken, Reason: reason, Cause: cause}
}

// keySet hands the error of a verification past go-oidc, which keeps its text
// only.
type keySet struct{ *issuerKeys }

type signatureKey struct{}

func (k keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.issuerKeys.VerifySignature(ctx, token)
	if out, ok := ctx.Value(signatureKey{}).(*error); ok {
		*out = err
	}
	return payload, err
}

// rawClaims keeps the payload as it is.
type rawClaims []byte

func (r *rawClaims) UnmarshalJSON(raw []byte) error {
	*r = append((*r)[:0], raw...)
	return nil
}

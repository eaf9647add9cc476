package oidc

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/metadata"
	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// read judges the claims of a token and makes an identity of them. The error is
// a *auth.Refusal. Names are compared exactly and may not come twice.
func (c *Checker) read(claims []byte, now time.Time) (*auth.Identity, error) {
	if err := strictjson.Scan(claims, strictjson.FromClient); err != nil || !strictjson.IsObject(claims) {
		return nil, refused("the claims of the token cannot be read", err)
	}
	if issuer, ok := text(claims, "iss"); !ok || issuer != c.c.Issuer {
		return nil, refused("the token is of another issuer", nil)
	}
	if !c.forUs(claims) && !broken.Rule("W38.14") {
		return nil, refused("the token was made for another server", nil)
	}
	expires, err := c.times(claims, now)
	if err != nil {
		return nil, err
	}
	if bound, ok := strictjson.Get(claims, "cnf"); ok && !strictjson.IsNull(bound) {
		// Who has such a token must also prove to have a key, which Bearer
		// cannot (RFC 8705, RFC 9449).
		return nil, refused("the token is bound to a key", nil)
	}
	principal, err := c.principal(claims)
	if err != nil {
		return nil, err
	}
	id := &auth.Identity{Principal: principal, Expires: expires}
	for _, name := range c.c.ScopeClaims {
		value, _ := strictjson.Get(claims, name)
		id.Scopes = append(id.Scopes, scopes(value)...)
	}
	if len(id.Scopes) > auth.MaxScopes {
		return nil, refused("the token grants too many scopes", nil)
	}
	id.Scopes = c.c.Hierarchy.Expand(id.Scopes)
	decoder := json.NewDecoder(bytes.NewReader(claims))
	decoder.UseNumber() // numbers stay what they are
	if err := decoder.Decode(&id.Claims); err != nil {
		return nil, refused("the claims of the token cannot be read", err)
	}
	return id, nil
}

// forUs tells whether one of the token's audiences is one of ours. Addresses are
// compared in their canonical form: issuers differ in the slash at the end.
func (c *Checker) forUs(claims []byte) bool {
	value, _ := strictjson.Get(claims, "aud")
	return slices.ContainsFunc(list(value), func(theirs string) bool {
		return slices.ContainsFunc(c.c.Audience, func(ours string) bool { return sameAudience(ours, theirs) })
	})
}

func sameAudience(ours, theirs string) bool {
	if ours == theirs {
		return true
	}
	a, err := metadata.Canonical(ours)
	if err != nil {
		return false
	}
	b, err := metadata.Canonical(theirs)
	return err == nil && a.String() == b.String()
}

// times checks exp, nbf and iat with one skew, and returns when the token ends
// for us.
func (c *Checker) times(claims []byte, now time.Time) (expires time.Time, err error) {
	exp, ok, err := moment(claims, "exp")
	switch {
	case err != nil:
		return expires, err
	case !ok:
		return expires, refused("the token has no end", nil)
	}
	expires = exp.Add(c.c.Skew)
	if !now.Before(expires) {
		return expires, refused("the token has expired", nil)
	}
	for _, name := range []string{"nbf", "iat"} {
		at, ok, err := moment(claims, name)
		if err != nil {
			return expires, err
		}
		if ok && at.After(now.Add(c.c.Skew)) {
			return expires, refused("the token is not valid yet", nil)
		}
	}
	return expires, nil
}

// maxSeconds is later than any token's end, and still a time.
const maxSeconds = 1 << 37

func moment(claims []byte, name string) (at time.Time, ok bool, err error) {
	raw, ok := strictjson.Get(claims, name)
	if !ok {
		return at, false, nil
	}
	seconds, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsNaN(seconds) || seconds < 0 {
		return at, true, refused("the token has a time that is none", nil)
	}
	return time.Unix(int64(min(seconds, maxSeconds)), 0), true, nil
}

// principal names the subject, unambiguously among issuers and tenants.
func (c *Checker) principal(claims []byte) (string, error) {
	parts := []string{c.c.Issuer}
	if c.c.TenantClaim != "" {
		tenant, ok := text(claims, c.c.TenantClaim)
		if !ok || tenant == "" {
			return "", refused("the token names no tenant", nil)
		}
		parts = append(parts, tenant)
	}
	subject, ok := text(claims, "sub")
	if !ok || subject == "" {
		return "", refused("the token names no subject", nil)
	}
	return auth.Principal(append(parts, subject)...), nil
}

func text(object []byte, name string) (string, bool) {
	value, _ := strictjson.Get(object, name)
	return strictjson.String(value)
}

// list reads a string or a list of strings.
func list(value []byte) (out []string) {
	if one, ok := strictjson.String(value); ok {
		return []string{one}
	}
	strictjson.Elements(value, func(item []byte) bool {
		if one, ok := strictjson.String(item); ok {
			out = append(out, one)
		}
		return true
	})
	return out
}

// scopes reads both forms that scopes have: one string, or a list.
func scopes(value []byte) (out []string) {
	for _, one := range list(value) {
		out = append(out, auth.ParseScopes(one)...)
	}
	return out
}

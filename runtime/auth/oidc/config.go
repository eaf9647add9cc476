package oidc

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/metadata"
)

// Config describes a Checker. Issuer and Audience are required.
type Config struct {
	// Issuer as it stands in tokens, to the letter.
	Issuer string
	// Audience are what tokens may be made for: the address of the MCP endpoint
	// and, where an issuer has names of its own for it, those. A token needs one
	// of them (W38.14).
	Audience []string
	// JWKSURL is where the keys are; empty asks the issuer's metadata.
	JWKSURL string
	// Algorithms that may sign [Algorithms]. "none" and those with a shared
	// secret are not possible.
	Algorithms []string
	// Skew is how far clocks may be apart [60 s, at most 5 min].
	Skew time.Duration
	// ScopeClaims are the claims that hold scopes [scope, scp].
	ScopeClaims []string
	// TenantClaim, if set, must be in every token and becomes part of the
	// principal: for issuers where a subject is unique in a tenant only.
	TenantClaim string
	// Hierarchy are scopes that include others (W38.11).
	Hierarchy auth.Hierarchy
	// Fetcher gets metadata and keys; nil makes one that may reach private
	// networks, and this machine if the issuer is here.
	Fetcher *metadata.Fetcher
	// Refresh is when keys are fetched again [10 min], Refetch the least time
	// between two fetches [10 s], Stale how long keys are good without a
	// successful fetch [1 h].
	Refresh, Refetch, Stale time.Duration
	// Remember is how many tokens with a good signature are remembered [1024];
	// negative is none.
	Remember int
	// Fetched hears of every fetch: how many keys there are, or why it failed.
	// It may be nil and must not block.
	Fetched func(keys int, err error)
}

// Algorithms are those that sign with a private key.
func Algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

const (
	defaultSkew    = time.Minute
	maxSkew        = 5 * time.Minute
	defaultRefresh = 10 * time.Minute
	defaultRefetch = 10 * time.Second
	defaultStale   = time.Hour

	defaultRemember = 1024
)

// complete checks c and fills in defaults.
func (c *Config) complete() error {
	issuer, err := url.Parse(c.Issuer)
	if err != nil || issuer.Host == "" || issuer.RawQuery != "" || issuer.Fragment != "" {
		return fmt.Errorf("oidc: %q is no issuer", c.Issuer)
	}
	if len(c.Audience) == 0 || slices.Contains(c.Audience, "") {
		return errors.New("oidc: without an audience any token of the issuer would do")
	}
	if len(c.Algorithms) == 0 {
		c.Algorithms = Algorithms()
	}
	for _, alg := range c.Algorithms {
		if !slices.Contains(Algorithms(), alg) {
			return fmt.Errorf("oidc: tokens signed with %q prove nothing here", alg)
		}
	}
	if c.Skew < 0 || c.Skew > maxSkew {
		return fmt.Errorf("oidc: a clock skew of %s, %s is the most", c.Skew, maxSkew)
	}
	if c.Remember == 0 {
		c.Remember = defaultRemember
	}
	if len(c.ScopeClaims) == 0 {
		c.ScopeClaims = []string{"scope", "scp"}
	}
	if c.Fetcher == nil {
		c.Fetcher = &metadata.Fetcher{Reach: metadata.Private}
		if metadata.IsLoopback(issuer.Hostname()) {
			c.Fetcher.Reach = metadata.Loopback
		}
	}
	for _, d := range []struct {
		value  *time.Duration
		preset time.Duration
	}{{&c.Skew, defaultSkew}, {&c.Refresh, defaultRefresh}, {&c.Refetch, defaultRefetch}, {&c.Stale, defaultStale}} {
		if *d.value <= 0 {
			*d.value = d.preset
		}
	}
	return nil
}

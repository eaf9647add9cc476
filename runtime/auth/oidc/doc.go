// Package oidc checks access tokens that are JWTs, signed by an issuer whose keys
// are published: an auth.Checker on top of go-oidc.
//
// It adds what a resource server must decide by itself: that a token was made
// for this server (audience), one clock skew for every time in it, which
// algorithms count, who the principal is, which scopes are granted. And it keeps
// the issuer's keys in its own way: they are fetched again on a
// schedule, so that a withdrawn key ends; for an unknown key at most every few
// seconds, so that forged tokens cannot be aimed at the issuer; and an outage of
// the issuer is outlived for an hour and then said to be one.
//
// It must not know HTTP fields, challenges or MCP. There is no way to switch off
// a check.
package oidc

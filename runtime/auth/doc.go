// Package auth says who asks and what they may: the [Identity] that travels with
// a message through dispatch and middleware, the [Checker] that makes one of a
// bearer token, and the challenges of RFC 6750 by which a server says no.
//
// It is the low half of authorization, the standard library only. It must not
// know MCP, sessions or a transport: auth/guard puts a Checker in front of HTTP,
// auth/oidc checks signed tokens, auth/token is the client's side.
//
// A token is read, checked and forgotten. No value of this package keeps one, no
// error and no String shows one, and an Identity carries none (W38.13).
package auth

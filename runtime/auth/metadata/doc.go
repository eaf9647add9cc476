// Package metadata knows the two documents by which OAuth finds its way: what a
// protected resource says about itself (RFC 9728) and what an authorization
// server does (RFC 8414, OpenID Connect Discovery). It names a resource in its
// one canonical form, says where the documents are, fetches them and believes
// them only as far as they may be believed.
//
// The addresses come from strangers: a server that was asked for a tool says
// where to look next. So a [Fetcher] goes nowhere that the server itself could
// not have been (see [Reach]), follows no redirect, reads a bounded answer in
// bounded time, and takes a document only if it is about what was asked. A
// document that is wrong ends the search; only one that is not there lets it go
// on, and never from a stronger way of finding to a weaker one.
//
// It must not know tokens, MCP or who asks.
package metadata

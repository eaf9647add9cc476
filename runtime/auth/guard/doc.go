// Package guard puts an auth.Checker in front of HTTP: it takes the token out of
// a request, has it checked in bounded time, refuses with the status and the
// challenge that RFC 6750 and RFC 9728 want, and serves the document that the
// challenge points to.
//
// All addresses that it hands out come from the configured public address, never
// from Host or from forwarding headers (P33.8): whoever controls those could
// send a client anywhere for its tokens.
//
// [Guard.Authenticate] is what a streamable server asks per request, before it
// reads anything; [Guard.Protect] does the same for any other handler. It must
// not know MCP, sessions or transports.
package guard

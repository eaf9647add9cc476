// Package client is the front door for programs that use an MCP server over
// HTTP, whatever revision it speaks: it finds out how to talk to it, keeps the
// conversation, and offers tools as lists and calls.
//
//	Connect ─ server/discover ─► stateless (2026-07-28)
//	        └ initialize ──────► a session (2025-11-25 and earlier)
//
// Below it are client/peer (one leg's protocol) and client/httpleg (its
// transport), which proxies use directly. It must not know what its user does
// with results, which stay raw.
package client

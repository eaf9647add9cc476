// Package mcptest is what tests of MCP servers, clients and transports need:
// a server at the other end of a pair of pipes, an in-memory pair or loopback
// HTTP, raw peers that say given bytes and expect given ones, a recorder of all
// messages, and a way to make the same calls over every transport and compare
// the answers.
//
//	raw := mcptest.Stdio(t, server, stdio.Options{})
//	raw.Say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
//	raw.Expect(`{"jsonrpc":"2.0","id":1,"result":{}}`)
//
// Everything is closed at the end of the test. Waits are bounded, and work in
// the virtual time of testing/synctest except where the network is involved.
// The package must not be used outside tests.
package mcptest

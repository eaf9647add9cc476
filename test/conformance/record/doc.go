// Package record writes down every MCP message that passes a server or leaves a
// client, as lines of JSON, with what is needed to judge it later: whose it is,
// the exchange, the session and the revision that its headers name.
//
// It reads the bytes by itself, with nothing of the protocol library that it
// records, and must not change or hold up what passes. It judges nothing.
package record

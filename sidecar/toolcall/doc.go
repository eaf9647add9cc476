// Package toolcall makes one tools/call for a person at a terminal: words of a
// command line become arguments of the types that the tool's inputSchema wants,
// and a result becomes text. It must not know commands, flags or how a server is
// reached.
package toolcall

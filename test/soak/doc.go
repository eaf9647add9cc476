// Package soak lets many clients of every revision work for minutes on one
// sidecar, while its stdio workload is killed and stopped at random, and then
// looks for what was mixed up, done twice or left behind. `make soak` runs it;
// SOAK is how long for each workload, SOAK_WORKLOAD part of the name of those
// that are wanted, SOAK_SEED the seed of an earlier run. They run at the same time
// (go test -parallel).
//
//	clients ─ tap ─► mcp-sidecar ─► mcp-agent ─► workload ─► journal
//	                                               ▲
//	                                       chaos: KILL, STOP, CONT
//
// Every call has a token of its own. The tap reads every byte that a client
// gets and knows no token but the client's; the journal has a line for each
// execution of a tool. All is loopback, bounded, and random by a seed that is
// printed.
package soak

// Package interop holds our client against MCP servers of others, and their
// clients against our server: `make peers`. The foreign programs are in
// test/peers; what each lacks is said in its row, everything else must work.
package interop

// Package interop holds programs of others against ours: `make peers`.
//
//	TestOurClient…                      our client with their servers
//	TestForeignClientsAgainstOurServer  their clients with our server
//	TestForeignClientsThroughTheSidecar their clients, mcp-sidecar, their servers
//	the scripts (P33.15)                what real clients do to a server: with our
//	                                    server, and with the sidecar
//
// A script or row sets up a stage: the client, a cutter that breaks
// connections, a recording, a watch, what the script needs of the wire, and the
// place where ours is. Everything that ours says is recorded, and judged by the
// protocol's schemas at the end. The foreign programs are in test/peers; what
// each lacks is said in its row, everything else must work.
package interop

// Package child runs an MCP server as a process of its own and speaks to it
// over its standard streams: a peer.Link whose end is the end of the process.
//
//	Start ─► fork in a process group ─► stdin, stdout: messages
//	                                  └ stderr: Config.Stderr, and a tail for errors
//	Close ─► stdin closed ─ grace ─► TERM to the group ─ grace ─► KILL (W18.7)
//
// It owns the process, its group, its exit status and what it wrote to stderr.
// It must not know what the messages say, nor when to start again: that is its
// user's. Where there are no process groups, only the process itself is
// signalled.
package child

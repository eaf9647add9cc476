// Package stdio runs a workload that speaks on its standard streams: one
// process for each legacy client session, from initialize to the end of the
// session, and one for each key of clients without sessions (R23, PerSession).
//
//	OpenSession / Instance ─► slot (wait, evict) ─► Starter ─► initialize ─► Leg
//	                           └──────────── freed when the process is gone ◄┘
//
// It owns how many processes there are, who gives way at the bound, how long
// one may idle, how fast failed starts are repeated, and how a failed start is
// explained. How a process is started and ended is the agent's; what is said
// to it is the peer's and the proxy's.
//
// Locks: Pool.mu comes before a Peer's and before whatever Listening takes;
// it is held for bookkeeping only, never while a process is talked to or an
// owner is told something.
package stdio

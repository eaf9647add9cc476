// Package upstream is the workload as the proxy sees it: legs (initialized
// conversations with the workload), one per legacy client session and one per
// key for clients without sessions (R23), and what can be said about the
// workload as a whole.
//
// It holds the types that both kinds of workload share; the kinds themselves
// are upstream/stdio (a process per leg) and upstream/http (a session per leg
// on loopback). It must not know the front, or how a request is translated.
package upstream

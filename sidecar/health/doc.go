// Package health keeps track of whether the workload speaks the protocol.
//
//	          handshake ok                 check fails
//	Starting ─────────────► Ready ───────────────────────► Failed
//	    └── handshake fails ──► Failed ── handshake ok ──► Ready
//
// A handshake that succeeded is what makes a pod ready (O7); while it holds, a
// cheap check is repeated, and the first one that fails sends the pod back to
// the handshake at once. Attempts back off, and the backoff is forgotten only
// when the workload has stayed up for a while, so a crash loop does not make
// readiness flap faster and faster.
//
// The package owns the loop, its clocks and the reasons. It must not know how
// a handshake is made.
package health

// Package app assembles the sidecar: listeners, the handler chain, and two
// lifecycles.
//
//	         public :17080                     admin :17081   metrics :17090
//	accept ─► chain (chain.go) ─► streamable ─► held ─► proxy ─► workload
//	                                              ▲
//	                  health ── up/down ──────────┘ gate
//	mounts: live contract ─► settings, keys ─► keyring
//	SIGTERM, preStop ─► drain: public first; admin and metrics stay up
//
// It owns which parts there are and in which order they start and end. What a
// part does is the part's own business; nothing here interprets a message.
package app

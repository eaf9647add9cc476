// Package proxy is the sidecar's dispatch.Server: it takes a client's request
// in the client's revision, has the workload answer it in the workload's, and
// gives the answer back in the client's.
//
//	client with a session ── Open ──► a leg of its own        (B4.11, R23)
//	                      ── Serve ─► Call, repaired          legacy.go
//	client without        ── Serve ─► the leg of its key      modern.go
//	workload asks, tells  ── Handler ► exchange or session    session.go, call.go
//
// Payloads are raw bytes; what changes are single members, named by a rule
// (D2, B0.2). It owns that translation and the wording of failures. It must
// not know HTTP, processes, or how sessions and streams are kept; the workload
// it sees is the interface Workload.
package proxy

// Package proxy is the sidecar's dispatch.Server: it takes a client's request
// in the client's revision, has the workload answer it in the workload's, and
// gives the answer back in the client's. There are four pairings, named client
// first, each in files of its own:
//
//	           legacy workload (leg)            modern workload (conversation)
//	legacy     ll  a leg of the session         lm  requests with an envelope
//	modern     ml  the leg of the key           mm  the request, passed on
//
// Payloads are raw bytes; what changes are single members, named by a rule
// (D2, B0.2). It owns that translation and the wording of failures. It must
// not know HTTP, processes, or how sessions and streams are kept; the workload
// it sees is the interface Workload.
package proxy

// Package bridge puts clients of every revision in front of workloads of every
// revision, over HTTP and stdio, with the real sidecar between them. The ends
// are the runtime's own client and the conformance workload on its server.
// `make bridge` runs it.
package bridge

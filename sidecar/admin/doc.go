// Package admin is the admin port: what the kubelet and the operator may ask.
//
//	GET /livez    the process itself makes progress; nothing else counts (O2)
//	GET /readyz   a handshake with the workload holds, and no drain has begun
//	GET /startup  the sidecar's own listeners are open; knows no workload (O2)
//	GET /status   config.Status, to explain; never to decide (O6a)
//
// Nothing here changes state, and there is nothing else (O3). The package must
// not know where the answers come from.
package admin

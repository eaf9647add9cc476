// Package mcpserver reconciles one McpServer.
//
// A reconcile, in order (reconciler.go):
//
//	read      the server, never older than our last write of its status
//	render    pure: boot config, live contract, pod template (desired)
//	claims    which volumes only one node can use
//	look      whose each child is; nothing is written over a foreign one
//	keys      the Secret that seals handles
//	children  live contract, ServiceAccount, Service, PDB, NetworkPolicy
//	workload  the Deployment
//	observe   pods, their events and their sidecars' status
//	touch     pods whose live contract lags
//	status    one server-side apply, only when something changed
//
// A phase returns a classed failure and reports nothing itself. The first
// failure ends the writing phases; observing and status always run. What is in
// the status is decided by verdict.go alone, from facts and nothing else.
//
// It watches the server, its children and its pods. It owns all conditions of
// the kind; there is no finalizer, because everything that it makes carries an
// owner reference, and it writes nothing outside of the cluster.
//
// It must not know how a child is compared or owned (internal/apply), nor read
// any Secret whose name it did not make (O16).
package mcpserver

// Package http speaks to a workload that serves streamable HTTP on loopback:
// one workload session for each legacy client session, and one for each key of
// clients without sessions (R23).
//
// It owns the connections, the sessions' second life (a workload that forgot a
// session gets initialize again, B3.7), waiting for a workload that is being
// restarted (P1), idle instances, and the wording of failed handshakes. What
// travels is httpleg's and peer's; what is said is the proxy's.
package http

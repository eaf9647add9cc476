// Package hook is the kubelet's preStop hooks as the sidecar serves them (O3),
// and the asking side that `mcp-agent hook` runs in both containers.
//
// Only the sidecar's own preStop or SIGTERM starts a drain, and a drain is
// final. The workload's preStop only asks. The sidecar cannot tell a container
// restart from the end of the pod by itself, so it waits a second for its own
// hook, which the kubelet runs at the same moment when the pod ends:
//
//	workload hook ──► own hook or SIGTERM within RestartAfter? ── yes ─► wait until Drained, answer
//	                                  │ no: the container restarts
//	                                  ▼
//	                  WorkloadStopping (at most RestartWait), answer
//	                  and if the drain begins meanwhile: wait until Drained
//	sidecar hook ───► Drain("preStop"), wait until Drained, answer
//
// What the application owes the Server: Drain begins the drain once and
// returns at once; Draining is closed when a drain has begun for whatever
// reason (Drain, SIGTERM), Drained when nothing is in flight any more; the
// socket stays open until the sidecar exits, because a hook that is cut off
// fails, and the kubelet then ends the workload at once.
//
// The socket is mode 0666 in a directory that both containers mount, since
// they differ in uid (O9). Anybody may ask for the workload; for the sidecar
// only a peer with the server's own uid inside the server's own pid namespace
// (SO_PEERCRED), which an exec hook of the sidecar's container is.
//
// The package must not know what a drain consists of. Standard library and
// x/sys only: the agent binary contains it.
package hook

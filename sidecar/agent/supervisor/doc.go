// Package supervisor is the agent itself: PID 1 of a Stdio workload's
// container, which starts a process per control connection and leaves nothing
// behind when that connection ends. The protocol is in sidecar/agent.
//
//	Serve ── accept ──► connection ── start ──► process ── fork ──► forker (one OS thread)
//	                        │                     │  ▲
//	              commands, EOF ──► clock ──► signals │ status
//	                                              │  └── reaper (the only one that waits)
//	                                              ├── stderr ──► log (one writer)
//	                                              ├── streams ◄─► frames (only where pipes cannot be passed)
//	                                              └── end: group, sweep, exit line
//
// What holds it together:
//
//   - Only the reaper waits for children. It looks first (WNOWAIT), kills the
//     group while the leader is still a zombie, and then collects, so that a
//     process id is never signalled after it may belong to another.
//   - All forks happen under the reaper's lock, on one thread that lives as
//     long as the supervisor: Pdeathsig follows the thread.
//   - Every child carries its key in its environment. What left its group and
//     its parents is found by that (P11).
//   - No lock is held while something is written to a peer or to the log.
//
// It must not know MCP. Standard library and x/sys only.
package supervisor

// Package agent starts and ends the processes of a Stdio workload from the
// sidecar's side. The other side, sidecar/agent/supervisor, is PID 1 of the
// workload container (sidecar/cmd/mcp-agent).
//
// A unix socket in a directory that both containers mount carries control
// only, one connection per process (P11):
//
//	sidecar                                agent
//	{"v":1,"start":{"key":…,"env":…}}  →
//	                                   ←   {"v":1,"started":{"pid":…,"way":…}} + 2 descriptors
//	{"way":"descriptors"}              →
//	{"signal":"TERM"} | {"stop":{}}    →
//	                                   ←   {"stopping":{}}
//	                                   ←   {"exit":{"code":…,"signal":…,"stderrTail":[…]}}
//
// The descriptors are the write end of the child's stdin and the read end of
// its stdout. The agent keeps no copy, so the protocol's bytes are moved once,
// by the kernel: closing Stdin is the half-close, a full pipe is the
// backpressure, and the death of the sidecar is an end of file for the child.
//
// Where descriptors cannot pass, the agent relays: it says {"way":"relay"} if
// the kernel refuses to send them, the sidecar does if none have arrived, and
// then both speak the frames of internal/relay instead of lines. They carry
// the same lines, and both streams with a window each of a pipe's size, so
// that Process looks the same. It costs the agent's CPU time for every byte.
//
// What ends a process, always in this order (W18.7): stdin closed, then TERM
// to its group, then KILL to its group, then KILL to whatever still carries
// its key in the environment. The clocks are in the start request.
//
//	p, err := agent.Dialer{Socket: config.AgentSocket}.Start(ctx, agent.StartRequest{Key: key})
//	if err != nil {
//		switch agent.CodeOf(err) { … }
//	}
//	defer p.Close()
//
// The package knows nothing of MCP, of framing, of sessions or of how many
// processes there should be; the agent's own bound is a last resort. It
// imports the standard library and x/sys only, because the agent binary that
// is copied into every workload container contains it.
package agent

// Package dataplane tests the data plane as it ships: mcp-sidecar, mcp-agent
// and a workload as processes of their own, without a cluster, over loopback.
// A pod of the tests is a folder with the two sockets and the two mounts; the
// kubelet's part (writing mounts, running hooks, sending signals) is the
// test's.
//
// What a test waits for it polls for, until a deadline that only a broken
// program reaches.
package dataplane

// Package podfault reads from a pod, its events and its sidecar's status why it
// is not ready, and words it (O18). Everything is pure: evidence in, fault out.
//
// It must not copy text of the kubelet, the runtime or the workload into a
// fault: it carries pod UIDs and back-off times, which would make a condition
// change for ever, and may carry secrets. It owns the words instead, with names
// from the spec and exit codes as the only variables.
//
// A fault is derived from what stays: the last termination, the restart count,
// the kind of waiting. So it is the same while a container runs for a second,
// ends, and waits for its next start.
package podfault

// Package laptop puts the sidecar in front of a server on this machine, without
// a cluster: the parts of a pod in two processes, as it has two containers (one
// owns the commands, so that a kill of the other leaves nothing of them),
// defaults for what the operator would say, and words for a person at a
// terminal. It owns what Run prints and how its failures are told; it must not
// know commands, flags or exit codes.
package laptop

// Package e2e tests the whole of Fairlead on a real cluster with real clients.
// The tests have the build tag e2e and run by `make test-e2e` (those named
// TestCore…) and `make test-e2e-all` (all).
//
// They find the cluster by KUBECONFIG. On the local cluster of hack/cluster
// they also look at the node itself: its processes, cgroups and mounts, the
// audit log, and its components, which they stop and start. Tests that need
// that are left out on other clusters, and say so.
//
// Each test has its own namespace, which enforces Pod Security `restricted`.
package e2e

// Package integration runs the manager against a real etcd and API server, with
// exactly the rights that config/rbac grants it. What a cluster does beside
// that (Deployment controller, scheduler, kubelet, sidecars) is played by
// kubelet_test.go, because there is no node.
package integration

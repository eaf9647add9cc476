// Package testkit starts a real etcd and kube-apiserver, once per test binary,
// and gives each test a namespace of its own in it.
//
// It knows where the binaries come from and how to say so when they are
// missing. It must not know reconcilers; of kinds it knows what a legal status is.
package testkit

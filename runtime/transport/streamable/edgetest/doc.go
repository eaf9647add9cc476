// Package edgetest holds the tables of the HTTP edge (P33, W16): what an
// endpoint answers to requests as sockets, browsers, proxies and careless
// programs bring them. The endpoint of the runtime runs them with a server
// right behind it, the sidecar with a workload behind itself, so that neither
// can drift from the other. Each table is one exported function.
//
// Time is virtual (testing/synctest), connections stay in memory. The package
// must not be used outside tests, and knows nothing of what it tests.
package edgetest

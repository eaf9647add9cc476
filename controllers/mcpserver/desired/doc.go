// Package desired builds the children of a McpServer: pure functions from an
// Input to apply configurations that set exactly the fields we own.
//
// It must not know clients, clocks or randomness: equal inputs give equal
// bytes, which the goldens in testdata pin. What was observed in the cluster
// comes in through Input only.
//
// The pod is put together in this order: template.go the pod, sidecar.go and
// agent.go our containers, workload.go the user's, volumes.go what they share,
// security.go who they run as. hash.go says what of a spec needs new pods.
package desired

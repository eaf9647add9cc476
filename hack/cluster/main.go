// Command cluster runs a real single-node Kubernetes in namespaces of its own,
// built from Go modules, for the tests and the demo. See docs/local-cluster.md.
package main

import (
	"os"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/command"
)

func main() {
	os.Exit(command.Main(os.Args[1:]))
}

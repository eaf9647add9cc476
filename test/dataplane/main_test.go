package dataplane

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/fairlead-dev/fairlead/test/testkit/program"
)

// bin is the folder with the programs under test.
var bin string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "dataplane-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, main := range []string{"sidecar/cmd/mcp-sidecar", "sidecar/cmd/mcp-agent", "test/workloads/testworkload", "test/workloads/badworkload", "test/conformance/cmd/conformance-workload"} {
		if _, err := program.BuildInto(dir, main); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	bin = dir
	return m.Run()
}

func binary(name string) string { return filepath.Join(bin, name) }

package dataplane

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
	"github.com/fairlead-dev/fairlead/test/conformance/wireschema"
	"github.com/fairlead-dev/fairlead/test/testkit/program"
)

// bin is the folder with the programs under test, recordings the one with what
// clients sent and got.
var bin, recordings string

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
	bin, recordings = dir, filepath.Join(dir, "recordings")
	if err := os.Mkdir(recordings, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	// What sidecars sent to clients, also to broken ones.
	if code == 0 && !wireschema.Recordings(os.Stdout, "../..", recordings, record.Theirs) {
		code = 1
	}
	return code
}

// written makes a recording of one client.
func written(t *testing.T) *record.Log {
	t.Helper()
	f, err := os.CreateTemp(recordings, "*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	log, err := record.Create(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log
}

func binary(name string) string { return filepath.Join(bin, name) }

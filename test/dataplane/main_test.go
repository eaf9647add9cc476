package dataplane

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
	"github.com/fairlead-dev/fairlead/test/conformance/wireschema"
	"github.com/fairlead-dev/fairlead/test/testkit/program"
)

// bin is the folder with the programs under test, recordings the one with what
// was said, by where it was written down: toClients and toWorkloads.
var bin, recordings string

const (
	toClients   = "clients"
	toWorkloads = "workloads"
)

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
	for _, name := range []string{toClients, toWorkloads} {
		if err := os.MkdirAll(filepath.Join(recordings, name), 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	code := m.Run()
	// What sidecars sent, also to broken clients and to broken workloads.
	for _, name := range []string{toClients, toWorkloads} {
		if code == 0 && !judged(name) {
			code = 1
		}
	}
	return code
}

// judged holds what sidecars sent to one side against the schemas. Some of the
// tests alone may have sent nothing.
func judged(name string) bool {
	dir := filepath.Join(recordings, name)
	if some, err := os.ReadDir(dir); err == nil && len(some) == 0 && flag.Lookup("test.run").Value.String() != "" {
		return true
	}
	fmt.Printf("to %s: ", name)
	return wireschema.Recordings(os.Stdout, "../..", dir, record.Theirs)
}

// recorded has the workload in a command line, if there is one, write down what
// it is sent, one file for each of its processes.
func recorded(command []string) []string {
	serial := launches.Add(1)
	for i, arg := range command {
		switch filepath.Base(arg) {
		case "testworkload":
			i++ // its subcommand comes first
		case "badworkload", "conformance-workload":
		default:
			continue
		}
		file := filepath.Join(recordings, toWorkloads, fmt.Sprintf("%d-{pid}.jsonl", serial))
		return slices.Insert(slices.Clone(command), i+1, "-record", file)
	}
	return command
}

// launches counts the command lines.
var launches atomic.Int64

// written makes a recording of one client.
func written(t *testing.T) *record.Log {
	t.Helper()
	f, err := os.CreateTemp(filepath.Join(recordings, toClients), "*.jsonl")
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

package soak

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/test/testkit/program"
)

// bin is the folder with the programs.
var bin string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "soak-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, main := range programs() {
		if _, err := program.BuildInto(dir, main); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	bin = dir
	return m.Run()
}

// programs are those that a pod runs.
func programs() []string {
	return []string{"sidecar/cmd/mcp-sidecar", "sidecar/cmd/mcp-agent", "test/workloads/testworkload", "test/workloads/soakworkload"}
}

// briefly is how long soaks take that nobody gave a time.
const briefly = 30 * time.Second

// duration is SOAK, the time of each soak.
func duration(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("SOAK")
	if text == "" {
		return briefly
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second {
		t.Fatalf("SOAK=%q is no time of a second or more", text)
	}
	return d
}

package soak

import (
	"fmt"
	"os"
	"path/filepath"
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
	for _, main := range []string{"sidecar/cmd/mcp-sidecar", "sidecar/cmd/mcp-agent", "test/workloads/testworkload", "test/workloads/soakworkload"} {
		if _, err := program.BuildInto(dir, main); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	bin = dir
	return m.Run()
}

func binary(name string) string { return filepath.Join(bin, name) }

// briefly is how long all soaks take that nobody gave a time.
const briefly = 30 * time.Second

// duration is SOAK, the time of all soaks together.
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

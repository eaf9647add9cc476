package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write docs/reference/mcp-sidecar.md")

// The page of the commands is what their help says.
func TestCommandsAreDocumented(t *testing.T) {
	page := filepath.Join("..", "..", "..", "docs", "reference", "mcp-sidecar.md")
	want := reference(command())
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != want {
		t.Errorf("run go test ./sidecar/cmd/mcp-sidecar -update: %v", err)
	}
}

// reference is the text of the page.
func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# The commands of mcp-sidecar\n\nGenerated from `sidecar/cmd/mcp-sidecar` by its test (`-update`); do not edit.\n\n" + root.Long + "\n")
	for _, c := range root.Commands() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		about := c.Long
		if about == "" {
			about = c.Short + "."
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n```\n%s\n```\n", c.Name(), about, strings.TrimSpace(c.UsageString()))
	}
	return b.String()
}

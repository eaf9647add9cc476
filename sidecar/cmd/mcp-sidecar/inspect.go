package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/sidecar/inspect"
)

// inspectCommand tells what any server is and has.
func inspectCommand() *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:   "inspect",
		Short: "Tell what any MCP server by URL is and has",
		Example: `  mcp-sidecar inspect
  mcp-sidecar inspect --url https://example.com/mcp --header "Authorization: Bearer …" -o json`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := t.check(); err != nil {
				return err
			}
			r, err := inspect.Look(cmd.Context(), t.Target)
			if err != nil {
				return err
			}
			if t.output == "text" {
				return r.Text(cmd.OutOrStdout())
			}
			out, err := json.MarshalIndent(r, "", "  ")
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", out)
			return err
		},
	}
	t.flags(cmd.Flags())
	return cmd
}

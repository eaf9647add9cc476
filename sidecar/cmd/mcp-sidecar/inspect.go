package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/sidecar/inspect"
	"github.com/fairlead-dev/fairlead/sidecar/lint"
)

// inspectCommand tells what any server is and has.
func inspectCommand() *cobra.Command {
	var t target
	var judge bool
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
			if judge {
				return lintServer(cmd, &t)
			}
			r, err := inspect.Look(cmd.Context(), t.Target)
			if err != nil {
				return t.unanswered(err)
			}
			if t.output == "text" {
				return r.Text(cmd.OutOrStdout())
			}
			return printJSON(cmd.OutOrStdout(), r)
		},
	}
	cmd.Flags().BoolVar(&judge, "lint", false, "check it against the rules of docs/reference/lint.md instead")
	t.flags(cmd.Flags())
	return cmd
}

// lintError: a failure was found.
type lintError struct{}

func (lintError) Error() string { return "the server breaks rules" }

func lintServer(cmd *cobra.Command, t *target) error {
	found, err := lint.Run(cmd.Context(), t.Target)
	if err != nil {
		return t.unanswered(err)
	}
	if t.output == "json" {
		err = printJSON(cmd.OutOrStdout(), append([]lint.Finding{}, found...))
	} else {
		err = lint.Text(cmd.OutOrStdout(), found)
	}
	if err == nil && lint.Failed(found) {
		err = lintError{}
	}
	return err
}

func printJSON(w io.Writer, v any) error {
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", out)
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/sidecar/toolcall"
)

// callCommand makes one call of a tool.
func callCommand() *cobra.Command {
	var t target
	var pairs []string
	var raw string
	cmd := &cobra.Command{
		Use:   "call TOOL",
		Short: "Call a tool of any MCP server by URL",
		Long: `Call a tool of any MCP server by URL, and print what it says.

Values of --arg become what the tool's inputSchema wants; --args takes a whole
JSON object, which is sent as it is.`,
		Example: `  mcp-sidecar call echo --arg message=hello
  mcp-sidecar call get-sum --args '{"a":2,"b":3}' --url http://127.0.0.1:3000/mcp -o json`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := t.check(); err != nil {
				return err
			}
			r, err := call(cmd.Context(), t, args[0], raw, pairs)
			if err != nil {
				return t.unanswered(err)
			}
			return printResult(cmd.OutOrStdout(), r, t.output)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&pairs, "arg", nil, "argument, NAME=VALUE; may be repeated, the same name makes a list")
	f.StringVar(&raw, "args", "", "all arguments as a JSON object; --arg is laid over it")
	t.flags(f)
	return cmd
}

// toolError: the tool itself said that it failed.
type toolError struct{}

func (toolError) Error() string { return "the tool failed" }

func printResult(w io.Writer, r *client.ToolResult, output string) error {
	var err error
	if output == "json" {
		_, err = fmt.Fprintf(w, "%s\n", r.Raw)
	} else {
		err = toolcall.Print(w, r)
	}
	if err == nil && r.IsError {
		err = toolError{}
	}
	return err
}

func call(ctx context.Context, t target, name, raw string, pairs []string) (*client.ToolResult, error) {
	c, err := t.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	tools, err := c.ListTools(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tools, func(t client.Tool) bool { return t.Name == name })
	if i < 0 {
		return nil, usageError(fmt.Sprintf("there is no tool %q; there are: %s", name, names(tools)))
	}
	arguments, err := toolcall.Arguments(tools[i].InputSchema, raw, pairs)
	if wrong, ok := errors.AsType[*toolcall.ArgumentError](err); ok {
		return nil, usageError(wrong.Problem)
	}
	if err != nil {
		return nil, err
	}
	return c.CallTool(ctx, name, arguments)
}

// names are the first tools' for a person who mistyped one.
func names(tools []client.Tool) string {
	const most = 20
	var out []string
	for _, t := range tools[:min(len(tools), most)] {
		out = append(out, toolcall.Printable(t.Name))
	}
	if len(tools) > most {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// Command mcp-sidecar is the data plane of one McpServer pod: it speaks MCP to
// any client and forwards to the workload. Without a command it serves, which
// is what it does in a pod. On a laptop it serves a local server, and calls and
// inspects any.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/sidecar/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	// The first signal starts the drain, which is bounded; a second one ends
	// the process at once.
	context.AfterFunc(ctx, stop)
	err := command().ExecuteContext(ctx)
	stop()
	if code := report(os.Stderr, err); code != 0 {
		os.Exit(code)
	}
}

func command() *cobra.Command {
	level := new(slog.LevelVar)
	serve := serveCommand(level)
	root := &cobra.Command{
		Use:           "mcp-sidecar",
		Short:         "Speak MCP to any client in front of one workload",
		Long:          "Speak MCP to any client in front of one workload.\n\n" + exitCodes,
		Args:          arguments(cobra.NoArgs),
		RunE:          serve.RunE,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError(err.Error()) })
	root.PersistentFlags().TextVar(level, "log-level", level, "DEBUG, INFO, WARN or ERROR")
	root.AddCommand(serve, runCommand(level), agentCommand(), callCommand(), inspectCommand(), &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments(cobra.NoArgs),
		Run:   func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), app.Version()) },
	})
	return root
}

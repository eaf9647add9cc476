package main

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/sidecar/laptop"
)

// runCommand puts the sidecar in front of a server on this machine, without a
// cluster: the same code as in a pod.
func runCommand(level *slog.LevelVar) *cobra.Command {
	var o laptop.Options
	var stdio, relay bool
	cmd := &cobra.Command{
		Use:   "run (--stdio -- COMMAND [ARG...] | --http URL)",
		Short: "Serve a server on this machine, without a cluster",
		Long: `Serve a server on this machine, without a cluster.

With --stdio the command is started for every session and spoken to over its
pipes; with --http the server listens on this machine already. Either way any
client can use it at the URL that is printed once the server has answered.

Ctrl-C lets running requests finish and ends every process; a second one does
not wait.`,
		Example: `  mcp-sidecar run --stdio -- npx -y @modelcontextprotocol/server-everything
  mcp-sidecar run --http http://127.0.0.1:3000/mcp`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case stdio == (o.URL != ""):
				return usageError("run needs either --stdio or --http")
			case stdio && len(args) == 0:
				return usageError("--stdio needs a COMMAND after --")
			case !stdio && len(args) > 0:
				return usageError(fmt.Sprintf("%q: --http starts no command", args[0]))
			}
			if told := cmd.Flags().Changed("log-level"); !told {
				level.Set(slog.LevelError) // the screen and the notes say the rest
			} else if level.Level() < slog.LevelInfo {
				o.Verbose = true
			}
			o.Command, o.Agent = args, agentProcess(relay)
			o.Screen, o.Notes = cmd.OutOrStdout(), cmd.ErrOrStderr()
			o.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
			return laptop.Run(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&stdio, "stdio", false, "start COMMAND, a process per session")
	f.StringVar(&o.URL, "http", "", "forward to the MCP server at this URL of loopback")
	f.StringVar(&o.Listen, "listen", laptop.DefaultListen, "address to serve on; port 0 is a free one")
	f.DurationVar(&o.Startup, "startup", 0, "how long the server may take to answer first (default 2m for a command, 10s for a URL)")
	f.BoolVar(&o.ClientRoots, "client-roots", false, "ask clients of 2026-07-28 for their roots when the server wants them")
	f.BoolVar(&o.HTTPSSE, "http-sse", false, "serve HTTP+SSE of 2024-11-05 on the same URL too")
	f.StringVar(&o.Admin, "admin", "", "address for probes and status; empty: not served")
	f.StringVar(&o.Metrics, "metrics", "", "address for metrics; empty: not served")
	f.BoolVar(&relay, "test-relay", false, "for tests")
	_ = f.MarkHidden("test-relay") // fails for unknown names only
	return cmd
}

// agentProcess is this program as the owner of the commands of run.
func agentProcess(relay bool) func(socket string, command []string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return func(socket string, command []string) *exec.Cmd {
		args := []string{"agent", "--socket", socket, "--relay=" + strconv.FormatBool(relay), "--"}
		return exec.Command(self, append(args, command...)...)
	}
}

// agentCommand is what run starts; nobody else does.
func agentCommand() *cobra.Command {
	var socket string
	var relay bool
	cmd := &cobra.Command{
		Use:    "agent --socket PATH -- COMMAND [ARG...]",
		Short:  "Own the processes of run",
		Hidden: true,
		Args:   arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return laptop.ServeAgent(cmd.InOrStdin(), socket, args, relay, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&socket, "socket", "", "unix socket to listen on")
	cmd.Flags().BoolVar(&relay, "relay", false, "relay the streams of processes")
	_ = cmd.MarkFlagRequired("socket") // fails for unknown names only
	return cmd
}

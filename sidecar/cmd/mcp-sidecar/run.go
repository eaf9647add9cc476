package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/sidecar/agent/supervisor"
	"github.com/fairlead-dev/fairlead/sidecar/app"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/drain"
	"github.com/fairlead-dev/fairlead/sidecar/socket"
)

// laptop is what `run` is told.
type laptop struct {
	stdio                  bool
	port                   int
	path                   string
	listen, admin, metrics string
}

// runCommand puts the sidecar in front of a server on this machine, without a
// cluster: the same code as in a pod, with defaults for what the operator
// would say.
func runCommand(level *slog.LevelVar) *cobra.Command {
	var l laptop
	cmd := &cobra.Command{
		Use:   "run (--stdio -- COMMAND [ARG...] | --port PORT)",
		Short: "Serve a server on this machine, without a cluster",
		Example: `  mcp-sidecar run --stdio -- npx -y @modelcontextprotocol/server-everything
  mcp-sidecar run --port 3000 --path /mcp`,
		RunE: func(cmd *cobra.Command, args []string) error {
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
			return l.run(cmd.Context(), args, log)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&l.stdio, "stdio", false, "start COMMAND, a process per session")
	f.IntVar(&l.port, "port", 0, "forward to the streamable HTTP server on this loopback port")
	f.StringVar(&l.path, "path", config.DefaultMCPPath, "endpoint of the server on --port")
	f.StringVar(&l.listen, "listen", "127.0.0.1:17080", "address to serve on")
	f.StringVar(&l.admin, "admin", "", "address for probes and status; empty: not served")
	f.StringVar(&l.metrics, "metrics", "", "address for metrics; empty: not served")
	return cmd
}

func (l *laptop) run(ctx context.Context, command []string, log *slog.Logger) error {
	workload, err := l.workload(command)
	if err != nil {
		return err
	}
	boot := config.Boot{
		Version:          config.BootVersion,
		Server:           config.ServerRef{Namespace: "local", Name: "local", UID: "local"},
		Workload:         workload,
		Clocks:           config.NewClocks(config.DefaultDrainSeconds),
		ContractVersions: config.ContractVersions(),
	}
	_, hash, err := config.EncodeBoot(boot)
	if err != nil {
		return err
	}
	c := app.ForBoot(boot, hash)
	c.PodUID = "local"
	c.Public, c.Admin, c.Metrics = l.listen, l.admin, l.metrics
	c.LiveDir, c.KeysDir, c.HookSocket, c.AgentSocket = "", "", "", ""
	// No endpoints have to move, and nobody else takes over.
	c.Drain = drain.Clocks{Drain: c.Drain.Drain}
	c.Log = log
	if l.stdio {
		agent, err := startAgent(command)
		if err != nil {
			return err
		}
		defer agent.stop()
		c.AgentSocket = agent.socket
	}
	a, err := app.New(c, app.Proxy)
	if err != nil {
		return err
	}
	log.Info("serving", "url", "http://"+a.Address()+"/mcp")
	return a.Run(ctx)
}

func (l *laptop) workload(command []string) (config.Workload, error) {
	switch {
	case l.stdio == (l.port != 0):
		return config.Workload{}, errors.New("run needs either --stdio or --port")
	case l.stdio && len(command) == 0:
		return config.Workload{}, errors.New("--stdio needs a COMMAND after --")
	case l.stdio:
		s := config.DefaultStdio()
		return config.Workload{Type: config.WorkloadStdio, Stdio: &s}, nil
	case len(command) > 0:
		return config.Workload{}, fmt.Errorf("%q: --port starts no command", command[0])
	}
	return config.Workload{Type: config.WorkloadMCP, MCP: &config.MCP{Port: l.port, Path: l.path}}, nil
}

// localAgent is an agent in this process, where a pod has one in the
// workload's container.
type localAgent struct {
	socket string
	stop   func()
}

func startAgent(command []string) (*localAgent, error) {
	dir, err := os.MkdirTemp("", "fairlead-")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "agent.sock")
	l, err := socket.Listen(path)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	log := supervisor.NewLog(os.Stderr)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s := &supervisor.Supervisor{Command: command, Env: os.Environ(), Log: log}
		if err := s.Serve(ctx, l); err != nil {
			log.Printf("%v", err)
		}
	}()
	return &localAgent{socket: path, stop: func() {
		cancel()
		<-done
		log.Close(200 * time.Millisecond)
		_ = os.RemoveAll(dir)
	}}, nil
}

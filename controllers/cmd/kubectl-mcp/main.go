// Command kubectl-mcp is the kubectl plugin: put it on PATH and say
// `kubectl mcp`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/fairlead-dev/fairlead/controllers/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}

// Command manager is the operator: it makes pods, Services and the rest from
// McpServers. `manager --help` lists its flags.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/fairlead-dev/fairlead/controllers/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	code := app.Main(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

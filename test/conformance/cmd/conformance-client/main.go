// Command conformance-client is our client as the conformance suite runs it:
// the suite appends the URL of its server and names the scenario in the
// environment.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/test/conformance/client"
	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// patience bounds a scenario, should the suite not.
const patience = 25 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "conformance-client:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	fs := flag.NewFlagSet("conformance-client", flag.ContinueOnError)
	recording := fs.String("record", "", "file to record all messages in")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return errors.New("usage: conformance-client [-record FILE] URL")
	}
	t := &client.Task{
		Scenario: os.Getenv("MCP_CONFORMANCE_SCENARIO"),
		URL:      fs.Arg(0),
		Revision: os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"),
		Context:  []byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")),
		Log:      &record.Log{},
	}
	if *recording != "" {
		if t.Log, err = record.Create(*recording); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, t.Log.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return client.Run(ctx, t)
}

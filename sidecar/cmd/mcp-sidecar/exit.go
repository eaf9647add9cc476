package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/sidecar/laptop"
	"github.com/fairlead-dev/fairlead/sidecar/toolcall"
)

// The exit codes, the same for every command.
const (
	exitFailed   = 1 // this program could not do its part
	exitUsage    = 2 // the command line makes no sense
	exitWorkload = 3 // run: the server never answered as it should
	exitLint     = 4 // inspect --lint: a failure was found
	exitTool     = 5 // call: the tool says that it failed
	exitRefused  = 6 // call, inspect: the server answered with a protocol error
)

// exitCodes is the part of the help that tells them.
const exitCodes = `Exit codes: 0 done or stopped; 1 failed, e.g. the port is in use or nobody
answers; 2 usage; 3 run: the server could not be served; 4 inspect
--lint: a rule is broken; 5 call: the tool says that it failed; 6 call, inspect: the server answered with a protocol error.`

// usage is a command line that makes no sense.
type usage struct{ problem string }

func (e *usage) Error() string { return e.problem }

func usageError(problem string) error { return &usage{problem} }

// arguments makes what a validator finds a usage error.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError(err.Error())
		}
		return nil
	}
}

// report tells a person about an error and returns the exit code.
func report(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
		fmt.Fprintf(w, "mcp-sidecar: the server refused (%d): %s\n", rpc.Code, toolcall.Printable(rpc.Message))
		return exitRefused
	}
	fmt.Fprintln(w, "mcp-sidecar:", toolcall.Printable(err.Error()))
	if errors.Is(err, lintError{}) {
		return exitLint
	}
	if errors.Is(err, toolError{}) {
		return exitTool
	}
	if errors.Is(err, client.ErrInputRequired) {
		return exitRefused
	}
	if _, ok := errors.AsType[*laptop.WorkloadError](err); ok {
		return exitWorkload
	}
	if _, ok := errors.AsType[*laptop.UsageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*usage](err); ok {
		fmt.Fprintln(w, "See mcp-sidecar --help.")
		return exitUsage
	}
	return exitFailed
}

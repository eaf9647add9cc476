package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fairlead-dev/fairlead/sidecar/laptop"
)

// The exit codes, the same for every command.
const (
	exitFailed   = 1 // this program could not do its part
	exitUsage    = 2 // the command line makes no sense
	exitWorkload = 3 // run: the server never answered as it should
)

// exitCodes is the part of the help that tells them.
const exitCodes = `Exit codes: 0 done or stopped; 1 failed, e.g. the port is in use or nobody
answers; 2 usage; 3 run: the server could not be served.`

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
	fmt.Fprintln(w, "mcp-sidecar:", err)
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

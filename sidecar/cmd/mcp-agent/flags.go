package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Where the sockets are unless a flag says otherwise. The pod template always
// says (sidecar/config, which this program does not import to stay small).
const (
	defaultAgentSocket = "/fairlead/run/agent.sock"
	defaultHookSocket  = "/fairlead/run/hook.sock"
)

func newFlags(name string, stderr io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet("mcp-agent "+name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	return fs
}

// parse returns ok=false with the exit status when there is nothing to do.
func parse(fs *flag.FlagSet, args []string) (status int, ok bool) {
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK, false
	case err != nil: // said by Parse
		return exitUsage, false
	}
	return 0, true
}

func fail(stderr io.Writer, status int, format string, args ...any) int {
	fmt.Fprintf(stderr, "mcp-agent: "+format+"\n", args...)
	return status
}

// Command mcp-agent is what Fairlead puts into every pod beside a workload's
// own image: it installs itself, runs as PID 1 of a Stdio workload's
// container, and is both containers' preStop hook. It is static, needs no
// file besides itself, and no shell.
package main

import (
	"fmt"
	"io"
	"os"
)

const usage = `mcp-agent runs in a pod of Fairlead beside an MCP workload.

  mcp-agent install --to DIR
      copy this program to DIR/mcp-agent (the pod's init container)
  mcp-agent run [flags] -- COMMAND [ARG…]
      PID 1 of a Stdio workload: start COMMAND for each MCP session
  mcp-agent hook workload|sidecar [flags]
      preStop hook: ask the sidecar, wait until the kubelet may go on

mcp-agent COMMAND --help lists the flags.
`

// Exit statuses; those of hook are its own.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(command(os.Args[1:], os.Stderr))
}

func command(args []string, stderr io.Writer) int {
	name := ""
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "install":
		return install(args, stderr)
	case "run":
		return run(args, stderr)
	case "hook":
		return preStop(args, stderr)
	case "-h", "--help", "help":
		io.WriteString(stderr, usage)
		return exitOK
	}
	fmt.Fprintf(stderr, "mcp-agent: unknown command %.40q\n\n%s", name, usage)
	return exitUsage
}

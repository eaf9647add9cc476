package client

import (
	"context"
	"io"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/child"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// Command is a server that is a program, run as a child process in a group of
// its own and spoken to over its standard streams. It is started again when it
// ends, as Reconnect says (W18.8).
type Command struct {
	// Path is the program, Args what follows its name.
	Path string
	Args []string
	// Dir is the working directory, Env the environment; empty and nil mean
	// this process's own.
	Dir string
	Env []string
	// Stderr gets what the program writes there; nil drops it. Errors show the
	// end of it in any case.
	Stderr io.Writer
	// Grace is how long the program may take to end after its input closed,
	// and again after TERM [2 s].
	Grace time.Duration
}

// Binding implements Target.
func (Command) Binding() mcp.Binding { return mcp.Stdio }

// Dial implements Target.
func (c Command) Dial(_ context.Context, w Wiring) (peer.Link, error) {
	return child.Start(child.Config{
		Path: c.Path, Args: c.Args, Dir: c.Dir, Env: c.Env, Stderr: c.Stderr, Grace: c.Grace,
		MaxMessageBytes: w.MaxMessageBytes,
	})
}

// Memory is a server in this process: a func that makes the client's end of a
// new pair each time, e.g. of runtime/transport/memory.
type Memory func() peer.Link

// Binding implements Target; messages are framed as on pipes.
func (Memory) Binding() mcp.Binding { return mcp.Stdio }

// Dial implements Target.
func (m Memory) Dial(context.Context, Wiring) (peer.Link, error) { return m(), nil }

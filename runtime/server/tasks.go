package server

import (
	"context"
	"encoding/json"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// hasTasks reports whether calls may become tasks.
func (s *Server) hasTasks() bool { return false }

// taskCapability is the tasks capability of a revision, nil without one.
func (s *Server) taskCapability(mcp.Profile, string) json.RawMessage { return nil }

// callAsTask runs a tool call, as a task where both sides want that.
func (s *Server) callAsTask(c *Context, _ *toolEntry, invoke func(*Context) dispatch.Outcome) dispatch.Outcome {
	return invoke(c)
}

// serveTasks serves the methods of tasks.
func (s *Server) serveTasks(context.Context, *dispatch.Exchange) dispatch.Outcome {
	return unknownMethod()
}

// listenTasks tells a listener of tasks.
func (s *Server) listenTasks(context.Context, *dispatch.Exchange, []string, func(method string, params []byte) error) (honoured []string, stop func(), err *jsonrpc.Error) {
	return nil, func() {}, nil
}

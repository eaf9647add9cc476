package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/task/endpoint"
)

// hasTasks reports whether calls may become tasks.
func (s *Server) hasTasks() bool { return s.opt.Tasks != nil }

// tasks answers the requests about tasks.
func (s *Server) tasks() *endpoint.Endpoint {
	return &endpoint.Endpoint{Engine: s.opt.Tasks, PageSize: s.opt.PageSize, MaxListen: s.opt.MaxSubscriptions, Logger: s.opt.Logger}
}

func (s *Server) serveTasks(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	return s.tasks().Serve(ctx, x)
}

// taskCapability is the tasks capability of a revision, nil without one.
func (s *Server) taskCapability(p mcp.Profile, principal string) json.RawMessage {
	if !s.hasTasks() {
		return nil
	}
	return s.tasks().Capability(p, principal)
}

func (s *Server) taskError(x *dispatch.Exchange, err error) *jsonrpc.Error {
	return s.tasks().Error(x, err)
}

// callAsTask runs a tool call, as a task where both sides want that.
func (s *Server) callAsTask(c *Context, t *toolEntry, invoke func(*Context) dispatch.Outcome) dispatch.Outcome {
	if !s.hasTasks() {
		return invoke(c) // W35.3
	}
	support := t.tool.TaskSupport
	switch endpoint.KindOf(c.x.Profile()) {
	case endpoint.Modern: // the task member means nothing here (W36.5)
		switch {
		case support == "" || support == TaskForbidden:
			return invoke(c)
		case !endpoint.Declares(c.x) && support == TaskRequired:
			return endpoint.NeedsExtension()
		case !endpoint.Declares(c.x):
			return invoke(c)
		case t.tool.TaskLater:
			return s.callLater(c, invoke)
		}
		return s.startTask(c, task.Spec{}, support, invoke)
	case endpoint.Legacy:
		spec, wanted, refusal := augmented(c.x, support)
		switch {
		case refusal != nil:
			return dispatch.Fail(refusal)
		case !wanted:
			return invoke(c)
		}
		return s.startTask(c, spec, support, invoke)
	}
	if support == TaskRequired {
		return s.waitForTask(c, invoke)
	}
	return invoke(c)
}

// settled is the answer to a call whose outcome is known without running it:
// to a client that asked for a task, as one.
func (s *Server) settled(c *Context, t *toolEntry, o dispatch.Outcome) dispatch.Outcome {
	if !s.hasTasks() || endpoint.KindOf(c.x.Profile()) != endpoint.Legacy {
		return o
	}
	return s.callAsTask(c, t, func(*Context) dispatch.Outcome { return o })
}

// augmented reads the task member of a request of 2025-11-25 and holds it
// against what the tool says (W35.5, W35.6).
func augmented(x *dispatch.Exchange, support TaskSupport) (spec task.Spec, wanted bool, refusal *jsonrpc.Error) {
	spec, wanted, refusal = endpoint.Wanted(x.Msg.Params)
	switch {
	case wanted && (support == "" || support == TaskForbidden):
		return spec, true, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "this tool does not run as a task")
	case !wanted && support == TaskRequired:
		return spec, false, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "this tool only runs as a task")
	}
	return spec, wanted, refusal
}

// startTask makes the task and answers with it. A call that need not be a task
// runs as an ordinary one where no task can be had, because the store cannot be
// used or has no room: there is never a task that was not kept (W36.8).
func (s *Server) startTask(c *Context, spec task.Spec, support TaskSupport, invoke func(*Context) dispatch.Outcome) dispatch.Outcome {
	made, err := s.runAsTask(c, spec, invoke)
	modern := endpoint.KindOf(c.x.Profile()) == endpoint.Modern
	if err != nil && modern && support == TaskOptional && !errors.Is(err, task.ErrClosed) {
		return invoke(c)
	}
	if err != nil {
		return dispatch.Fail(s.taskError(c.x, err))
	}
	if modern {
		return dispatch.Result(made.ModernCreate())
	}
	return dispatch.Result(made.LegacyCreate())
}

// listenTasks has a listener told of tasks; see endpoint.Endpoint.Listen.
func (s *Server) listenTasks(ctx context.Context, x *dispatch.Exchange, ids []string, send func(method string, params []byte) error) (honoured []string, stop func(), bad *jsonrpc.Error) {
	if !s.hasTasks() && endpoint.Declares(x) {
		return nil, func() {}, nil
	}
	return s.tasks().Listen(ctx, x, ids, send)
}

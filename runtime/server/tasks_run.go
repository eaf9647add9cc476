package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/task/endpoint"
)

// Task is the task that the handler runs as; nil when it runs as an ordinary
// request. In a task everything else of a Context works as before: what Elicit,
// Sample and Roots ask makes the task input_required, and Progress sets its
// status message.
func (c *Context) Task() *task.Handle { return c.task }

// runAsTask starts a task whose work is invoke.
func (s *Server) runAsTask(c *Context, spec task.Spec, invoke func(*Context) dispatch.Outcome) (task.Task, error) {
	return s.opt.Tasks.Start(c.Context, endpoint.OwnerOf(c.x), s.taskSpec(c, spec), func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
		run := c.fork(ctx)
		run.becomes(h)
		return invoke(run)
	})
}

func (s *Server) taskSpec(c *Context, spec task.Spec) task.Spec {
	spec.Method = c.x.Msg.Method
	if endpoint.KindOf(c.x.Profile()) == endpoint.Legacy && c.x.Session() != nil {
		session := c.x.Session()
		spec.Changed = func(t task.Task) {
			// A session that has ended, or that nobody listens on, hears nothing:
			// no requestor may rely on it (W35.20).
			_ = session.Notify(jsonrpc.EncodeNotification(mcp.NotifyTaskStatus, t.Legacy()))
		}
	}
	return spec
}

// becomes turns the ways to the client into those that a task has.
func (c *Context) becomes(h *task.Handle) {
	c.task = h
	c.later = nil
	c.ask = askInTask(h)
	c.sender = c.sendFromTask
}

// askInTask asks by way of the task, whatever the era (W35.10, W36.10).
func askInTask(h *task.Handle) asker {
	return func(ctx context.Context, key, method string, params []byte) (json.RawMessage, error) {
		answers, err := h.Ask(ctx, task.Question{Name: key, Method: method, Params: params})
		switch {
		case err == nil:
		case ctx.Err() != nil, h.Context().Err() != nil:
			return nil, err
		default:
			return nil, task.RPC(err) // nothing of the store is the client's business
		}
		if refusal := answers[0].Err; refusal != nil {
			return nil, &ClientError{Code: refusal.Code, Message: refusal.Message, Data: refusal.Data}
		}
		return answers[0].Result, nil
	}
}

// sendFromTask is the sender of a task. In 2025-11-25 it goes the session's own
// way, because the request has been answered, and says which task it belongs to
// (W6.11, W20.6). The extension has nothing of the kind (W20.7).
func (c *Context) sendFromTask(method string, params []byte) error {
	session := c.x.Session()
	switch {
	case endpoint.KindOf(c.x.Profile()) != endpoint.Legacy:
		return nil
	case session == nil || c.task.Context().Err() != nil:
		return dispatch.ErrNoChannel
	}
	params = task.Relate(params, c.task.ID())
	return session.Notify(jsonrpc.EncodeNotification(method, strictjson.OneLine(params)))
}

// callFromTask is Call in a task.
func (c *Context) callFromTask(method string, params []byte) (json.RawMessage, error) {
	if bad := dispatch.MayCall(c.x.Profile(), c.x.ClientCapabilities(), method, params); bad != nil {
		if bad.Reason() == mcp.ReasonNoCapability {
			return nil, &CapabilityError{Capability: capabilityFor(method)}
		}
		return nil, &ClientError{Code: bad.Code, Message: bad.Message, Data: bad.Data}
	}
	return c.ask(c.Context, "call", method, params)
}

// waitForTask serves a tool that only runs as a task to a client whose revision
// has none: the client waits for its end, as for any other call. The task ends
// with the call if the client cancels it, and goes on if it only went away.
func (s *Server) waitForTask(c *Context, invoke func(*Context) dispatch.Outcome) dispatch.Outcome {
	owner := endpoint.OwnerOf(c.x)
	made, err := s.runAsTask(c, task.Spec{}, invoke)
	if err != nil {
		return dispatch.Fail(s.taskError(c.x, err))
	}
	done, err := s.opt.Tasks.Result(c.Context, owner, made.ID, endpoint.Carry(c.x, ""))
	if cause := context.Cause(c.Context); cause != nil {
		if errors.Is(cause, dispatch.ErrCancelled) {
			_, _ = s.opt.Tasks.Cancel(context.WithoutCancel(c.Context), owner, made.ID, "")
		}
		return dispatch.Fail(dispatch.Explain(cause))
	}
	if err != nil {
		return dispatch.Fail(s.taskError(c.x, err))
	}
	return done.Final()
}

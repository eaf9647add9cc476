package proxy

import (
	"context"
	"encoding/json"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/task/endpoint"
)

// Tasks of clients are always ours, whatever the workload knows of tasks: one
// engine keeps them, their ids are sealed for one principal, and what the
// workload has to do is a call like any other, or a task of its own that
// nobody but us sees.

// desk answers what clients ask about their tasks; Config.Tasks is set.
func (p *Proxy) taskDesk() *endpoint.Endpoint { return &endpoint.Endpoint{Engine: p.cfg.Tasks} }

// offersTasks reports whether clients of a revision may ask for a tools/call to
// run as a task (B12.1); those of the extension never ask.
func (p *Proxy) offersTasks(profile mcp.Profile) bool {
	return p.cfg.Tasks != nil && endpoint.KindOf(profile) == endpoint.Legacy
}

// taskCapability is the tasks capability that a session is told, nil for none.
func (p *Proxy) taskCapability(revision, principal string) json.RawMessage {
	profile, ok := mcp.Lookup(revision)
	if !ok || !p.offersTasks(profile) {
		return nil
	}
	return p.taskDesk().Capability(profile, principal)
}

// taskMethod serves the methods about tasks.
func (p *Proxy) taskMethod(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	if p.cfg.Tasks == nil {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found"))
	}
	return p.taskDesk().Serve(ctx, x)
}

// asked makes a task of a request that asks for one (B12.2) and answers with
// it; the zero Outcome means that the request does not ask. The task outlives
// request and connection; run is called once.
func (p *Proxy) asked(ctx context.Context, x *dispatch.Exchange, run task.Run) dispatch.Outcome {
	spec, wanted, bad := endpoint.Wanted(x.Msg.Params)
	switch {
	case bad != nil:
		return dispatch.Fail(bad)
	case !wanted:
		return dispatch.Outcome{}
	}
	spec.Method = x.Msg.Method
	session := x.Session()
	spec.Changed = func(t task.Task) {
		// Nobody may rely on it (W35.20), and a session may have ended.
		_ = session.Notify(jsonrpc.EncodeNotification(mcp.NotifyTaskStatus, t.Legacy()))
	}
	made, err := p.cfg.Tasks.Start(ctx, endpoint.OwnerOf(x), spec, run)
	if err != nil {
		return dispatch.Fail(task.RPC(err))
	}
	return dispatch.Result(made.LegacyCreate())
}

// taskAsk puts a question of the workload to the client by way of the task: it
// becomes input_required until the answer is in (B12.4, B12.15).
func taskAsk(ctx context.Context, h *task.Handle, name, method string, params []byte) dispatch.Outcome {
	answers, err := h.Ask(ctx, task.Question{Name: name, Method: method, Params: params})
	if err != nil {
		return dispatch.Fail(task.RPC(err))
	}
	return answers[0]
}

// taskStatus makes the text of a progress notification the task's status
// message (B12.14).
func taskStatus(h *task.Handle, m *jsonrpc.Message) {
	raw, _ := strictjson.Get(m.Params, "message")
	if text, ok := strictjson.String(raw); ok && text != "" {
		h.Status(text)
	}
}

// tellOfTask passes progress and logs of a task's work on in the session's own
// way, because the request has been answered, and says which task they belong
// to (W6.11, W20.6). The text of progress is its status message as well.
func tellOfTask(s dispatch.Session, h *task.Handle, m *jsonrpc.Message, raw []byte) error {
	if m.Method == mcp.NotifyProgress {
		taskStatus(h, m)
	}
	id := append(strictjson.Quote([]byte(`{"taskId":`), h.ID()), '}')
	out, err := strictjson.Splice(raw, strictjson.Set(id, "params", "_meta", mcp.MetaRelatedTask))
	if err != nil {
		return err
	}
	return s.Notify(out)
}

// taskTools says of every tool of a list that it may run as a task (B12.1).
func taskTools(list []byte) []byte {
	tools, _ := strictjson.Get(list, "tools")
	out := []byte{'['}
	good := strictjson.Elements(tools, func(tool []byte) bool {
		if with, err := strictjson.Splice(tool, strictjson.Set([]byte(`{"taskSupport":"optional"}`), "execution")); err == nil {
			tool = with
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, tool...)
		return true
	})
	with, err := strictjson.Splice(list, strictjson.Set(append(out, ']'), "tools"))
	if err != nil || !good {
		return list
	}
	return with
}

package server

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// tasking is what a revision knows of tasks.
type tasking uint8

const (
	noTasks     tasking = iota
	legacyTasks         // of 2025-11-25: the client says `task` (W35)
	modernTasks         // the extension: the server decides (W36.3)
)

func taskingOf(p mcp.Profile) tasking {
	m, ok := p.Method(mcp.MethodTasksGet)
	switch {
	case !ok:
		return noTasks
	case m.Extension == "":
		return legacyTasks
	}
	return modernTasks
}

// hasTasks reports whether calls may become tasks.
func (s *Server) hasTasks() bool { return s.opt.Tasks != nil }

// taskCapability is the tasks capability of a revision, nil without one. The
// extension is never declared by it (W36.1, W36.21); who cannot be told from
// others is not offered the list (W35.17).
func (s *Server) taskCapability(p mcp.Profile, principal string) json.RawMessage {
	if !s.hasTasks() || taskingOf(p) != legacyTasks {
		return nil
	}
	if !s.opt.Tasks.CanList(task.Owner{Principal: principal}) {
		return json.RawMessage(`{"cancel":{},"requests":{"tools":{"call":{}}}}`)
	}
	return json.RawMessage(`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`)
}

// ownerOf is whose tasks an exchange may see.
func ownerOf(x *dispatch.Exchange) task.Owner {
	return task.Owner{Principal: x.Principal(), Bucket: x.Bucket()}
}

// declaresTasks reports whether this very request declares the extension; the
// tasks capability of 2025-11-25 is no declaration of it (W36.2).
func declaresTasks(x *dispatch.Exchange) bool {
	return broken.Rule("W36.2") || mcp.DeclaresExtension(x.ClientCapabilities(), mcp.ExtensionTasks)
}

// needsExtension refuses who did not declare the extension (W36.4, W36.15).
func needsExtension() dispatch.Outcome {
	return dispatch.Fail(&jsonrpc.Error{
		Code:    mcp.CodeMissingCapability,
		Message: "the client did not declare the tasks extension",
		Data:    []byte(`{"requiredCapabilities":{"extensions":{"` + mcp.ExtensionTasks + `":{}}}}`),
	})
}

// callAsTask runs a tool call, as a task where both sides want that.
func (s *Server) callAsTask(c *Context, t *toolEntry, invoke func(*Context) dispatch.Outcome) dispatch.Outcome {
	if !s.hasTasks() {
		return invoke(c) // W35.3
	}
	support := t.tool.TaskSupport
	switch taskingOf(c.x.Profile()) {
	case modernTasks: // the task member means nothing here (W36.5)
		switch {
		case support == "" || support == TaskForbidden:
			return invoke(c)
		case !declaresTasks(c.x) && support == TaskRequired:
			return needsExtension()
		case !declaresTasks(c.x):
			return invoke(c)
		case t.tool.TaskLater:
			return s.callLater(c, invoke)
		}
		return s.startTask(c, task.Spec{}, support, invoke)
	case legacyTasks:
		spec, wanted, refusal := s.augmented(c.x, support)
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
	if !s.hasTasks() || taskingOf(c.x.Profile()) != legacyTasks {
		return o
	}
	return s.callAsTask(c, t, func(*Context) dispatch.Outcome { return o })
}

// augmented reads the task member of a request of 2025-11-25 and holds it
// against what the tool says (W35.5, W35.6).
func (s *Server) augmented(x *dispatch.Exchange, support TaskSupport) (spec task.Spec, wanted bool, refusal *jsonrpc.Error) {
	raw, ok := strictjson.Get(x.Msg.Params, "task")
	wanted = ok && !strictjson.IsNull(raw)
	switch {
	case wanted && (support == "" || support == TaskForbidden):
		return spec, true, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "this tool does not run as a task")
	case !wanted && support == TaskRequired:
		return spec, false, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "this tool only runs as a task")
	case !wanted:
		return spec, false, nil
	case !strictjson.IsObject(raw):
		return spec, true, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "task must be an object")
	}
	ttl, ok := strictjson.Get(raw, "ttl")
	if !ok || strictjson.IsNull(ttl) {
		return spec, true, nil
	}
	spec.TTL, ok = wish(ttl)
	if !ok {
		return spec, true, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "task.ttl must be a number of milliseconds")
	}
	return spec, true, nil
}

// wish reads a requested time to live. Any number that is not negative will do;
// what cannot be granted is granted as far as it can (W35.12).
func wish(raw []byte) (time.Duration, bool) {
	var ms float64
	if err := json.Unmarshal(raw, &ms); err != nil || ms < 0 {
		return 0, false
	}
	const most = float64(1<<63-1) / float64(time.Millisecond) / 2
	return max(time.Duration(min(ms, most)*float64(time.Millisecond)), 1), true
}

// startTask makes the task and answers with it. A call that need not be a task
// runs as an ordinary one where no task can be had, because the store cannot be
// used or has no room: there is never a task that was not kept (W36.8).
func (s *Server) startTask(c *Context, spec task.Spec, support TaskSupport, invoke func(*Context) dispatch.Outcome) dispatch.Outcome {
	made, err := s.runAsTask(c, spec, invoke)
	modern := taskingOf(c.x.Profile()) == modernTasks
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

// taskError words an error of the engine and logs what the client is not told.
func (s *Server) taskError(x *dispatch.Exchange, err error) *jsonrpc.Error {
	if errors.Is(err, task.ErrStore) {
		s.opt.Logger.Error("the task store cannot be used", "method", x.Msg.Method, "error", err)
	}
	return task.RPC(err)
}

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
)

// serveTasks serves the methods of tasks; the taskId of the parameters counts
// and nothing else (W35.23).
func (s *Server) serveTasks(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	modern := taskingOf(x.Profile()) == modernTasks
	if modern && !declaresTasks(x) {
		return needsExtension() // W36.15
	}
	if x.Msg.Method == mcp.MethodTasksList {
		return s.listTasks(ctx, x)
	}
	raw, _ := strictjson.Get(x.Msg.Params, "taskId")
	id, ok := strictjson.String(raw)
	if !ok {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the taskId is missing"))
	}
	switch x.Msg.Method {
	case mcp.MethodTasksGet:
		return s.getTask(ctx, x, id, modern)
	case mcp.MethodTasksCancel:
		return s.cancelTask(ctx, x, id, modern)
	case mcp.MethodTasksResult:
		return s.taskResult(ctx, x, id)
	case mcp.MethodTasksUpdate:
		return s.updateTask(ctx, x, id)
	}
	return unknownMethod()
}

func (s *Server) getTask(ctx context.Context, x *dispatch.Exchange, id string, modern bool) dispatch.Outcome {
	t, err := s.opt.Tasks.Get(ctx, ownerOf(x), id)
	switch {
	case err != nil:
		return dispatch.Fail(s.taskError(x, err))
	case modern:
		return dispatch.Result(t.ModernGet())
	}
	return dispatch.Result(t.Legacy())
}

// cancelTask serves tasks/cancel. A task that is over is an error in 2025-11-25
// (W35.15) and nothing special in the extension (W36.14).
func (s *Server) cancelTask(ctx context.Context, x *dispatch.Exchange, id string, modern bool) dispatch.Outcome {
	t, err := s.opt.Tasks.Cancel(ctx, ownerOf(x), id, "")
	switch {
	case modern && (err == nil || errors.Is(err, task.ErrOver)):
		return empty()
	case err != nil:
		return dispatch.Fail(s.taskError(x, err))
	}
	return dispatch.Result(t.Legacy())
}

// taskResult serves tasks/result: it waits, carries the task's questions to the
// client meanwhile, and gives what the request would have given (W35.13).
func (s *Server) taskResult(ctx context.Context, x *dispatch.Exchange, id string) dispatch.Outcome {
	t, err := s.opt.Tasks.Result(ctx, ownerOf(x), id, carryOn(x, id))
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return dispatch.Fail(dispatch.Explain(cause))
		}
		return dispatch.Fail(s.taskError(x, err))
	}
	o := t.Final()
	if o.Err == nil {
		o.Result = task.Relate(o.Result, t.ID)
	}
	return o
}

type taskList struct {
	Tasks []json.RawMessage `json:"tasks"`
	Next  string            `json:"nextCursor,omitempty"`
}

// listTasks serves tasks/list (W35.16, W35.17).
func (s *Server) listTasks(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	owner := ownerOf(x)
	if !s.opt.Tasks.CanList(owner) {
		return unknownMethod()
	}
	cursor := ""
	if raw, ok := strictjson.Get(x.Msg.Params, "cursor"); ok && !strictjson.IsNull(raw) {
		if cursor, ok = strictjson.String(raw); !ok || cursor == "" { // we never give an empty one
			return dispatch.Fail(task.RPC(task.ErrCursor))
		}
	}
	tasks, next, err := s.opt.Tasks.List(ctx, owner, cursor, s.opt.PageSize)
	if err != nil {
		return dispatch.Fail(s.taskError(x, err))
	}
	out := taskList{Tasks: make([]json.RawMessage, len(tasks)), Next: next}
	for i := range tasks {
		out.Tasks[i] = tasks[i].Legacy()
	}
	return s.encoded(encode(out))
}

// updateTask serves tasks/update: answers to what the task asks. What is shaped
// wrongly is refused as a whole and stays asked, so that the client can do
// better (W32.11, B7.6); what nobody asked is ignored (W36.13).
func (s *Server) updateTask(ctx context.Context, x *dispatch.Exchange, id string) dispatch.Outcome {
	raw, _ := strictjson.Get(x.Msg.Params, "inputResponses")
	answers := map[string]jsonrpc.Outcome{}
	if !strictjson.Each(raw, func(key, value []byte) bool {
		answers[string(key)] = jsonrpc.Result(value)
		return true
	}) {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "inputResponses must be an object"))
	}
	owner := ownerOf(x)
	t, err := s.opt.Tasks.Get(ctx, owner, id)
	if err != nil {
		return dispatch.Fail(s.taskError(x, err))
	}
	for i := range t.Inputs {
		in := &t.Inputs[i]
		if answer, given := answers[in.Key]; given {
			if err := checkAnswer(in.Method, answer.Result); err != nil {
				return dispatch.Fail(badAnswer(in.Key, err))
			}
		}
	}
	if _, err := s.opt.Tasks.Answer(ctx, owner, id, answers); err != nil {
		if errors.Is(err, task.ErrInputs) {
			return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "an input response is too large"))
		}
		return dispatch.Fail(s.taskError(x, err))
	}
	return empty()
}

// checkAnswer holds the shape of an answer against the kind of its question.
// Whether it fits the very question is for the handler to see, when it reads
// it.
func checkAnswer(method string, answer []byte) error {
	if !strictjson.IsObject(answer) {
		return errors.New("it is no object")
	}
	member := func(name string) []byte { raw, _ := strictjson.Get(answer, name); return raw }
	isText := func(raw []byte) bool { _, ok := strictjson.String(raw); return ok }
	switch method {
	case mcp.MethodElicit:
		action, _ := strictjson.String(member("action"))
		switch Action(action) {
		case Accept, Decline, Cancel:
		default:
			return errors.New("the action must be accept, decline or cancel")
		}
		if content := member("content"); content != nil && !strictjson.IsObject(content) && !strictjson.IsNull(content) {
			return errors.New("the content must be an object")
		}
	case mcp.MethodCreateMessage:
		if content := member("content"); !isText(member("role")) || !isText(member("model")) || !strictjson.IsObject(content) && !strictjson.IsArray(content) {
			return errors.New("it is no answer of a model")
		}
	case mcp.MethodRootsList:
		if !strictjson.IsArray(member("roots")) {
			return errors.New("it is no list of roots")
		}
	}
	return nil
}

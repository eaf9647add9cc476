package endpoint

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

// Serve serves the methods of tasks; the taskId of the parameters counts
// and nothing else (W35.23).
func (e *Endpoint) Serve(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	modern := KindOf(x.Profile()) == Modern
	if modern && !Declares(x) {
		return NeedsExtension() // W36.15
	}
	if x.Msg.Method == mcp.MethodTasksList {
		return e.listTasks(ctx, x)
	}
	raw, _ := strictjson.Get(x.Msg.Params, "taskId")
	id, ok := strictjson.String(raw)
	if !ok {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the taskId is missing"))
	}
	switch x.Msg.Method {
	case mcp.MethodTasksGet:
		return e.getTask(ctx, x, id, modern)
	case mcp.MethodTasksCancel:
		return e.cancelTask(ctx, x, id, modern)
	case mcp.MethodTasksResult:
		return e.taskResult(ctx, x, id)
	case mcp.MethodTasksUpdate:
		return e.updateTask(ctx, x, id)
	}
	return unknownMethod()
}

func (e *Endpoint) getTask(ctx context.Context, x *dispatch.Exchange, id string, modern bool) dispatch.Outcome {
	t, err := e.Engine.Get(ctx, OwnerOf(x), id)
	switch {
	case err != nil:
		return dispatch.Fail(e.Error(x, err))
	case modern:
		return dispatch.Result(t.ModernGet())
	}
	return dispatch.Result(t.Legacy())
}

// cancelTask serves tasks/cancel. A task that is over is an error in 2025-11-25
// (W35.15) and nothing special in the extension (W36.14).
func (e *Endpoint) cancelTask(ctx context.Context, x *dispatch.Exchange, id string, modern bool) dispatch.Outcome {
	t, err := e.Engine.Cancel(ctx, OwnerOf(x), id, "")
	switch {
	case modern && (err == nil || errors.Is(err, task.ErrOver)):
		return empty()
	case err != nil:
		return dispatch.Fail(e.Error(x, err))
	}
	return dispatch.Result(t.Legacy())
}

// taskResult serves tasks/result: it waits, carries the task's questions to the
// client meanwhile, and gives what the request would have given (W35.13).
func (e *Endpoint) taskResult(ctx context.Context, x *dispatch.Exchange, id string) dispatch.Outcome {
	t, err := e.Engine.Result(ctx, OwnerOf(x), id, Carry(x, id))
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return dispatch.Fail(dispatch.Explain(cause))
		}
		return dispatch.Fail(e.Error(x, err))
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
func (e *Endpoint) listTasks(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	owner := OwnerOf(x)
	if !e.Engine.CanList(owner) {
		return unknownMethod()
	}
	cursor := ""
	if raw, ok := strictjson.Get(x.Msg.Params, "cursor"); ok && !strictjson.IsNull(raw) {
		if cursor, ok = strictjson.String(raw); !ok || cursor == "" { // we never give an empty one
			return dispatch.Fail(task.RPC(task.ErrCursor))
		}
	}
	tasks, next, err := e.Engine.List(ctx, owner, cursor, e.PageSize)
	if err != nil {
		return dispatch.Fail(e.Error(x, err))
	}
	out := taskList{Tasks: make([]json.RawMessage, len(tasks)), Next: next}
	for i := range tasks {
		out.Tasks[i] = tasks[i].Legacy()
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "internal error"))
	}
	return dispatch.Result(raw)
}

// updateTask serves tasks/update: answers to what the task asks. What is shaped
// wrongly is refused as a whole and stays asked, so that the client can do
// better (W32.11, B7.6); what nobody asked is ignored (W36.13).
func (e *Endpoint) updateTask(ctx context.Context, x *dispatch.Exchange, id string) dispatch.Outcome {
	raw, _ := strictjson.Get(x.Msg.Params, "inputResponses")
	answers := map[string]jsonrpc.Outcome{}
	if !strictjson.Each(raw, func(key, value []byte) bool {
		answers[string(key)] = jsonrpc.Result(value)
		return true
	}) {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "inputResponses must be an object"))
	}
	owner := OwnerOf(x)
	t, err := e.Engine.Get(ctx, owner, id)
	if err != nil {
		return dispatch.Fail(e.Error(x, err))
	}
	for i := range t.Inputs {
		in := &t.Inputs[i]
		if answer, given := answers[in.Key]; given {
			if err := CheckAnswer(in.Method, answer.Result); err != nil {
				return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the answer to %.100q is not valid: %s", in.Key, err))
			}
		}
	}
	if _, err := e.Engine.Answer(ctx, owner, id, answers); err != nil {
		if errors.Is(err, task.ErrInputs) {
			return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "an input response is too large"))
		}
		return dispatch.Fail(e.Error(x, err))
	}
	return empty()
}

// CheckAnswer holds the shape of an answer against the kind of its question.
// Whether it fits the very question is for the handler to see, when it reads
// it.
func CheckAnswer(method string, answer []byte) error {
	if !strictjson.IsObject(answer) {
		return errors.New("it is no object")
	}
	member := func(name string) []byte { raw, _ := strictjson.Get(answer, name); return raw }
	isText := func(raw []byte) bool { _, ok := strictjson.String(raw); return ok }
	switch method {
	case mcp.MethodElicit:
		action, _ := strictjson.String(member("action"))
		switch action {
		case "accept", "decline", "cancel":
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

func empty() dispatch.Outcome { return dispatch.Result([]byte(`{}`)) }

func unknownMethod() dispatch.Outcome {
	return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found"))
}

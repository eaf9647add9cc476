package proxy

import (
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/task/endpoint"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Tasks of a modern workload stay its own. But it cannot tell whose they are,
// because the sidecar ends authentication; so clients get ids that stand for
// the workload's and open for their owner alone (B12, B0.6). Nothing is kept.

// stands makes the id that stands for one of the workload's.
func (p *Proxy) stands(x *dispatch.Exchange, id string) ([]byte, error) {
	token, err := p.cfg.Keys.SealPassed(seal.Passed{Pod: p.cfg.Pod, ID: id}, x.Principal())
	if err != nil {
		return nil, err
	}
	return strictjson.Quote(nil, token), nil
}

// standsFor is the workload's id that a client's stands for.
func (p *Proxy) standsFor(x *dispatch.Exchange, id string) (string, bool) {
	passed, err := p.cfg.Keys.OpenPassed(id, x.Principal())
	return passed.ID, err == nil
}

// mmAbout turns the task that a request is about into the workload's. Who does
// not declare the extension, or asks for somebody else's task, is refused here
// (W36.15).
func (p *Proxy) mmAbout(x *dispatch.Exchange, conv upstream.Conversation) ([]strictjson.Edit, *jsonrpc.Error) {
	switch {
	case !mcp.DeclaresExtension(conv.Discovered().Capabilities, mcp.ExtensionTasks):
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found")
	case !endpoint.Declares(x):
		return nil, endpoint.NeedsExtension().Err
	}
	raw, _ := strictjson.Get(x.Msg.Params, "taskId")
	text, ok := strictjson.String(raw)
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the taskId is missing")
	}
	id, ok := p.standsFor(x, text)
	if !ok {
		return nil, task.RPC(task.ErrUnknown)
	}
	return []strictjson.Edit{strictjson.Set(strictjson.Quote(nil, id), "taskId")}, nil
}

// mmShown gives a result about a task the id that the client knows it by.
func mmShown(x *dispatch.Exchange, raw []byte) []strictjson.Edit {
	if _, has := strictjson.Get(raw, "taskId"); !has || !aboutTasks(x) {
		return nil
	}
	id, _ := strictjson.Get(x.Msg.Params, "taskId")
	return []strictjson.Edit{strictjson.Set(id, "taskId")}
}

// mmCreated gives a new task the id that its client will know it by.
func (p *Proxy) mmCreated(x *dispatch.Exchange, raw []byte) ([]strictjson.Edit, *jsonrpc.Error) {
	if x.Msg.Method != mcp.MethodToolsCall || !mcp.DeclaresExtension(x.ClientCapabilities(), mcp.ExtensionTasks) {
		return nil, unknownKind().Err
	}
	id, _ := strictjson.Get(raw, "taskId")
	text, _ := strictjson.String(id)
	if text == "" {
		return nil, badResponse().Err
	}
	stands, err := p.stands(x, text)
	if err != nil {
		return nil, internal("the workload's task cannot be named", mcp.ReasonOverflow)
	}
	return []strictjson.Edit{strictjson.Set(stands, "taskId")}, nil
}

// mmTasks are the tasks of one subscriptions/listen: the clients' ids by the
// workload's.
type mmTasks map[string][]byte

// mmFilter turns the tasks that a listen names into the workload's. What means
// nothing to the caller is left out (W33.4).
func (p *Proxy) mmFilter(x *dispatch.Exchange) (tasks mmTasks, edits []strictjson.Edit, bad *jsonrpc.Error) {
	ids, bad := taskIDs(x)
	if ids == nil || bad != nil {
		return nil, nil, bad
	}
	tasks = mmTasks{}
	list := []byte{'['}
	for _, text := range ids {
		id, ok := p.standsFor(x, text)
		if !ok || tasks[id] != nil {
			continue
		}
		tasks[id] = strictjson.Quote(nil, text)
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = strictjson.Quote(list, id)
	}
	return tasks, []strictjson.Edit{strictjson.Set(append(list, ']'), "notifications", "taskIds")}, nil
}

// honoured is what the workload acknowledges, with the ids that the client
// knows.
func (t mmTasks) honoured(raw []byte) []byte {
	ids, has := strictjson.Get(raw, "taskIds")
	if !has {
		return raw
	}
	list := []byte{'['}
	strictjson.Elements(ids, func(one []byte) bool {
		id, _ := strictjson.String(one)
		if known := t[id]; known != nil {
			if len(list) > 1 {
				list = append(list, ',')
			}
			list = append(list, known...)
		}
		return true
	})
	out, err := strictjson.Splice(raw, strictjson.Set(append(list, ']'), "taskIds"))
	if err != nil {
		return []byte("{}")
	}
	return out
}

// told is a notification about a task with the id that the client knows; nil
// for a task that this listener did not name.
func (t mmTasks) told(raw []byte) []byte {
	id, _ := strictjson.GetPath(raw, "params", "taskId")
	text, _ := strictjson.String(id)
	known := t[text]
	if known == nil {
		return nil
	}
	out, err := strictjson.Splice(raw, strictjson.Set(known, "params", "taskId"))
	if err != nil {
		return nil
	}
	return out
}

// maxListened bounds the tasks of one subscription.
const maxListened = 256

// taskIDs are the tasks that a subscriptions/listen names, nil for none
// (W33.2, W33.10).
func taskIDs(x *dispatch.Exchange) ([]string, *jsonrpc.Error) {
	raw, has := strictjson.GetPath(x.Msg.Params, "notifications", "taskIds")
	switch {
	case !has, strictjson.IsNull(raw):
		return nil, nil
	case !endpoint.Declares(x):
		return nil, endpoint.NeedsExtension().Err
	}
	ids, fine := []string{}, strictjson.IsArray(raw)
	strictjson.Elements(raw, func(one []byte) bool {
		id, isText := strictjson.String(one)
		fine = fine && isText
		ids = append(ids, id)
		return fine && len(ids) <= maxListened
	})
	switch {
	case !fine:
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "taskIds must be an array of task ids")
	case len(ids) > maxListened:
		return nil, internal("too many tasks in one listen", mcp.ReasonBusy)
	}
	return ids, nil
}

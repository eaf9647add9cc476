// Package endpoint answers the requests of clients about tasks from an engine,
// for both eras: tasks/get, tasks/result, tasks/list and tasks/cancel of
// 2025-11-25 (W35), tasks/get, tasks/update and tasks/cancel of the extension
// (W36), and what subscriptions/listen says of tasks. A server that runs tasks
// and a proxy that makes tasks of somebody else's calls use the same one.
//
// It owns how these requests are read and what they are answered with. It must
// not know what runs as a task, or how results are completed for a revision.
package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// Endpoint answers for the tasks of Engine, which is required. All methods may
// be called concurrently.
type Endpoint struct {
	Engine *task.Engine
	// PageSize is how many tasks a page of tasks/list has; 0 means the
	// engine's own number.
	PageSize int
	// MaxListen bounds the tasks that one subscriptions/listen follows; 0
	// means none.
	MaxListen int
	// Logger is told when the store cannot be used; nil means nobody is.
	Logger *slog.Logger
}

// Kind is what a revision knows of tasks.
type Kind uint8

// The kinds.
const (
	None   Kind = iota
	Legacy      // of 2025-11-25: the client says `task` (W35)
	Modern      // the extension: the server decides (W36.3)
)

// KindOf is the kind of a revision.
func KindOf(p mcp.Profile) Kind {
	m, ok := p.Method(mcp.MethodTasksGet)
	switch {
	case !ok:
		return None
	case m.Extension == "":
		return Legacy
	}
	return Modern
}

// OwnerOf is whose tasks an exchange may see.
func OwnerOf(x *dispatch.Exchange) task.Owner {
	return task.Owner{Principal: x.Principal(), Bucket: x.Bucket()}
}

// Declares reports whether this very request declares the extension; the
// tasks capability of 2025-11-25 is no declaration of it (W36.2).
func Declares(x *dispatch.Exchange) bool {
	return broken.Rule("W36.2") || mcp.DeclaresExtension(x.ClientCapabilities(), mcp.ExtensionTasks)
}

// NeedsExtension refuses who did not declare the extension (W36.4, W36.15).
func NeedsExtension() dispatch.Outcome {
	return dispatch.Fail(&jsonrpc.Error{
		Code:    mcp.CodeMissingCapability,
		Message: "the client did not declare the tasks extension",
		Data:    []byte(`{"requiredCapabilities":{"extensions":{"` + mcp.ExtensionTasks + `":{}}}}`),
	})
}

// Capability is the tasks capability of a revision, nil without one. The
// extension is never declared by it (W36.1, W36.21); who cannot be told from
// others is not offered the list (W35.17).
func (e *Endpoint) Capability(p mcp.Profile, principal string) json.RawMessage {
	switch {
	case KindOf(p) != Legacy:
		return nil
	case !e.Engine.CanList(task.Owner{Principal: principal}):
		return json.RawMessage(`{"cancel":{},"requests":{"tools":{"call":{}}}}`)
	}
	return json.RawMessage(`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`)
}

// Error words an error of the engine and logs what the client is not told.
func (e *Endpoint) Error(x *dispatch.Exchange, err error) *jsonrpc.Error {
	if errors.Is(err, task.ErrStore) && e.Logger != nil {
		e.Logger.Error("the task store cannot be used", "method", x.Msg.Method, "error", err)
	}
	return task.RPC(err)
}

// Named reports whether params have the member that asks for a task; Wanted says
// what is in it.
func Named(params []byte) bool {
	if !bytes.Contains(params, []byte("task")) && bytes.IndexByte(params, '\\') < 0 {
		return false // the usual case, without a scan
	}
	_, ok := strictjson.Get(params, "task")
	return ok
}

// Wanted reads the task member of a request of 2025-11-25: whether there is
// one, and the time to live that it wishes.
func Wanted(params []byte) (spec task.Spec, wanted bool, refusal *jsonrpc.Error) {
	raw, ok := strictjson.Get(params, "task")
	switch {
	case !ok || strictjson.IsNull(raw):
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

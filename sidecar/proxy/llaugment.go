package proxy

import (
	"context"
	"slices"
	"strconv"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// capTaskCalls is what a workload of 2025-11-25 says whose tools run as tasks.
const capTaskCalls = mcp.CapTasks + ".requests.tools.call"

// augmented says what is known of a call that may run as a task of the
// workload's own. The zero value knows nothing.
type augmented struct {
	// known: the workload's list names the tool.
	known bool
	// asTask: it is called as one at once (B12.7).
	asTask bool
	// made is told of the task before its result is asked for, which it may
	// delay. What it returns, if not nil, gets what the workload says of the
	// task meanwhile.
	made func(t theirs) (shown func(theirs))
}

// callTool makes a request of a legacy workload, a tools/call as a task of the
// workload's own where it has to be or shall be one, and waits for its result
// (B12.7, B12.8). What the task asks comes while its result is waited for, and
// belongs to the same call (B12.10). A call that is refused for being one or
// for being none has not run: it is made the other way, once (B16).
func (p *Proxy) callTool(ctx context.Context, leg upstream.Leg, r peer.Request, a augmented) (peer.Answer, error) {
	if r.Method != mcp.MethodToolsCall || !capTaskCalls.Declared(leg.Init().Capabilities) {
		return p.call(ctx, leg, r)
	}
	answer, refused, err := p.callEither(ctx, leg, r, a)
	if !refused {
		return answer, err
	}
	raw, _ := strictjson.Get(r.Params, "name")
	if name, ok := strictjson.String(raw); ok && a.known {
		p.tools.forget(name) // the list says otherwise, or has changed
	}
	a.asTask = !a.asTask
	if answer, refused, err = p.callEither(ctx, leg, r, a); refused && a.known {
		answer.Err = retired(answer.Err)
	}
	return answer, err
}

// callEither makes the call one way; refused says that it may do better the
// other way.
func (p *Proxy) callEither(ctx context.Context, leg upstream.Leg, r peer.Request, a augmented) (answer peer.Answer, refused bool, err error) {
	if a.asTask {
		return p.callAsTask(ctx, leg, r, a)
	}
	answer, err = p.call(ctx, leg, r)
	return answer, err == nil && refusesForm(answer.Err), err
}

// refusesForm: so a workload refuses a call that should have been made as a
// task, or should not have been (W35.4, W35.5, W35.6).
func refusesForm(e *jsonrpc.Error) bool {
	return e != nil && (e.Code == jsonrpc.CodeMethodNotFound || e.Code == jsonrpc.CodeInvalidRequest)
}

// callAsTask has the workload make a task of the call and waits for its result.
// The task does not outlive the wait: when ctx ends the workload is told (B12.13).
func (p *Proxy) callAsTask(ctx context.Context, leg upstream.Leg, r peer.Request, a augmented) (answer peer.Answer, refused bool, err error) {
	r.Edits = slices.DeleteFunc(slices.Clone(r.Edits), func(e strictjson.Edit) bool { return e.Path[0] == "task" })
	wish := append(strconv.AppendInt([]byte(`{"ttl":`), task.DefaultTTL.Milliseconds(), 10), '}')
	r.Edits = append(r.Edits, strictjson.Set(wish, "task"))
	r.Lasting = r.Token != nil
	// What is being made when nobody waits any more must be known to be ended.
	making, stop := lingering(ctx)
	answer, err = p.call(making, leg, r)
	stop()
	if answer.Call != nil {
		defer answer.Call.Release()
	}
	if err != nil || answer.Err != nil {
		return answer, err == nil && refusesForm(answer.Err), err
	}
	made, _ := strictjson.Get(answer.Result, "task")
	t, ok := readTheirs(made)
	if !ok {
		return answer, false, nil // it has answered after all
	}
	var shown func(theirs)
	if a.made != nil && ctx.Err() == nil {
		shown = a.made(t)
	}
	if ctx.Err() == nil {
		answer, err = p.theirResult(ctx, leg, r, t, shown)
	}
	if cause := context.Cause(ctx); cause != nil {
		p.forget(ctx, leg, t)
		return peer.Answer{}, false, cause
	}
	return answer, false, err
}

// lingering is a context that ends a little after ctx.
func lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if pause(out, goodbye) == nil {
			cancel(context.Cause(ctx))
		}
	})
	return out, func() { stop(); cancel(context.Canceled) }
}

// forget tells the workload that nobody waits for its task any more (B12.13);
// it may be over.
func (p *Proxy) forget(ctx context.Context, leg upstream.Leg, t theirs) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer stop()
	_, _ = p.call(ctx, leg, peer.Request{Method: mcp.MethodTasksCancel, Params: t.about()})
}

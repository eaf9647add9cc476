package proxy

import (
	"context"
	"slices"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// capTaskCalls is what a workload of 2025-11-25 says whose tools run as tasks.
const capTaskCalls = mcp.CapTasks + ".requests.tools.call"

// callTool makes a request of a legacy workload. A tool that only runs as a
// task of the workload's own refuses a plain call, so it has not run; it is
// then called as one, and waited for (B12.7, B12.8). The client sees none of
// it: what the task asks comes while its result is waited for, and belongs to
// the same call (B12.10).
func (p *Proxy) callTool(ctx context.Context, leg upstream.Leg, r peer.Request) (peer.Answer, error) {
	answer, err := p.call(ctx, leg, r)
	if r.Method != mcp.MethodToolsCall || err != nil || answer.Err == nil || answer.Err.Code != jsonrpc.CodeMethodNotFound ||
		!capTaskCalls.Declared(leg.Init().Capabilities) {
		return answer, err
	}
	again := r
	again.Edits = slices.DeleteFunc(slices.Clone(r.Edits), func(e strictjson.Edit) bool { return e.Path[0] == "task" })
	again.Edits = append(again.Edits, strictjson.Set([]byte(`{}`), "task"))
	if answer, err = p.call(ctx, leg, again); err != nil || answer.Err != nil {
		return answer, err
	}
	id, ok := strictjson.GetPath(answer.Result, "task", "taskId")
	if !ok {
		return answer, nil // it has answered after all
	}
	about := append(append([]byte(`{"taskId":`), id...), '}')
	answer, err = p.call(ctx, leg, peer.Request{Method: mcp.MethodTasksResult, Params: about, Value: r.Value})
	if err != nil && ctx.Err() != nil {
		p.forget(ctx, leg, about)
	}
	// The id means nothing to the client (B12.14).
	if _, has := strictjson.GetPath(answer.Result, "_meta", mcp.MetaRelatedTask); has {
		if bare, err := strictjson.Splice(answer.Result, strictjson.Delete("_meta", mcp.MetaRelatedTask)); err == nil {
			answer.Result = bare
		}
	}
	return answer, err
}

// forget tells the workload that nobody waits for its task any more (B12.13).
func (p *Proxy) forget(ctx context.Context, leg upstream.Leg, about []byte) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer stop()
	_, _ = p.call(ctx, leg, peer.Request{Method: mcp.MethodTasksCancel, Params: about}) // it may be over
}

package proxy

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task/endpoint"
)

// mlFollow has a listener told of the tasks that it names: they are ours,
// whatever runs them, so that no leg is needed (W36.16). It returns those that
// mean something to the caller, nil if none was named, and what ends it.
func (p *Proxy) mlFollow(ctx context.Context, x *dispatch.Exchange, h *hearer) (tasks []string, stop func(), bad *jsonrpc.Error) {
	stop = func() {}
	ids, bad := taskIDs(x)
	if bad != nil || ids == nil || !p.mlTakesTasks(ctx, x) {
		return nil, stop, bad
	}
	e := &endpoint.Endpoint{Engine: p.cfg.Tasks, MaxListen: maxListened}
	tasks, stop, bad = e.Listen(ctx, x, ids, func(method string, params []byte) error {
		h.tell(jsonrpc.EncodeNotification(method, params))
		return nil
	})
	if tasks == nil {
		tasks = []string{} // named, but none of the caller's (W33.4)
	}
	return tasks, stop, bad
}

// appendTasks adds the tasks to what is honoured, an object that is being
// written.
func (w *wanted) appendTasks(b []byte) []byte {
	if len(w.tasks) == 0 {
		return b
	}
	b = append(comma(b), `"taskIds":[`...)
	for i, id := range w.tasks {
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.Quote(b, id)
	}
	return append(b, ']')
}

// hearTasks serves a subscription to tasks alone.
func (p *Proxy) hearTasks(ctx context.Context, h *hearer, want wanted) dispatch.Outcome {
	if h.acknowledge(append(want.appendTasks([]byte{'{'}), '}')) != nil {
		return dispatch.Fail(internal("nothing can be sent on this request", mcp.ReasonNoChannel))
	}
	<-ctx.Done()
	return h.over(ctx)
}

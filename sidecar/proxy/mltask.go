package proxy

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/task/endpoint"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/park"
)

// mlOffersTasks reports whether calls of modern clients may become tasks.
func (p *Proxy) mlOffersTasks() bool { return p.cfg.Tasks != nil && p.cfg.Promote > 0 }

// promotes reports whether this request may become one.
func (p *Proxy) promotes(x *dispatch.Exchange) bool {
	return p.mlOffersTasks() && x.Msg.Method == mcp.MethodToolsCall && endpoint.Declares(x)
}

func aboutTasks(x *dispatch.Exchange) bool {
	m, _ := x.Profile().Method(x.Msg.Method)
	return m.Extension == mcp.ExtensionTasks
}

// mlTasks serves the methods of the extension.
func (p *Proxy) mlTasks(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	o := p.taskMethod(ctx, x)
	if _, has := strictjson.Get(o.Result, "resultType"); o.Err != nil || has {
		return o
	}
	out, err := strictjson.Splice(o.Result, strictjson.Set([]byte(`"complete"`), "resultType"))
	if err != nil {
		return badResponse()
	}
	return dispatch.Result(out)
}

// promote makes a task of a call that has taken long and returns what its
// request is answered with: the call goes on, and only its answer comes another
// way (B12.15). nil means that the call goes on as it was: it is just ending,
// or asking, or no task can be had.
func (p *Proxy) promote(ctx context.Context, f *flight, x *dispatch.Exchange, c *park.Claim) []byte {
	if created := f.promoted(); created != nil {
		return created // to a request that repeats one (P20)
	}
	b := &becoming{f: f, known: make(chan struct{})}
	if !c.Detach(b.ask) {
		return nil
	}
	defer close(b.known)
	handles := make(chan *task.Handle, 1)
	made, err := p.cfg.Tasks.Start(ctx, endpoint.OwnerOf(x), task.Spec{Method: x.Msg.Method}, func(ctx context.Context, h *task.Handle) dispatch.Outcome {
		handles <- h
		turn, err := c.Wait(ctx)
		// A call that wants a page to be visited first cannot be made again.
		return p.turned(ctx, x, f, nil, maxVisits, turn, err)
	})
	if err != nil {
		c.Attach()
		return nil
	}
	b.h = <-handles
	return f.becomes(b.h, made.ModernCreate())
}

// becoming is where questions go that the workload asks while its call becomes
// a task, and from then on.
type becoming struct {
	f     *flight
	known chan struct{} // closed when h is set, or stays nil
	h     *task.Handle
}

func (b *becoming) ask(ctx context.Context, q park.Question) ([]byte, *jsonrpc.Error) {
	select {
	case <-b.known:
	case <-ctx.Done():
		return park.Abandoned(q.Method)
	}
	if b.h == nil {
		return b.f.exchange.Ask(ctx, q)
	}
	if bad := b.f.may(q.Method, q.Params); bad != nil { // B7.15
		b.f.exchange.Fail(bad)
		return nil, bad
	}
	name := q.Hint
	if name == "" {
		name = park.Kind(q.Method)
	}
	answers, err := b.h.Ask(ctx, task.Question{Name: name, Method: q.Method, Params: q.Params})
	if err != nil {
		return park.Abandoned(q.Method) // the task is over, or asks too much
	}
	return answers[0].Result, answers[0].Err
}

// promoted is what the flight's request was answered with when it became a
// task, nil unless it has.
func (f *flight) promoted() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.created
}

// becomes makes the call that of a task. The newest progress that nobody has
// seen is the task's.
func (f *flight) becomes(h *task.Handle, created []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.task, f.created = h, created
	if f.progress != nil {
		taskStatus(h, f.progress.Msg)
		f.progress = nil
	}
	return created
}

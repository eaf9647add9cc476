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

// mlOffersTasks reports whether modern clients are offered tasks before a
// workload of these capabilities: calls that take long become some, and calls
// that the workload itself runs as tasks do (B12.9, B12.15).
func (p *Proxy) mlOffersTasks(capabilities []byte) bool {
	return p.cfg.Tasks != nil && mcp.CapTools.Declared(capabilities) && (p.cfg.Promote > 0 || capTaskCalls.Declared(capabilities))
}

// promotes reports whether the answer to this request may be a task.
func (p *Proxy) promotes(x *dispatch.Exchange) bool {
	return p.cfg.Tasks != nil && x.Msg.Method == mcp.MethodToolsCall && endpoint.Declares(x)
}

// mlTakesTasks is mlOffersTasks for a request about tasks, whose workload may
// not be known yet.
func (p *Proxy) mlTakesTasks(ctx context.Context, x *dispatch.Exchange) bool {
	if p.cfg.Tasks == nil || p.cfg.Promote > 0 {
		return p.cfg.Tasks != nil
	}
	key := p.keyOf(x)
	in, known := p.parking.inits.get(key.Capabilities)
	if !known {
		lease, err := p.cfg.Workload.Instance(ctx, key)
		if err != nil {
			return true // what there is can be asked about
		}
		defer lease.Release()
		in = lease.Init()
		p.parking.inits.put(key.Capabilities, in)
	}
	return p.mlOffersTasks(in.Capabilities)
}

// mlLacks refuses a call of a tool that cannot do without a capability, where
// the client does not have it; "tasks" is the extension (W36.4).
func (p *Proxy) mlLacks(x *dispatch.Exchange, c mcp.Capability) *jsonrpc.Error {
	switch {
	case c == mcp.CapTasks && p.cfg.Tasks != nil && !endpoint.Declares(x):
		return endpoint.NeedsExtension().Err
	case c == mcp.CapTasks, c.Declared(x.ClientCapabilities()):
		return nil
	}
	return lacking(c)
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

// promote makes a task of a call and returns what its request is answered with:
// the call goes on, and only its answer comes another way (B12.15); ready says
// that it is there. nil means that the call goes on as it was: it is just
// ending, or asking, or no task can be had.
func (p *Proxy) promote(ctx context.Context, f *flight, x *dispatch.Exchange, c *park.Claim, ready bool) []byte {
	f.own.promoting.Lock()
	defer f.own.promoting.Unlock()
	if created := f.promoted(); created != nil {
		return created // to a request that repeats one (P20)
	}
	b := &becoming{f: f, known: make(chan struct{})}
	if !ready && !c.Detach(b.ask) {
		return nil
	}
	defer close(b.known)
	theirs := f.theirs()
	spec := task.Spec{Method: x.Msg.Method, TTL: theirs.ttl, Poll: theirs.poll, Message: theirs.message}
	handles := make(chan *task.Handle, 1)
	made, err := p.cfg.Tasks.Start(ctx, endpoint.OwnerOf(x), spec, func(ctx context.Context, h *task.Handle) dispatch.Outcome {
		handles <- h
		return p.mlRun(ctx, x, h, f, c)
	})
	if err != nil {
		c.Attach()
		return nil
	}
	b.h = <-handles
	return f.becomes(b.h, made.ModernCreate())
}

// answeredBy puts what a flight asks to the client by way of a task.
func answeredBy(f *flight, h *task.Handle) park.Ask {
	b := &becoming{f: f, known: make(chan struct{}), h: h}
	close(b.known)
	return b.ask
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

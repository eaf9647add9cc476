package proxy

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/older"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/park"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// stillThere spaces the progress that tells a waiting workload that its
// question is still with the client (B7.13).
const stillThere = 15 * time.Second

// flight is a call of the workload that may outlive the request it was made
// for: the Handler of what belongs to it. Requests of the client come and go
// (B7.9).
type flight struct {
	p        *Proxy
	lease    upstream.Lease
	exchange *park.Exchange
	habit    string
	asked    atomic.Bool // the workload has asked for something
	own      *ownTask
	visits   int // how often the request has been sent to a page (B7.19)

	// Guarded by desk.mu.
	mixed  bool   // it could not be told from others
	lost   bool   // its client has given it up
	making bool   // the workload is making a task of it
	taskID string // that the workload gave it

	mu       sync.Mutex
	x        *dispatch.Exchange // nil while no request waits
	declared []byte             // of the last one
	progress *peer.Incoming     // the newest that had no carrier (B7.14)
	task     *task.Handle       // what the call has become, nil for none
	created  []byte             // what the request was answered with then
}

// bind makes a request of the client the one that gets what belongs to the
// call. The newest progress that it missed comes first.
func (f *flight) bind(x *dispatch.Exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.x, f.declared = x, x.ClientCapabilities()
	if missed := f.progress; missed != nil {
		f.progress = nil
		missed.MayWait = false // what comes next waits for the lock
		f.deliver(x, *missed)
	}
}

// unbind: the request has ended.
func (f *flight) unbind(x *dispatch.Exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.x == x {
		f.x = nil
	}
}

// may says why the flight's client cannot be asked something, nil if it can.
func (f *flight) may(method string, params []byte) *jsonrpc.Error {
	f.mu.Lock()
	declared := f.declared
	f.mu.Unlock()
	return mayAsk(declared)(method, params)
}

// Request implements peer.Handler: the question goes to the client when its
// round is full; the answer comes with a later request (B7).
func (f *flight) Request(ctx context.Context, in peer.Incoming) ([]byte, *jsonrpc.Error) {
	f.asked.Store(true)
	if f.own != nil && f.own.asTask {
		select {
		case <-f.own.decided:
		case <-ctx.Done():
		}
	}
	f.mu.Lock()
	q := mlQuestion(in.Msg, f.declared)
	f.mu.Unlock()
	if token, ok := strictjson.Get(in.Msg.Meta, mcp.MetaProgressToken); ok {
		waiting, stop := context.WithCancel(ctx)
		defer stop()
		go f.reassure(waiting, token)
	}
	result, bad := f.exchange.Ask(ctx, q)
	if bad == nil && q.Method == mcp.MethodCreateMessage {
		p, _ := mcp.Lookup(f.lease.Init().Revision)
		var ok bool
		if result, ok = older.Sampled(p, result); !ok {
			f.p.lossy(LossyAnswer)
			return nil, internal("the client's answer cannot be said in this revision", mcp.ReasonNotInRevision)
		}
	}
	return result, bad
}

// reassure keeps the clock of the workload's own handler from running out.
func (f *flight) reassure(ctx context.Context, token []byte) {
	t := time.NewTicker(stillThere)
	defer t.Stop()
	for n := 1; ; n++ {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		params := append(append([]byte(`{"progressToken":`), token...), `,"progress":`...)
		if f.lease.Notify(ctx, mcp.NotifyProgress, append(append(params, codeText(int64(n))...), '}')) != nil {
			return
		}
	}
}

// Notification implements peer.Handler.
func (f *flight) Notification(in peer.Incoming) {
	f.mu.Lock()
	x := f.x
	if f.task != nil {
		defer f.mu.Unlock()
		if in.Msg.Method == mcp.NotifyProgress {
			taskStatus(f.task, in.Msg) // B12.14
		}
		return
	}
	if x == nil {
		if in.Msg.Method == mcp.NotifyProgress {
			f.progress = &in
		}
		f.mu.Unlock()
		if in.Msg.Method != mcp.NotifyProgress {
			f.p.lossy(LossyLog) // B7.14
		}
		return
	}
	f.mu.Unlock()
	f.deliver(x, in)
}

// deliver gives a notification to the request that waits, under its own
// progress token (B7.9).
func (f *flight) deliver(x *dispatch.Exchange, in peer.Incoming) {
	if in.Msg.Method == mcp.NotifyProgress {
		token := x.ProgressToken()
		if token == nil {
			return // it wants none
		}
		raw, err := strictjson.Splice(in.Msg.Raw, strictjson.Set(token, "params", "progressToken"))
		if err != nil {
			return
		}
		m, err := jsonrpc.Parse(raw, strictjson.FromWorkload)
		if err != nil {
			return
		}
		in.Msg = m
	}
	(&modernCall{p: f.p, x: x}).Notification(in)
}

// lacks implements caller (B7.15).
func (f *flight) lacks(m *jsonrpc.Message) {
	if bad := f.may(m.Method, m.Params); bad != nil {
		f.exchange.Fail(bad)
	}
}

// withdrew ends the call for a request of the workload that the last request of
// its client no longer declared (B7.9, B7.15), and returns what the workload is
// told.
func (f *flight) withdrew(m *jsonrpc.Message) *jsonrpc.Error {
	f.lacks(m)
	f.mu.Lock()
	defer f.mu.Unlock()
	if bad := mlUndeclared(f.declared, m); bad != nil {
		return bad
	}
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "no client request to attach this to")
}

// fly makes a client's request a flight on a leg of its key and waits for its
// first turn.
func (p *Proxy) fly(ctx context.Context, x *dispatch.Exchange, name []byte, answers park.Answers, visits int) (*flight, park.Turn, error) {
	f, refused, err := p.launch(ctx, x, name, answers, nil)
	if err != nil || refused != nil {
		return f, park.Turn{Err: refused}, err
	}
	f.visits = visits
	turn, err := p.await(ctx, f, x, f.exchange.First())
	return f, turn, err
}

// launch begins a flight on a leg of the client's key. With h it is a task's
// from the start: what belongs to it goes there. A refusal comes with the
// flight, an error without.
func (p *Proxy) launch(ctx context.Context, x *dispatch.Exchange, name []byte, answers park.Answers, h *task.Handle) (*flight, *jsonrpc.Error, error) {
	f := &flight{p: p, habit: habit(x.Msg.Method, x.Msg.Params), declared: x.ClientCapabilities(), task: h}
	if h == nil {
		f.x = x
	}
	key := p.keyOf(x)
	alone := p.parking.habits.alone(f.habit, key.Principal == "")
	lane, give, err := p.parking.lanes.take(key, alone)
	if err != nil {
		return nil, nil, err
	}
	lane.Any = !alone
	lease, err := p.cfg.Workload.Instance(ctx, lane)
	if err != nil {
		give()
		return nil, nil, err
	}
	f.lease = lease
	release := func() { lease.Release(); give() }
	if refused := gate(x, lease.Init()); refused != nil {
		release()
		return f, refused, nil
	}
	d := p.deskOf(ctx, lease, lane)
	tool, known := p.toolOf(ctx, x, lease)
	f.own = newOwnTask(tool.asksFirst, p.asTask(x, tool))
	// The call outlives the request, but not its own end.
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	f.exchange = p.parking.parked.Begin(park.Begin{
		Owner:   x.Bucket(),
		Digest:  name,
		Answers: answers,
		May:     mayAsk(x.ClientCapabilities()),
		Cancel:  cancel,
		Value:   f,
	})
	if h != nil {
		f.exchange.First().Detach(answeredBy(f, h))
		f.own.decide()
	}
	if err := d.enter(ctx, f); err != nil {
		cancel(err)
		release()
		return nil, nil, err
	}
	p.raise(ctx, x, lease)
	r := request(x, f)
	r.GivenUp = d.ghost(f, lease)
	how := f.augment(life, d, known, p.promotes(x))
	go func() {
		defer cancel(nil)
		answer, err := p.callTool(life, lease.Leg, r, how)
		d.forsake(f, lease, err)
		release()
		if err == nil && answer.Err == nil && !f.asked.Load() {
			p.parking.habits.wasSilent(f.habit)
		}
		f.exchange.Finish(park.Final{Answer: answer, Err: err})
	}()
	return f, nil, nil
}

// await waits for a turn with x as the request that gets what belongs to it.
// Where the client takes tasks, the request is answered with one as soon as the
// workload has made one of the call, unless that is to ask in rounds first, or
// when it takes long (B12.9, B12.15).
func (p *Proxy) await(ctx context.Context, f *flight, x *dispatch.Exchange, c *park.Claim) (park.Turn, error) {
	defer f.unbind(x)
	defer f.own.decide()
	if !p.promotes(x) {
		f.own.decide()
		return c.Wait(ctx)
	}
	if created := f.promoted(); created != nil {
		return park.Turn{Instead: created}, nil // P20
	}
	made, rounds := f.own.made, f.own.asksFirst && c.First()
	if rounds {
		f.own.decide()
		made = nil
	}
	for {
		turn, over, err := c.WaitFor(ctx, p.cfg.Promote, made)
		// What was to ask first has asked: its answer is a task's, be it ready.
		ready := over && f.own.asksFirst && !rounds && turn.Final != nil
		if over && !ready {
			return turn, err
		}
		if turn.Instead = p.promote(ctx, f, x, c, ready); turn.Instead != nil || ready {
			return turn, nil
		}
		f.own.decide()
		made = nil
	}
}

// raise sets the log level that a request asks for. A refusal costs the logs
// and not the request (B11.1).
func (p *Proxy) raise(ctx context.Context, x *dispatch.Exchange, lease upstream.Lease) {
	if level := x.LogLevel(); level != "" && mcp.CapLogging.Declared(lease.Init().Capabilities) {
		_ = lease.Level().Raise(ctx, lease.Leg, level)
	}
}

// unsent reports whether a flight ended before the workload knew of it, or read
// only, so that it may begin again (B0.5, B3.8).
func (f *flight) unsent(method string, t park.Turn) bool {
	return t.Final != nil && t.Final.Err != nil && !f.asked.Load() && repeatable(method, t.Final.Err) && !errors.Is(t.Final.Err, park.ErrAbandoned)
}

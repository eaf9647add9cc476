package task

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// job is one task that runs in this process: a goroutine for the work, and a
// supervisor that alone writes what the work says and watches the record for
// what others say.
type job struct {
	e       *Engine
	key     string
	spec    Spec
	handle  *Handle
	cancel  context.CancelCauseFunc
	outcome chan jsonrpc.Outcome // one place
	over    atomic.Bool          // the outcome is not waited for any more

	// Of the supervisor.
	seen    uint64 // Record.Changes that Changed was told
	flushed time.Time
	later   *time.Timer // writes a status message that came too early
	expire  *time.Timer
	expires time.Time
}

func (e *Engine) begin(ctx context.Context, r Record, spec Spec, run Run) {
	ctx, cancel := context.WithCancelCause(ctx)
	j := &job{e: e, key: r.Key, spec: spec, cancel: cancel, outcome: make(chan jsonrpc.Outcome, 1), seen: r.Changes, expires: r.Expires}
	j.handle = &Handle{job: j, ctx: ctx, id: r.Token, dirty: make(chan struct{}, 1)}
	go j.work(run)
	go j.supervise()
}

func (j *job) work(run Run) {
	defer j.e.active.Done()
	defer func() { <-j.e.running }()
	j.outcome <- j.call(run)
	if j.over.Load() {
		j.e.o.Observer.Drop(hook.DropLate)
	}
}

func (j *job) call(run Run) (o jsonrpc.Outcome) {
	switch fine := fence.Call(j.e.o.Observer.Panic, func() { o = run(j.handle.ctx, j.handle) }); {
	case !fine:
		o = jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "internal error"))
	case o.IsZero():
		o = jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "no answer"))
	}
	return o
}

// supervise runs until the task is over, one way or another.
func (j *job) supervise() {
	defer j.e.active.Done()
	wake, stop := j.e.o.Notifier.Watch(j.key)
	defer stop()
	j.expire = time.NewTimer(j.expires.Sub(j.e.o.Now()))
	defer j.expire.Stop()
	j.later = time.NewTimer(0)
	j.later.Stop()
	defer j.later.Stop()
	again, stopAgain := j.e.rounds()
	defer stopAgain()
	for {
		if !j.look() {
			return
		}
		select {
		case o := <-j.outcome:
			j.finish(o)
			return
		case <-wake:
		case <-again:
			j.renew()
		case <-j.handle.dirty:
			j.flush()
		case <-j.later.C:
			j.flush()
		case <-j.expire.C:
			// The next look says so.
		case <-j.e.base.Done():
			j.shutdown()
			return
		}
	}
}

// rounds ticks as often as a supervisor looks by itself: to hear what it was
// not told, and to renew its lease in time.
func (e *Engine) rounds() (<-chan time.Time, func()) {
	every := e.o.Refresh
	if third := e.o.Lease / 3; third > 0 && (every <= 0 || third < every) {
		every = third
	}
	if every <= 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(every)
	return ticker.C, ticker.Stop
}

// end ends the work's context; its outcome is not wanted any more.
func (j *job) end(cause error) {
	j.over.Store(true)
	j.cancel(cause)
}

// look reads what others made of the task; false means that it is over.
func (j *job) look() bool {
	r, err := j.e.load(context.WithoutCancel(j.handle.ctx), j.key)
	switch {
	case errors.Is(err, ErrUnknown):
		j.end(ErrExpired)
		return false
	case err != nil:
		return true // the next look may succeed; the work goes on
	}
	j.tell(&r)
	if r.Status.Terminal() {
		cause := ErrCancelled
		if r.Status != Cancelled {
			cause = ErrExpired // others took it for abandoned
		}
		j.end(cause)
		return false
	}
	if !r.Expires.Equal(j.expires) {
		j.expires = r.Expires
		j.expire.Reset(r.Expires.Sub(j.e.o.Now()))
	}
	return true
}

// tell reports a change to who started the task.
func (j *job) tell(r *Record) {
	if j.spec.Changed == nil || r.Changes <= j.seen {
		return
	}
	j.seen = r.Changes
	fence.Call(j.e.o.Observer.Panic, func() { j.spec.Changed(taskOf(r)) })
}

// renew keeps the lease.
func (j *job) renew() {
	if j.e.o.Lease <= 0 {
		return
	}
	now := j.e.o.Now()
	_, _ = j.e.change(context.WithoutCancel(j.handle.ctx), j.key, func(r *Record) error {
		if r.Lease.Sub(now) > j.e.o.Lease*2/3 {
			return errUnchanged
		}
		r.Lease = now.Add(j.e.o.Lease)
		return nil
	}) // a failure shows in the next look, or is made up for by the next try
}

// flush writes the status message, not too often.
func (j *job) flush() {
	if wait := j.e.o.StatusEvery - time.Since(j.flushed); !j.flushed.IsZero() && wait > 0 {
		j.later.Reset(wait)
		return
	}
	p := j.handle.take()
	if p.empty() {
		return
	}
	j.flushed = time.Now()
	_, err := j.e.change(context.WithoutCancel(j.handle.ctx), j.key, func(r *Record) error {
		before := *r
		p.apply(j.e, r)
		if !visible(&before, r) {
			return errUnchanged
		}
		return nil
	})
	if errors.Is(err, ErrStore) {
		j.handle.restore(p) // tried again when the next may be written
	}
}

// finish keeps the outcome, for as long as it takes while the task lives.
func (j *job) finish(o jsonrpc.Outcome) {
	defer j.end(context.Canceled)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(j.handle.ctx))
	defer cancel(nil)
	defer context.AfterFunc(j.e.base, func() { cancel(ErrClosed) })()
	ctx, stop := context.WithTimeout(ctx, max(j.expires.Sub(j.e.o.Now()), time.Second))
	defer stop()
	r, err := j.e.insist(ctx, j.key, j.e.ending(j.handle.take(), o))
	if errors.Is(err, ErrFull) {
		o = jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "the task store cannot take the result").WithReason(ReasonTooLarge))
		r, err = j.e.insist(ctx, j.key, j.e.ending(patch{}, o))
	}
	if err != nil {
		j.e.o.Observer.Drop(hook.DropLate) // cancelled or gone meanwhile, or the store never came back
		if !errors.Is(err, ErrOver) {
			return
		}
	}
	j.tell(&r)
}

// ending is the change that makes a task terminal.
func (e *Engine) ending(p patch, o jsonrpc.Outcome) func(*Record) error {
	if len(o.Result) > e.o.ResultBytes || errorSize(o.Err) > e.o.ResultBytes {
		o = jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "the result is larger than %d bytes", e.o.ResultBytes).WithReason(ReasonTooLarge))
	}
	return func(r *Record) error {
		p.apply(e, r)
		r.close(o)
		return nil
	}
}

// shutdown fails the task because its process goes away.
func (j *job) shutdown() {
	defer j.end(ErrClosed)
	select {
	case o := <-j.outcome: // it was ready: nothing is lost
		_, _ = j.e.change(context.WithoutCancel(j.handle.ctx), j.key, j.e.ending(patch{}, o))
	default:
		_, _ = j.e.change(context.WithoutCancel(j.handle.ctx), j.key, j.e.ending(patch{}, jsonrpc.Fail(abandoned())))
	}
}

// abandoned is what becomes of work whose process has gone (B12.16).
func abandoned() *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInternal, "the work was lost in a restart").WithReason(ReasonRestarted)
}

package task

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/seal"
)

// Spec is what a task is made of.
type Spec struct {
	// Method is the request that becomes the task, such as tools/call.
	Method string
	// TTL is how long the client wishes the task to be kept; 0 means no wish.
	TTL time.Duration
	// Poll is how often to tell the client to ask; 0 means Options.Poll.
	Poll time.Duration
	// Message is the first status message.
	Message string
	// Changed, when not nil, is told after each change that a client can see,
	// the first state not included: in order, one at a time, changes close to
	// one another only once, never after the engine was closed. It must not
	// block.
	Changed func(Task)
}

// Run is the work of a task. Its context is cancelled, with a cause, when the
// task is cancelled or expires or the engine is closed; what it returns then is
// dropped. A panic fails the task.
type Run func(ctx context.Context, h *Handle) jsonrpc.Outcome

// Start keeps a new task in the Store and only then runs it (W36.8). The
// context of run has the values of ctx but not its end: the task survives its
// request, the connection and the session. On an error nothing has been kept
// for the client to find and run was not called. Errors: ErrOwnerFull, ErrFull,
// ErrBusy, ErrClosed, ErrStore.
func (e *Engine) Start(ctx context.Context, owner Owner, spec Spec, run Run) (Task, error) {
	if err := e.enter(); err != nil {
		e.o.Observer.RefuseTask(refusal(err))
		return Task{}, err
	}
	r, err := e.create(ctx, owner, spec)
	if err != nil {
		<-e.running
		e.active.Done() // of the supervisor
		e.active.Done() // of the work
		e.o.Observer.RefuseTask(refusal(err))
		return Task{}, err
	}
	e.moved("", r.Status)
	e.begin(context.WithoutCancel(ctx), r, spec, run)
	return taskOf(&r), nil
}

// enter takes a place for one more running task.
func (e *Engine) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	select {
	case e.running <- struct{}{}:
		e.active.Add(2)
		return nil
	default:
		return ErrBusy
	}
}

func (e *Engine) create(ctx context.Context, owner Owner, spec Spec) (Record, error) {
	random := seal.NewRandom()
	token, err := e.o.Keys.SealTask(seal.Task{Pod: e.o.Pod, Random: random}, owner.Principal)
	if err != nil {
		return Record{}, err
	}
	now := e.o.Now()
	ttl := e.granted(spec.TTL)
	r := Record{
		Key: recordKey(random), Token: token,
		Principal: owner.principal(), Owner: owner.account(),
		Method: spec.Method, Status: Working, Message: cut(spec.Message),
		Created: now, Updated: now, Changes: 1,
		TTL: ttl, Expires: now.Add(ttl), Poll: spec.Poll,
		Runner: e.o.Runner,
	}
	if r.Poll <= 0 {
		r.Poll = e.o.Poll
	}
	if e.o.Lease > 0 {
		r.Lease = now.Add(e.o.Lease)
	}
	ctx, cancel := e.bounded(ctx)
	defer cancel()
	if err := e.o.Store.Create(ctx, r, Bounds{PerOwner: e.o.PerOwner, Total: e.o.Total}); err != nil {
		return Record{}, stored(err)
	}
	r.Version = 1
	return r, nil
}

// granted is the time to live that a wish gets (W35.12).
func (e *Engine) granted(wish time.Duration) time.Duration {
	if wish <= 0 {
		return e.o.DefaultTTL
	}
	wish = min(wish, e.o.MaxTTL)
	// Whole milliseconds, so that the wire says exactly what is granted.
	wish = (wish + time.Millisecond - 1).Truncate(time.Millisecond)
	return min(max(wish, e.o.MinTTL), e.o.MaxTTL)
}

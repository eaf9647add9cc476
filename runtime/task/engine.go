package task

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/seal"
)

// Engine runs tasks and answers for them. Make it with New and end it with
// Close. All methods may be called concurrently.
type Engine struct {
	o       Options
	running chan struct{} // one place per goroutine of work

	// base ends with the engine.
	base context.Context
	end  context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	active sync.WaitGroup // supervisors, work and the sweeper
}

// New makes an engine and starts its sweeper. The error is one of Keys.
func New(o Options) (*Engine, error) {
	o = o.withDefaults()
	if o.Keys == nil {
		o.Keys = &seal.Keyring{}
		if err := o.Keys.LoadEphemeral(); err != nil {
			return nil, err
		}
	}
	if o.Runner == "" {
		o.Runner = recordKey(seal.NewRandom())
	}
	e := &Engine{o: o, running: make(chan struct{}, o.Running)}
	e.base, e.end = context.WithCancelCause(context.Background())
	e.active.Go(e.sweeper)
	return e, nil
}

// Close ends the engine: no task can be started any more, the context of
// running ones is cancelled with ErrClosed, and they become failed. It waits
// for all of that until ctx ends; work that does not heed its context is then
// left alone and Close returns ctx's error. Tasks that are over stay in the
// Store. Idempotent.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.end(ErrClosed)
	done := make(chan struct{})
	go func() { e.active.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Get returns a task of the owner. Errors: ErrUnknown, ErrStore.
func (e *Engine) Get(ctx context.Context, owner Owner, id string) (Task, error) {
	r, err := e.read(ctx, owner, id)
	if err != nil {
		return Task{}, err
	}
	return taskOf(&r), nil
}

// Wait returns the task once it has changed since the count of changes that
// the caller knows, which may be at once. It ends with ctx (the error is ctx's
// cause) and with the engine. Errors: ErrUnknown, also when the task expires
// meanwhile, ErrStore, ErrClosed.
func (e *Engine) Wait(ctx context.Context, owner Owner, id string, since uint64) (Task, error) {
	key, err := e.open(owner, id)
	if err != nil {
		return Task{}, err
	}
	var out Task
	err = e.watch(ctx, key, func() (bool, error) {
		r, err := e.read(ctx, owner, id)
		if err != nil {
			return false, err
		}
		out = taskOf(&r)
		return r.Changes > since, nil
	})
	return out, err
}

// Cancel makes a task cancelled, for ever, and ends the context of its work,
// wherever it runs; a reason, for people, becomes its status message. Errors: ErrUnknown; ErrOver, with the task as it is, when
// it is terminal; ErrStore.
func (e *Engine) Cancel(ctx context.Context, owner Owner, id, reason string) (Task, error) {
	r, err := e.mutate(ctx, owner, id, func(r *Record) error {
		r.Status = Cancelled
		if reason != "" {
			r.Message = cut(reason)
		}
		r.Inputs = nil
		return nil
	})
	if err != nil && !errors.Is(err, ErrOver) {
		return Task{}, err
	}
	return taskOf(&r), err
}

// CanList reports whether List may be offered to the owner (W35.17).
func (e *Engine) CanList(owner Owner) bool { return owner.Principal != "" }

// open is the key of the record that an id names.
func (e *Engine) open(owner Owner, id string) (string, error) {
	t, err := e.o.Keys.OpenTask(id, owner.Principal)
	if err != nil {
		return "", ErrUnknown
	}
	return recordKey(t.Random), nil
}

// read returns the record behind an id. The principal is checked twice: the id
// does not open for another one, and the record says whose it is (C8).
func (e *Engine) read(ctx context.Context, owner Owner, id string) (Record, error) {
	key, err := e.open(owner, id)
	if err != nil {
		return Record{}, err
	}
	r, err := e.load(ctx, key)
	if err != nil {
		return Record{}, err
	}
	if r.Principal != owner.principal() {
		return Record{}, ErrUnknown
	}
	return r, nil
}

// load returns a record that has not expired.
func (e *Engine) load(ctx context.Context, key string) (Record, error) {
	ctx, cancel := e.bounded(ctx)
	defer cancel()
	r, err := e.o.Store.Get(ctx, key)
	if err != nil {
		return Record{}, stored(err)
	}
	if !e.o.Now().Before(r.Expires) {
		return Record{}, ErrUnknown
	}
	return r, nil
}

// bounded is the context of one operation of the store.
func (e *Engine) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.o.StoreTimeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, e.o.StoreTimeout)
}

// watch calls look until it says that it has seen enough: at once, whenever
// the record may have changed, and every Refresh.
func (e *Engine) watch(ctx context.Context, key string, look func() (enough bool, err error)) error {
	wake, stop := e.o.Notifier.Watch(key)
	defer stop()
	var again <-chan time.Time
	if e.o.Refresh > 0 {
		ticker := time.NewTicker(e.o.Refresh)
		defer ticker.Stop()
		again = ticker.C
	}
	for {
		if enough, err := look(); enough || err != nil {
			return err
		}
		select {
		case <-wake:
		case <-again:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-e.base.Done():
			return ErrClosed
		}
	}
}

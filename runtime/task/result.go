package task

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/seal"
)

// Carry puts one question to the client and waits for the answer. carried is
// false when there is none: this way to the client cannot be used, or ctx ended
// first. Another way may carry the question then.
type Carry func(ctx context.Context, in Input) (answer jsonrpc.Outcome, carried bool)

// carrierLease is how long a stream may be silent before another one may carry
// its questions: the process it was in may be gone.
const carrierLease = time.Minute

// Result waits until the task is terminal and returns it: tasks/result
// (W35.13). Meanwhile it has its questions carried to the client, each by one
// of the streams that wait for the task (B12.4). nil carry carries nothing. It
// ends with ctx; questions that are on their way then are free for others.
// Errors: as of Wait.
func (e *Engine) Result(ctx context.Context, owner Owner, id string, carry Carry) (Task, error) {
	key, err := e.open(owner, id)
	if err != nil {
		return Task{}, err
	}
	var out Task
	c := &carrier{e: e, owner: owner, id: id, key: key, name: recordKey(seal.NewRandom()), carry: carry, way: map[string]context.CancelFunc{}, done: make(chan carried)}
	defer c.stop()
	err = c.watch(ctx, func() (bool, error) {
		r, err := e.read(ctx, owner, id)
		if errors.Is(err, ErrStore) && len(c.way) > 0 {
			return false, nil // somebody is being asked: the answer must not be lost
		}
		if err != nil {
			return false, err
		}
		out = taskOf(&r)
		if r.Status.Terminal() {
			return true, nil
		}
		c.look(ctx, &r)
		return false, nil
	})
	return out, err
}

// carrier is one stream that carries questions of one task. All but carry runs
// on the goroutine of Result.
type carrier struct {
	e         *Engine
	owner     Owner
	id        string
	key, name string
	carry     Carry
	way       map[string]context.CancelFunc // questions on their way, at most Options.Inputs
	unfit     []string                      // questions that this stream cannot carry
	done      chan carried
}

type carried struct {
	key    string
	answer jsonrpc.Outcome
	ok     bool
}

// watch is Engine.watch that also minds what is on its way.
func (c *carrier) watch(ctx context.Context, look func() (bool, error)) error {
	wake, stop := c.e.o.Notifier.Watch(c.key)
	defer stop()
	every := c.e.o.Refresh
	if every <= 0 || every > carrierLease/3 {
		every = carrierLease / 3
	}
	again := time.NewTicker(every)
	defer again.Stop()
	for {
		if enough, err := look(); enough || err != nil {
			return err
		}
		select {
		case <-wake:
		case <-again.C:
		case d := <-c.done:
			c.arrived(ctx, d)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.e.base.Done():
			return ErrClosed
		}
	}
}

// look sends what nobody carries and calls back what nobody asks any more.
func (c *carrier) look(ctx context.Context, r *Record) {
	c.unfit = slices.DeleteFunc(c.unfit, func(key string) bool {
		return !slices.ContainsFunc(r.Inputs, func(in Input) bool { return in.Key == key })
	})
	for key, cancel := range c.way {
		if !slices.ContainsFunc(r.Inputs, func(in Input) bool { return in.Key == key && !in.Answered() }) {
			cancel()
		}
	}
	if c.carry == nil || !slices.ContainsFunc(r.Inputs, c.wants) {
		return
	}
	now := c.e.o.Now()
	var mine []Input
	_, err := c.e.change(ctx, c.key, func(r *Record) error {
		inputs := slices.Clone(r.Inputs)
		mine = nil
		for i := range inputs {
			if in := &inputs[i]; c.wants(*in) {
				in.Carrier, in.Until = c.name, now.Add(carrierLease)
				mine = append(mine, *in)
			}
		}
		if len(mine) == 0 {
			return errUnchanged
		}
		r.Inputs = inputs
		return nil
	})
	if err != nil {
		return // the next look tries again
	}
	for _, in := range mine {
		if c.way[in.Key] == nil {
			c.send(ctx, in)
		}
	}
}

// wants reports whether this stream should carry the question, or go on doing
// so.
func (c *carrier) wants(in Input) bool {
	if in.Answered() || slices.Contains(c.unfit, in.Key) {
		return false
	}
	left := in.Until.Sub(c.e.o.Now())
	if in.Carrier == c.name {
		return left < carrierLease*2/3
	}
	return in.Carrier == "" || left <= 0
}

func (c *carrier) send(ctx context.Context, in Input) {
	ctx, cancel := context.WithCancel(ctx)
	c.way[in.Key] = cancel
	go func() {
		defer cancel()
		answer, ok := c.carry(ctx, in)
		c.done <- carried{in.Key, answer, ok}
	}()
}

// arrived takes the end of one way.
func (c *carrier) arrived(ctx context.Context, d carried) {
	delete(c.way, d.key)
	if !d.ok {
		c.unfit = append(c.unfit, d.key)
		c.release(ctx, d.key)
		return
	}
	if len(d.answer.Result) > c.e.o.InputBytes || errorSize(d.answer.Err) > c.e.o.InputBytes {
		d.answer = jsonrpc.Fail(RPC(ErrInputs))
	}
	_, err := c.e.insist(ctx, c.key, func(r *Record) error {
		return r.answer(map[string]jsonrpc.Outcome{d.key: d.answer})
	})
	if err != nil && !errors.Is(err, ErrOver) {
		c.release(ctx, d.key)
	}
}

// lastWords is how long the store is tried for an answer that came while its
// stream ended.
const lastWords = 5 * time.Second

// stop calls everything back and waits for it. What was answered all the same
// is not lost.
func (c *carrier) stop() {
	for _, cancel := range c.way {
		cancel()
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	for len(c.way) > 0 {
		c.arrived(ctx, <-c.done)
	}
}

// release lets others carry the question.
func (c *carrier) release(ctx context.Context, key string) {
	_, _ = c.e.change(context.WithoutCancel(ctx), c.key, func(r *Record) error {
		i := slices.IndexFunc(r.Inputs, func(in Input) bool { return in.Key == key && in.Carrier == c.name })
		if i < 0 {
			return errUnchanged
		}
		r.Inputs = slices.Clone(r.Inputs)
		r.Inputs[i].Carrier, r.Inputs[i].Until = "", time.Time{}
		return nil
	})
}

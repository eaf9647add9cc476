package park

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Turn is what a request of the client is answered with: the workload's final
// answer, an error, or questions with the state to bring back.
type Turn struct {
	Final *Final
	Err   *jsonrpc.Error
	Asked []Asked
	State string
	// Instead, when not nil, is the caller's own result; no claim ends with it.
	Instead []byte
}

// Claim is the turn of one request at an exchange.
type Claim struct {
	e       *Exchange
	may     May
	round   int // that it answers; 0 for the first request
	answers [digestSize]byte

	done chan struct{}
	// Guarded by Exchange.mu.
	turn    Turn
	at      time.Time // when it was resolved
	waiters int
	grace   *time.Timer
}

// Exchange is what the claim is on.
func (c *Claim) Exchange() *Exchange { return c.e }

// First reports whether it is the claim of the request that began the exchange.
func (c *Claim) First() bool { return c.round == 0 }

func (c *Claim) resolved() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// resolve ends the turn; mu is held. Only the first counts.
func (c *Claim) resolve(t Turn) {
	if c.resolved() {
		return
	}
	c.turn, c.at = t, time.Now()
	close(c.done)
}

// Wait waits for the end of the turn. When ctx ends first the client has gone:
// the first request takes the workload's call with it, a retry may come again
// within Grace (B7.11, P20). The error is ctx's cause.
func (c *Claim) Wait(ctx context.Context) (Turn, error) {
	e := c.e
	e.mu.Lock()
	c.waiters++
	if c.grace != nil {
		c.grace.Stop()
		c.grace = nil
	}
	e.mu.Unlock()
	select {
	case <-c.done:
	case <-ctx.Done():
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c.waiters--
	if c.resolved() && ctx.Err() == nil {
		return c.turn, nil
	}
	cause := context.Cause(ctx)
	if c.waiters > 0 || e.now != c {
		return Turn{}, cause
	}
	switch {
	case c.round > 0 && errors.Is(cause, dispatch.ErrDisconnected):
		if !c.resolved() {
			c.grace = time.AfterFunc(e.s.cfg.Limits.Grace, func() { e.leave(c) })
		}
	case !c.resolved():
		e.end(EndGone, dispatch.Explain(cause), errGone)
	}
	return Turn{}, cause
}

// leave ends an exchange whose client did not come again.
func (e *Exchange) leave(c *Claim) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now != c || c.waiters > 0 || c.grace == nil || e.over {
		return
	}
	e.end(EndGone, Refused(), errGone)
}

// claim takes the turn of a round (B7.5), or finds the claim that the same
// answers have taken already (P20).
func (e *Exchange) claim(round int, answers [digestSize]byte, given Answers, may May) (*Claim, *jsonrpc.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	last := e.now
	if last.round == round && round > 0 && last.answers == answers {
		if last.resolved() && time.Since(last.at) > e.s.cfg.Limits.Grace {
			return nil, Refused()
		}
		if e.s.cfg.Hooks.Attached != nil {
			e.s.cfg.Hooks.Attached()
		}
		return last, nil
	}
	if e.over || !last.resolved() || round != e.round {
		return nil, Refused()
	}
	for _, o := range e.open {
		if raw, ok := given.Get(o.Key); ok && o.shown && !fits(o.Method, raw) {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the answer to %.100q has not the form of one", o.Key)
		}
	}
	if last.grace != nil {
		last.grace.Stop()
		last.grace = nil
	}
	c := &Claim{e: e, may: may, round: round, answers: answers, done: make(chan struct{})}
	e.now = c
	e.stopExpiry()
	e.take(given)
	switch {
	case e.final != nil:
		e.conclude() // B7.10
	case len(e.open) > 0:
		e.collect() // B7.1, B7.7
	}
	return c, nil
}

// take gives the workload the answers that have come. mu is held.
func (e *Exchange) take(given Answers) {
	var left []*open
	for _, o := range e.open {
		raw, ok := given.Get(o.Key)
		if !ok || !o.shown {
			left = append(left, o)
			continue
		}
		o.answer <- answered{result: raw}
	}
	e.open = left
}

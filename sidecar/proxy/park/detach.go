package park

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Ask puts a question to the client in another way than rounds, and waits for
// the answer.
type Ask func(ctx context.Context, q Question) ([]byte, *jsonrpc.Error)

// WaitFor is Wait for a limited time, or until sooner is closed; over is false
// when that has passed, which changes nothing. 0 is for ever, as is nil.
func (c *Claim) WaitFor(ctx context.Context, d time.Duration, sooner <-chan struct{}) (turn Turn, over bool, err error) {
	var late <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		late = t.C
	}
	c.e.mu.Lock()
	c.waiters++
	if c.grace != nil {
		c.grace.Stop()
		c.grace = nil
	}
	c.e.mu.Unlock()
	select {
	case <-c.done:
	case <-ctx.Done():
	case <-late:
	case <-sooner:
	}
	c.e.mu.Lock()
	c.waiters--
	c.e.mu.Unlock()
	if c.resolved() || ctx.Err() != nil {
		turn, err = c.Wait(ctx)
		return turn, true, err
	}
	return Turn{}, false, nil
}

// Detach sends what the workload asks from now on another way: there will be no
// more rounds, and the claim ends with the final answer or an error. It does
// nothing and returns false when the claim has ended already, or is about to
// end with questions, or has been detached (B12.15).
func (c *Claim) Detach(ask Ask) bool {
	e := c.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.resolved() || e.now != c || e.over || e.final != nil || e.ask != nil || len(e.open) > 0 {
		return false
	}
	e.ask = ask
	return true
}

// Attach undoes Detach.
func (c *Claim) Attach() {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	c.e.ask = nil
}

// Abandoned is what the workload is told when no answer will come (B7.12).
func Abandoned(method string) ([]byte, *jsonrpc.Error) {
	a := abandoned(method)
	return a.result, a.err
}

package endpoint

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/internal/pause"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// storePause is how long a listener rests when the store cannot be used.
const storePause = 5 * time.Second

// Listen tells a listener of tasks: the state that each is in now and every
// later one, up to the last (W36.16). honoured are the ids that mean something
// to the caller; send is called from several goroutines, until stop returns.
// More ids than MaxListen are refused.
func (e *Endpoint) Listen(ctx context.Context, x *dispatch.Exchange, ids []string, send func(method string, params []byte) error) (honoured []string, stop func(), bad *jsonrpc.Error) {
	stop = func() {}
	if !Declares(x) {
		return nil, stop, NeedsExtension().Err // W33.10
	}
	if len(ids) > e.MaxListen {
		return nil, stop, jsonrpc.Errorf(jsonrpc.CodeInternal, "too many tasks in one listen").WithReason(mcp.ReasonBusy)
	}
	owner := OwnerOf(x)
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		switch _, err := e.Engine.Get(ctx, owner, id); {
		case errors.Is(err, task.ErrUnknown): // left out of the ack (W33.4)
		case err != nil:
			return nil, stop, e.Error(x, err)
		default:
			honoured = append(honoured, id)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, id := range honoured {
		all.Go(func() { e.follow(ctx, owner, id, send) })
	}
	return honoured, func() { cancel(); all.Wait() }, nil
}

// follow sends each state of one task until it is over, gone, or nobody
// listens.
func (e *Endpoint) follow(ctx context.Context, owner task.Owner, id string, send func(method string, params []byte) error) {
	since := uint64(0)
	for {
		t, err := e.Engine.Wait(ctx, owner, id, since)
		switch {
		case errors.Is(err, task.ErrStore) && ctx.Err() == nil:
			if pause.For(ctx, storePause) != nil {
				return
			}
			continue
		case err != nil:
			return
		}
		since = t.Changes
		if send(mcp.NotifyTasks, t.ModernNotice()) != nil || t.Status.Terminal() {
			return
		}
	}
}

package proxy

import (
	"context"
	"errors"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// reasonTaskLost: the workload does not know its task any more.
const reasonTaskLost = "task_lost"

// resultTries bounds how often in a row the wait for a task's result may be cut
// off before the task is given up.
const resultTries = 5

// theirResult waits for the result of a task of the workload: one tasks/result
// is open all the time, because the task's questions come with it (B12.10). r
// is the call that became the task. The task is looked at meanwhile if somebody
// wants to know how it stands.
func (p *Proxy) theirResult(ctx context.Context, leg upstream.Leg, r peer.Request, t theirs, shown func(theirs)) (peer.Answer, error) {
	if shown != nil {
		watching, stop := context.WithCancel(ctx)
		var watch sync.WaitGroup
		defer watch.Wait()
		defer stop()
		seen := t
		watch.Go(func() { p.watchTheirs(watching, leg, seen, shown) })
	}
	over := false
	for lost := 0; ; {
		// Nobody but tasks/cancel ends a task (B11).
		answer, err := p.call(ctx, leg, peer.Request{Method: mcp.MethodTasksResult, Params: t.about(), Value: r.Value, GivenUp: r.GivenUp, Quiet: true})
		switch {
		case ctx.Err() != nil:
			return answer, err
		case err != nil:
			if lost++; lost > resultTries || !cutOff(err) {
				return answer, begun(err)
			}
		case answer.Err == nil:
			answer.Result = unrelated(answer.Result)
			return answer, nil
		case over:
			return answer, nil // it is the task's own
		default:
			lost = 0
			now, gone, err := p.look(ctx, leg, t)
			switch {
			case err != nil || gone.Err != nil:
				return gone, begun(err)
			case shown != nil:
				shown(now)
			}
			if t = now; t.status == task.Cancelled {
				return peer.Answer{Err: internal("task cancelled", mcp.ReasonCancelled)}, nil
			}
			if over = t.status.Terminal(); over {
				continue // the error may be older than that
			}
		}
		if err := pause(ctx, t.every()); err != nil {
			return peer.Answer{}, err
		}
	}
}

// look asks the workload how its task stands; gone is an error that stands for
// its result where there is no such task any more.
func (p *Proxy) look(ctx context.Context, leg upstream.Leg, t theirs) (now theirs, gone peer.Answer, err error) {
	answer, err := p.call(ctx, leg, peer.Request{Method: mcp.MethodTasksGet, Params: t.about()})
	switch {
	case err != nil:
		return now, gone, err
	case answer.Err != nil: // B12.13
		gone.Err = internal("the workload does not have the task any more", reasonTaskLost)
		return now, gone, nil //nolint:nilerr // the workload's error is the answer
	}
	now, ok := readTheirs(answer.Result)
	if !ok || now.id != t.id {
		gone.Err = badResponse().Err
	}
	return now, gone, nil
}

// watchTheirs looks at a task from time to time until it is over.
func (p *Proxy) watchTheirs(ctx context.Context, leg upstream.Leg, t theirs, shown func(theirs)) {
	for pause(ctx, max(t.every(), pollFirst)) == nil {
		now, gone, err := p.look(ctx, leg, t)
		switch {
		case err != nil:
			continue // whoever waits for the result hears of it
		case gone.Err != nil:
			return
		}
		shown(now)
		if t = now; t.status.Terminal() {
			return
		}
	}
}

// cutOff reports whether a wait that failed so may go on: the task may well be
// there.
func cutOff(err error) bool {
	switch peer.ReasonOf(err) {
	case peer.StreamLost, peer.Unreachable, peer.Status:
		return true
	}
	return false
}

// begun is a failure of a call whose task has begun: never one that was not
// delivered, because then it might be made again (B0.5).
func begun(err error) error {
	var f *peer.Failure
	if !errors.As(err, &f) || !f.NotDelivered {
		return err
	}
	out := *f
	out.NotDelivered = false
	return &out
}

// unrelated is a result without the id of the workload's task, which means
// nothing to a client (B12.14).
func unrelated(result []byte) []byte {
	if _, has := strictjson.GetPath(result, "_meta", mcp.MetaRelatedTask); !has {
		return result
	}
	bare, err := strictjson.Splice(result, strictjson.Delete("_meta", mcp.MetaRelatedTask))
	if err != nil {
		return result
	}
	return bare
}

// shownTo makes the status messages of a workload's task those of ours.
func shownTo(h *task.Handle) func(theirs) {
	return func(t theirs) {
		if t.message != "" {
			h.Status(t.message)
		}
	}
}

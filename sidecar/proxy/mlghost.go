package proxy

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// A call that its client has given up is a ghost: until the workload has heard
// of that it may still log and ask, and where messages name no request the only
// call in flight is not the only one that they can belong to (B6.1, B11.1).
const (
	// noticeTime is for a handler to stop, once the workload has read that it
	// should: what it says in its last moment belongs to nobody.
	noticeTime = time.Second
	// hushTime is for how long after a call was given up no log message is given
	// to the only call in flight: on a busy node a handler has been seen to log
	// for more than noticeTime, and a message that is lost harms nobody.
	hushTime = 30 * time.Second
	// ghostTime is how long a workload is waited for that answers nothing.
	ghostTime = 5 * time.Minute
	// maxGhosts bounds those that are kept; more add no doubt.
	maxGhosts = 1024
)

// ghost is what is to be done when the client of a call gives it up, before
// anything else can be taken for the only call in flight; nil where nobody else
// uses the leg.
func (d *desk) ghost(f *flight, lease upstream.Lease) func() {
	if lease.Apart {
		return nil
	}
	return func() { d.haunt(f, lease.Leg) }
}

// forsake takes out a call that has ended with err. One that the workload may
// still be working on haunts the desk.
func (d *desk) forsake(f *flight, lease upstream.Lease, err error) {
	if err != nil && !lease.Apart && lease.Leg.Err() == nil {
		if failed, ok := errors.AsType[*peer.Failure](err); !ok || !failed.NotDelivered {
			d.haunt(f, lease.Leg)
		}
	}
	d.leave(f)
}

func (d *desk) haunt(f *flight, leg upstream.Leg) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.givenUp, f.lost = time.Now(), true
	if d.ghosts == nil {
		d.ghosts = map[*flight]struct{}{}
	}
	if len(d.ghosts) >= maxGhosts {
		return
	}
	if d.ghosts[f] = struct{}{}; len(d.ghosts) == 1 {
		go d.lay(leg)
	}
}

// lay ends ghosts until there are none. Requests are read in order, so a ping
// that is answered was read after the cancellation.
func (d *desk) lay(leg upstream.Leg) {
	for {
		d.mu.Lock()
		some := slices.Collect(maps.Keys(d.ghosts))
		d.mu.Unlock()
		ctx, stop := context.WithTimeout(context.Background(), ghostTime)
		if _, err := leg.Call(ctx, peer.Request{Method: mcp.MethodPing}); err == nil {
			t := time.NewTimer(noticeTime)
			select {
			case <-t.C:
			case <-leg.Done():
				t.Stop()
			}
		}
		stop()
		d.mu.Lock()
		for _, f := range some {
			delete(d.ghosts, f)
		}
		d.tell()
		over := len(d.ghosts) == 0
		d.mu.Unlock()
		if over {
			return
		}
	}
}

// haunted reports whether a message that names no call may be a ghost's: m is a
// request that its client would take, or nil for what anybody may get. mu is
// held.
func (d *desk) haunted(m *jsonrpc.Message) bool {
	for f := range d.ghosts {
		if m == nil || f.may(m.Method, m.Params) == nil {
			return true
		}
	}
	return false
}

// rumour reports whether a message that is said to be the only call's in flight
// may be that of a call that was given up.
func (d *desk) rumour(in peer.Incoming) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !in.Certain && d.haunted(nil)
}

// hearsay reports whether a log message is one that cannot be said to belong to
// the only call in flight: of a call that was given up, perhaps, or of a task,
// whose own flight tells of it by other means.
func (d *desk) hearsay(in peer.Incoming) bool {
	if in.Certain || in.Msg.Method != mcp.NotifyMessage {
		return false
	}
	if relatedTask(in.Msg) != "" {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.haunted(nil) || !d.givenUp.IsZero() && time.Since(d.givenUp) < hushTime
}

package proxy

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

const (
	// outingWait is how long the retry of a call waits for the workload to say
	// that the user is back from a page (B7.19).
	outingWait = 20 * time.Second
	// maxOutings bounds the calls whose users are out; the oldest goes.
	maxOutings = 1024
)

// outings are the calls whose users were sent to pages, until the workload has
// told that these have been dealt with (B7.19). All methods may be called
// concurrently; the zero value is ready.
type outings struct {
	mu    sync.Mutex
	out   []*outing // oldest first
	tells bool      // the workload is one that does tell
}

type outing struct {
	call string
	left map[string]bool // by elicitationId
	back chan struct{}   // closed when none is left
}

// begin notes that the user of a call is on the way to the pages of an error.
// Where one has no name, nobody could tell.
func (o *outings) begin(call []byte, e *jsonrpc.Error) {
	next := &outing{call: string(call), left: map[string]bool{}, back: make(chan struct{})}
	named := true
	elicitations, _ := strictjson.Get(e.Data, "elicitations")
	strictjson.Elements(elicitations, func(one []byte) bool {
		raw, _ := strictjson.Get(one, "elicitationId")
		id, ok := strictjson.String(raw)
		next.left[id], named = true, ok
		return ok && len(next.left) <= maxPages
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.out = slices.DeleteFunc(o.out, func(other *outing) bool { return other.call == next.call })
	if !named || len(next.left) == 0 {
		return
	}
	if o.out = append(o.out, next); len(o.out) > maxOutings {
		o.out = slices.Delete(o.out, 0, 1)
	}
}

// over notes what the workload tells of one page.
func (o *outings) over(m *jsonrpc.Message) {
	raw, _ := strictjson.Get(m.Params, "elicitationId")
	id, _ := strictjson.String(raw)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tells = true
	for _, one := range o.out {
		if one.left[id] {
			if delete(one.left, id); len(one.left) == 0 {
				close(one.back)
			}
		}
	}
}

// wait returns when the pages of a call have been dealt with, or may have been:
// a workload that was never heard to tell is asked again at once, and only the
// next time after a while.
func (o *outings) wait(ctx context.Context, call []byte, round int) {
	o.mu.Lock()
	at := slices.IndexFunc(o.out, func(one *outing) bool { return one.call == string(call) })
	if at < 0 {
		o.mu.Unlock()
		return
	}
	one := o.out[at]
	o.out = slices.Delete(o.out, at, at+1)
	if !o.tells && round < 2 {
		o.mu.Unlock()
		return
	}
	// It has to be found while it is waited for.
	o.out = append(o.out, one)
	o.mu.Unlock()
	t := time.NewTimer(outingWait)
	defer t.Stop()
	select {
	case <-one.back:
	case <-t.C:
	case <-ctx.Done():
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.out = slices.DeleteFunc(o.out, func(other *outing) bool { return other == one })
}

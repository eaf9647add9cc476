package proxy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const (
	// subscribeTime bounds one subscription at the workload, and all that a new
	// process is asked for together.
	subscribeTime = 30 * time.Second
	// followTime is how long a call, or the acknowledgement of a listen, waits
	// for other processes of the key to watch what is listened to. They are
	// asked on, and what they were late for counts as changed.
	followTime = 2 * time.Second
)

// watches are the resources that one leg was asked to watch, once for all who
// listen (B10.2).
type watches struct {
	leg upstream.Leg
	to  *audience

	mu  sync.Mutex
	all map[string]*watch
}

type watch struct {
	turn  chan struct{} // cap 1: held while the workload is asked
	live  bool          // guarded by turn
	users int           // guarded by watches.mu
}

// take finds a watch; give lets go of it, and forgets one that is not live.
func (s *watches) take(uri string) *watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.all[uri]
	if w == nil {
		w = &watch{turn: make(chan struct{}, 1)}
		if s.all == nil {
			s.all = map[string]*watch{}
		}
		s.all[uri] = w
	}
	w.users++
	return w
}

func (s *watches) give(uri string, w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.users--; w.users > 0 {
		return
	}
	if !w.live { // nobody has the turn
		delete(s.all, uri)
	}
}

// settle has the workload watch a resource if somebody listens to it, and no
// longer if nobody does. fresh says that it watches it now and did not before;
// the error is its refusal, or why it could not be asked.
func (s *watches) settle(ctx context.Context, uri string) (fresh bool, err error) {
	ctx, stop := context.WithTimeout(ctx, subscribeTime)
	defer stop()
	w := s.take(uri)
	defer s.give(uri, w)
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	want := s.to.wants(uri)
	if w.live == want {
		return false, nil
	}
	method := mcp.MethodSubscribe
	if !want {
		method = mcp.MethodUnsubscribe
	}
	answer, err := s.leg.Call(ctx, peer.Request{Method: method, Params: append(strictjson.Quote([]byte(`{"uri":`), uri), '}')})
	switch {
	case err != nil:
		return false, err
	case answer.Err != nil:
		return false, answer.Err
	}
	w.live = want
	return want, nil
}

// follow has the workload watch all that is listened to.
func (s *watches) follow(ctx context.Context) {
	uris := s.to.interests()
	if len(uris) == 0 {
		return
	}
	done := make(chan struct{})
	var late atomic.Bool
	go func() {
		defer close(done)
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), subscribeTime)
		defer stop()
		var fresh []string
		for _, uri := range uris {
			turned, _ := s.settle(ctx, uri) // a refusal here is the workload's own affair: it accepted it elsewhere
			if turned {
				fresh = append(fresh, uri)
			}
			if ctx.Err() != nil || s.leg.Err() != nil {
				break
			}
		}
		if late.Load() {
			s.to.unheard(fresh)
		}
	}()
	t := time.NewTimer(followTime)
	defer t.Stop()
	select {
	case <-done:
		return
	case <-t.C:
	case <-ctx.Done():
	}
	late.Store(true)
}

// spread has the other legs of a key watch what one was asked to.
func (a *audience) spread(ctx context.Context, than *desk) {
	var wg sync.WaitGroup
	for _, d := range a.others(than) {
		wg.Go(func() { d.follow(ctx) })
	}
	wg.Wait()
}

package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// kind is how a client speaks.
type kind struct {
	revision string
	older    bool // over HTTP+SSE
}

func (k kind) String() string {
	if k.older {
		return k.revision + " over HTTP+SSE"
	}
	return k.revision
}

// kinds are all there are; clients take them in turn.
func kinds() (all []kind) {
	for _, revision := range mcp.Revisions() {
		all = append(all, kind{revision: revision})
	}
	return append(all, kind{mcp.Revision20241105, true})
}

const (
	// workers is how many calls a client has in flight at once.
	workers = 2
	// leastActs and mostActs bound what a worker does in one life.
	leastActs, mostActs = 5, 40
	// mostPause is between two actions of a worker.
	mostPause = time.Second
	// requestTime is the sidecar's bound of a request: workloads are stopped for
	// less, and restarted sooner. A question whose stream is cut before the client
	// has an id to resume it from is lost, and its call takes that long.
	requestTime = 60 * time.Second
	// actTime bounds an action.
	actTime = requestTime + 30*time.Second
)

// crowd is all clients of one soak.
type crowd struct {
	url     string
	dialect dialect
	tally   *tally
	faults  *faults
	lives   atomic.Uint64
}

// client is one of them.
type soaker struct {
	*crowd
	kind kind
	from string // its address
	rand *rand.Rand
}

// run lets many clients work until ctx ends, and every one say goodbye.
func (c *crowd) run(ctx context.Context, clients int, seed uint64) {
	var all sync.WaitGroup
	every := kinds()
	for i := range clients {
		s := &soaker{
			crowd: c, kind: every[i%len(every)],
			// Who says no name is told apart by address; some share one.
			from: fmt.Sprintf("127.0.0.%d", 2+i%23),
			rand: rand.New(rand.NewPCG(seed, uint64(i))),
		}
		all.Go(func() {
			for ctx.Err() == nil {
				s.live(ctx)
			}
		})
	}
	all.Wait()
}

// older reaches a server over HTTP+SSE only.
type older struct{ client.HTTP }

func (o older) Binding() mcp.Binding { return mcp.HTTPSSE }

func (o older) Dial(ctx context.Context, w client.Wiring) (peer.Link, error) {
	return o.DialOlder(ctx, w)
}

// OlderBinding leaves no other way.
func (older) OlderBinding() (mcp.Binding, bool) { return mcp.HTTPSSE, false }

// live is one conversation: connect, work, say goodbye.
func (s *soaker) live(ctx context.Context) {
	l := life(s.lives.Add(1))
	ledger := newLedger(l, s.faults.add)
	tap := newTap(ledger, s.from)
	tap.replied = func(failure string) { s.tally.add("reply", failure) }
	defer tap.close()
	var at client.Target = client.HTTP{URL: s.url, Client: &http.Client{Transport: tap}, NoSSE: true}
	if s.kind.older {
		at = older{client.HTTP{URL: s.url, Client: &http.Client{Transport: tap}}}
	}
	// A conversation that has begun is brought to its end.
	work := context.WithoutCancel(ctx)
	connect, stop := context.WithTimeout(work, actTime)
	c, err := client.Connect(connect, client.Options{
		Server: at, Revision: s.kind.revision, Handlers: s.handlers(l), Tasks: true,
		Timeout: -1, Reconnect: client.Reconnect{Never: true}, Retry: client.Retry{Attempts: 1},
		Observer: client.Observer{Resumed: func() { s.tally.add("resumed", "") }},
	})
	stop()
	if s.tally.add("connect", reason(err)); err != nil {
		pause(ctx, mostPause)
		return
	}
	if s.kind.revision < "2026-07-28" {
		level, stop := context.WithTimeout(work, actTime)
		_ = c.SetLevel(level, "info") // not every workload has logs
		stop()
	}
	var all sync.WaitGroup
	var calls atomic.Int64
	for range workers {
		w := &worker{soaker: s, life: l, client: c, tap: tap, calls: &calls, rand: rand.New(rand.NewPCG(s.rand.Uint64(), s.rand.Uint64()))}
		all.Go(func() { w.work(ctx) })
	}
	all.Wait()
	_ = c.Close() // whether the DELETE arrived shows in the sessions at the end
}

// handlers answer what is asked with the token that it is asked with.
func (s *soaker) handlers(l life) client.Handlers {
	own := func(text string) {
		if !tokens.MatchString(text) || l.foreign([]byte(text)) != "" {
			s.faults.add("life %d is asked %q, which is not its own", l, text)
		}
	}
	h := client.Handlers{
		Sample: func(_ context.Context, r client.SampleRequest) (client.SampleResult, error) {
			said := tokens.FindString(string(r.Raw))
			own(said)
			s.tally.add("asked", "")
			return client.SampleResult{Model: "m", Text: said}, nil
		},
	}
	if s.kind.revision >= "2025-06-18" {
		h.Elicit = func(_ context.Context, r client.ElicitRequest) (client.ElicitResult, error) {
			own(r.Message)
			s.tally.add("asked", "")
			return client.ElicitResult{Action: client.Accept, Content: map[string]any{"token": r.Message, "name": r.Message}}, nil
		}
	}
	return h
}

// reason sorts failures.
func reason(err error) string {
	if err == nil {
		return ""
	}
	if code, ok := client.ErrorCode(err); ok {
		return fmt.Sprintf("error %d (%v)", code, err)
	}
	if f, ok := errors.AsType[*peer.Failure](err); ok {
		return fmt.Sprintf("%s %d", f.Reason, f.Status)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "time"
	}
	return err.Error()
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/internal/pause"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Filter says what to hear of (W33.2).
type Filter struct {
	// Tools, Prompts and Resources are changes of the lists.
	Tools, Prompts, Resources bool
	// URIs are resources whose contents may change.
	URIs []string
	// Tasks are ids of tasks whose status may change.
	Tasks []string
}

func (f Filter) empty() bool {
	return !f.Tools && !f.Prompts && !f.Resources && len(f.URIs) == 0 && len(f.Tasks) == 0
}

// Subscription is a running Listen. All methods may be called concurrently.
type Subscription struct {
	client *Client
	filter Filter
	queue  *changes
	stop   context.CancelCauseFunc
	done   chan struct{}
	first  chan struct{} // closed when the server has agreed once, or at the end
	once   sync.Once

	mu       sync.Mutex
	honoured Filter
	err      error
}

// maxBarren bounds subscriptions in a row that the server ended without one
// notification in between.
const maxBarren = 5

// ErrNothingHonoured: the server offers nothing of what the filter asks for.
var ErrNothingHonoured = errors.New("client: the server offers none of these notifications")

// Listen subscribes to what the server tells by itself, whatever the revision:
// subscriptions/listen without a session; with one, resources/subscribe and the
// stream of the session. It returns when the server has agreed, and goes on
// until ctx ends or Close, over lost connections too: f then gets one
// notification with Missed set for each thing that may have changed meanwhile.
//
// f is called in order on a goroutine of the subscription. While it runs,
// notifications that say the same are kept once; a slow f delays nobody.
func (c *Client) Listen(ctx context.Context, filter Filter, f func(Notification)) (*Subscription, error) {
	if filter.empty() {
		return nil, errors.New("client: the filter asks for nothing")
	}
	ctx, stop := context.WithCancelCause(ctx)
	s := &Subscription{
		client: c, filter: filter, stop: stop, queue: newChanges(),
		done: make(chan struct{}), first: make(chan struct{}),
	}
	unlink := context.AfterFunc(c.ctx, func() { stop(context.Cause(c.ctx)) })
	started := c.spawn(func() {
		defer unlink()
		defer stop(nil)
		s.run(ctx)
	})
	if !started {
		unlink()
		stop(nil)
		return nil, &peer.Failure{Reason: peer.Closed, NotDelivered: true, Err: ErrClosed}
	}
	c.spawn(func() { s.queue.pump(s.done, f) })
	<-s.first
	select {
	case <-s.done:
		return nil, s.Err()
	default:
		return s, nil
	}
}

// spawn runs f on a goroutine that Close waits for, unless it is too late.
func (c *Client) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		return false
	}
	c.wg.Go(f)
	return true
}

// Honoured is what of the filter the server agreed to.
func (s *Subscription) Honoured() Filter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.honoured
}

// Done is closed when the subscription has ended.
func (s *Subscription) Done() <-chan struct{} { return s.done }

// Err is why it ended; nil before.
func (s *Subscription) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close ends the subscription and waits until the server has been told.
func (s *Subscription) Close() error {
	s.stop(ErrClosed)
	<-s.done
	return nil
}

// run keeps the subscription alive on one connection after the other.
func (s *Subscription) run(ctx context.Context) {
	err := s.keep(ctx)
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
	close(s.done)
	s.once.Do(func() { close(s.first) })
}

func (s *Subscription) keep(ctx context.Context) error {
	c := s.client
	policy := c.opts.Reconnect
	for barren := 1; ; barren++ {
		v, err := c.conversation(ctx)
		if err != nil {
			return err
		}
		fruitful := false
		if v.profile.Handshake {
			err = s.attend(ctx, v)
		} else {
			fruitful, err = s.hear(ctx, v)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case verdict(err) != nil, errors.Is(err, ErrNothingHonoured), errors.Is(err, ErrResultType):
			return err
		case err != nil && (policy.Never || c.Err() != nil):
			return err
		}
		if fruitful || v.profile.Handshake {
			barren = 0
		}
		if barren > maxBarren || policy.Attempts > 0 && barren >= policy.Attempts {
			return fmt.Errorf("client: %s ends again and again: %w", mcp.MethodListen, errors.Join(err, ErrNothingHonoured))
		}
		if !v.profile.Handshake {
			c.moves.ill(troubleListen, "stream_lost", err)
		}
		if cause := pause.For(ctx, backoff(policy.First, policy.Max, barren+1)); cause != nil {
			return cause
		}
	}
}

// agreed notes what the server honours. From the second time on something may
// have been missed.
func (s *Subscription) agreed(f Filter) {
	s.mu.Lock()
	s.honoured = f
	s.mu.Unlock()
	again := true
	s.once.Do(func() { again = false; close(s.first) })
	if again {
		s.queue.missed(f)
	}
}

// hear subscribes without a session, until the stream ends. fruitful: something
// came.
func (s *Subscription) hear(ctx context.Context, v *conversation) (fruitful bool, err error) {
	acked := false
	r := &request{method: mcp.MethodListen, params: s.filter.params(), endless: true, tasks: len(s.filter.Tasks) > 0}
	r.opts.notify = func(n Notification) {
		if n.Method == mcp.NotifyAcknowledged { // W33.3
			acked = true
			s.client.moves.well(troubleListen)
			s.agreed(readFilter(member(n.Params, "notifications")))
			return
		}
		fruitful = true
		s.queue.add(n)
	}
	_, err = v.call(ctx, r)
	if err == nil && !acked {
		err = fmt.Errorf("%w: no acknowledgement", ErrNothingHonoured)
	}
	return fruitful, err
}

func (f Filter) params() []byte {
	var o, params object
	for _, one := range []struct {
		name string
		on   bool
	}{{"toolsListChanged", f.Tools}, {"promptsListChanged", f.Prompts}, {"resourcesListChanged", f.Resources}} {
		if one.on {
			o.set(one.name, []byte("true"))
		}
	}
	if len(f.URIs) > 0 {
		o.set("resourceSubscriptions", textsArray(f.URIs))
	}
	if len(f.Tasks) > 0 {
		o.set("taskIds", textsArray(f.Tasks))
	}
	params.set("notifications", o.bytes())
	return params.bytes()
}

func readFilter(raw []byte) Filter {
	return Filter{
		Tools:     flag(raw, "toolsListChanged"),
		Prompts:   flag(raw, "promptsListChanged"),
		Resources: flag(raw, "resourcesListChanged"),
		URIs:      texts(raw, "resourceSubscriptions"),
		Tasks:     texts(raw, "taskIds"),
	}
}

func textsArray(list []string) []byte {
	b := []byte("[")
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.Quote(b, s)
	}
	return append(b, ']')
}

// attend subscribes in a session, until that ends.
func (s *Subscription) attend(ctx context.Context, v *conversation) error {
	c := s.client
	c.subs.add(s)
	defer c.subs.remove(s)
	got := Filter{
		Tools:     s.filter.Tools && v.server.Has(mcp.CapTools+".listChanged"),
		Prompts:   s.filter.Prompts && v.server.Has(mcp.CapPrompts+".listChanged"),
		Resources: s.filter.Resources && v.server.Has(mcp.CapResources+".listChanged"),
	}
	if _, ok := v.profile.Method(mcp.MethodTasksGet); ok && v.server.Has(mcp.CapTasks) {
		got.Tasks = slices.Clone(s.filter.Tasks)
	}
	var refused error
	for _, uri := range s.filter.URIs {
		c.subs.count(v, uri, 1)
		_, err := v.call(ctx, &request{method: mcp.MethodSubscribe, params: uriParams(uri)})
		if err == nil {
			got.URIs = append(got.URIs, uri)
			continue
		}
		c.subs.count(v, uri, -1)
		if verdict(err) == nil {
			s.leave(v, got.URIs)
			return err
		}
		refused = err
	}
	if got.empty() {
		return errors.Join(ErrNothingHonoured, refused)
	}
	v.hear()
	s.agreed(got)
	select {
	case <-v.peer.Done():
		return v.peer.Err()
	case <-ctx.Done():
		s.leave(v, got.URIs)
		return context.Cause(ctx)
	}
}

// leave unsubscribes from what nobody else wants.
func (s *Subscription) leave(v *conversation, uris []string) {
	ctx, stop := context.WithTimeout(context.Background(), restoreTimeout)
	defer stop()
	for _, uri := range uris {
		if s.client.subs.count(v, uri, -1) == 0 && v.peer.Err() == nil {
			_, _ = v.call(ctx, &request{method: mcp.MethodUnsubscribe, params: uriParams(uri)})
		}
	}
}

package http

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/httpleg"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// maxTalks bounds the requests in flight with a modern workload, subscriptions
// included. The front bounds both earlier.
const maxTalks = 16 << 10

// talker is the conversation with a modern workload: no session, so nothing to
// lose and nothing to renew (B3.5).
type talker struct {
	w      *Workload
	ctx    context.Context // until Shutdown
	cancel context.CancelCauseFunc
	conn   conn
	known  atomic.Pointer[upstream.Discovered]
}

var _ upstream.Conversation = (*talker)(nil)

func (t *talker) begin(w *Workload) {
	t.w = w
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	link := httpleg.New(w.leg(false))
	t.conn.http = link
	t.conn.Peer = peer.New(link, peer.Config{
		Handler:    upstream.ByCall{},
		Hooks:      w.cfg.Hooks.Peer,
		Budget:     w.cfg.Budget,
		MaxPending: maxTalks,
		Stateless:  true,
	})
}

// end lets what is in flight finish until ctx ends.
func (t *talker) end(ctx context.Context) {
	quiet(ctx, t.conn.Peer)
	t.cancel(upstream.ErrClosed)
	t.conn.Close(upstream.ErrClosed)
	t.conn.http.Wait()
	t.conn.Wait()
}

// leg is the configuration of a connection; listen keeps a GET open.
func (w *Workload) leg(listen bool) httpleg.Config {
	host := func(name string) string { return net.JoinHostPort(name, strconv.Itoa(w.cfg.Port)) }
	return httpleg.Config{
		URL:             w.url,
		HTTP:            w.client,
		Host:            host("127.0.0.1"), // R19
		AltHost:         host("localhost"), // C20
		MaxMessageBytes: w.cfg.MaxMessageBytes,
		Listen:          listen, // P6
		Hooks:           w.cfg.Hooks.Leg,
	}
}

// Conversation is the one with a workload of the modern era.
func (w *Workload) Conversation(ctx context.Context) (upstream.Conversation, error) {
	if w.talk.known.Load() != nil {
		return &w.talk, nil
	}
	era, err := w.Era(ctx)
	switch {
	case err != nil:
		return nil, err
	case !era.Modern():
		return nil, upstream.ErrOtherEra
	}
	if w.talk.known.Load() == nil { // the era is configured
		deadline := time.Now().Add(w.cfg.Hold)
		for {
			if _, err = w.talk.meet(ctx, w.cfg.Startup); err == nil {
				break
			}
			if !retry(ctx, err, deadline) {
				return nil, err
			}
		}
	}
	return &w.talk, nil
}

// Discovered implements upstream.Conversation.
func (t *talker) Discovered() *upstream.Discovered { return t.known.Load() }

// Headers implements upstream.Conversation.
func (t *talker) Headers() bool { return true }

// Call implements upstream.Conversation. While nobody listens it waits up to
// Hold (P1).
func (t *talker) Call(ctx context.Context, r peer.Request) (peer.Answer, error) {
	r.Revision = t.known.Load().Revision
	deadline := time.Now().Add(t.w.cfg.Hold)
	for {
		answer, err := t.conn.Call(ctx, r)
		if err == nil || !retry(ctx, err, deadline) {
			return answer, cut(err)
		}
	}
}

// Discover implements upstream.Conversation.
func (t *talker) Discover(ctx context.Context) (*upstream.Discovered, error) {
	return t.meet(ctx, t.w.cfg.Startup)
}

// meet asks the workload who it is. It does not wait for one that is not there.
func (t *talker) meet(ctx context.Context, startup time.Duration) (*upstream.Discovered, error) {
	d, err := t.ask(ctx, startup)
	switch {
	case err == nil:
		return d, nil
	case errors.Is(err, upstream.ErrNotModern):
		t.w.era.Doubt() // B1.5
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, explain(err)
}

// ask makes one server/discover of at most d.
func (t *talker) ask(ctx context.Context, d time.Duration) (*upstream.Discovered, error) {
	ctx, stop := context.WithTimeoutCause(ctx, d, errSilent)
	defer stop()
	out, err := upstream.Discover(ctx, t.conn.Peer)
	if err != nil {
		return nil, err
	}
	t.known.Store(out)
	return out, nil
}

package proxy

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/internal/broken"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// maxWatched bounds the resources of one subscription.
const maxWatched = 1024

// wanted is what a subscriptions/listen asks for (W33.2).
type wanted struct {
	kinds map[string]bool // members of the filter
	uris  []string
	// tasks are those that are followed; nil: none was asked for.
	tasks []string
}

// ofWorkload reports whether the workload has anything to do with it.
func (w *wanted) ofWorkload() bool {
	for _, wanted := range w.kinds {
		if wanted {
			return true
		}
	}
	return w.tasks == nil || len(w.uris) > 0
}

func readFilter(params []byte) (w wanted, bad *jsonrpc.Error) {
	filter, ok := strictjson.Get(params, "notifications")
	if !ok || !strictjson.IsObject(filter) {
		return w, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "notifications must say what to listen to")
	}
	w.kinds = map[string]bool{}
	for _, kind := range changeKinds {
		flag, _ := strictjson.Get(filter, kind.member)
		w.kinds[kind.member] = string(flag) == "true"
	}
	raw, ok := strictjson.Get(filter, "resourceSubscriptions")
	if !ok || strictjson.IsNull(raw) {
		return w, nil
	}
	fine := strictjson.IsArray(raw)
	strictjson.Elements(raw, func(one []byte) bool {
		uri, isText := strictjson.String(one)
		fine = fine && isText
		if !slices.Contains(w.uris, uri) {
			w.uris = append(w.uris, uri)
		}
		return fine && len(w.uris) <= maxWatched
	})
	switch {
	case !fine:
		return w, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "resourceSubscriptions must be an array of URIs")
	case len(w.uris) > maxWatched:
		return w, internal("too many resources in one listen", mcp.ReasonBusy)
	}
	return w, nil
}

// mlListen serves a subscription on the leg of the client's key, from one life
// of the workload to the next (B10.1, B10.7).
func (p *Proxy) mlListen(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	want, bad := readFilter(x.Msg.Params)
	h := &hearer{p: p, x: x, id: []byte(x.ID().String()), kinds: map[string]bool{}}
	follow, stop, refused := p.mlFollow(ctx, x, h)
	defer stop()
	if refused != nil {
		return dispatch.Fail(refused)
	}
	if want.tasks = follow; bad == nil && !want.ofWorkload() {
		return p.hearTasks(ctx, h, want)
	}
	for attempt := 0; ; attempt++ {
		lease, err := p.cfg.Workload.Instance(ctx, p.keyOf(x))
		switch {
		case err == nil && h.honoured == nil && want.tasks == nil && !heardOf(lease.Init().Capabilities):
			lease.Release()
			return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found")) // B4.3
		case err == nil && bad != nil:
			lease.Release()
			return dispatch.Fail(bad)
		case err == nil:
			attempt = 0
			if err = p.hear(ctx, lease, h, want); err == nil {
				continue // the leg has ended
			}
			if errors.Is(err, errNoStream) {
				return dispatch.Fail(internal("nothing can be sent on this request", mcp.ReasonNoChannel))
			}
		case h.honoured == nil && ctx.Err() == nil:
			return dispatch.Fail(notOpened(ctx, err))
		case errors.Is(err, upstream.ErrClosed):
			return dispatch.Result(listenResult(h.id))
		}
		if ctx.Err() == nil {
			d := min(relistenFirst<<min(attempt, 10), relistenMost)
			if pause(ctx, d/2+rand.N(d)) == nil {
				continue
			}
		}
		return h.over(ctx)
	}
}

// over is how a subscription ends that nobody but its client or we have ended.
func (h *hearer) over(ctx context.Context) dispatch.Outcome {
	if cause := context.Cause(ctx); !endsWell(cause) {
		return dispatch.Fail(dispatch.Explain(cause))
	}
	return dispatch.Result(listenResult(h.id)) // B10.6
}

// heardOf reports whether a workload tells of changes at all.
func heardOf(offered []byte) bool {
	for _, c := range listChanged {
		if c.Declared(offered) {
			return true
		}
	}
	return mcp.CapSubscribe.Declared(offered)
}

// listChanged are the capabilities behind changeKinds.
var listChanged = [...]mcp.Capability{"tools.listChanged", "prompts.listChanged", "resources.listChanged"}

var errNoStream = errors.New("no stream to the client")

// hear keeps a listener on one leg until that ends, which is no error, or ctx.
func (p *Proxy) hear(ctx context.Context, lease upstream.Lease, h *hearer, want wanted) error {
	defer lease.Release()
	d := p.deskOf(ctx, lease, p.keyOf(h.x))
	d.to.join(h)
	defer d.to.leave(h)
	honoured := p.honour(ctx, lease, d, h, want)
	defer func() {
		for _, uri := range h.uris {
			d.to.unwant(uri)
		}
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	if h.honoured != nil {
		h.missed()
	} else if h.acknowledge(honoured) != nil {
		return errNoStream
	}
	select {
	case <-lease.Done():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// honour picks of what is wanted what the workload can do (B10.1), and has it
// watch the resources. The result is the filter for the acknowledgement.
func (p *Proxy) honour(ctx context.Context, lease upstream.Lease, d *desk, h *hearer, want wanted) []byte {
	offered := lease.Init().Capabilities
	b := []byte{'{'}
	kinds := map[string]bool{}
	for i, c := range listChanged {
		kind := changeKinds[i]
		if want.kinds[kind.member] && (c.Declared(offered) || broken.Rule("B4.2")) {
			kinds[kind.method] = true
			b = append(strictjson.Quote(comma(b), kind.member), ":true"...)
		}
	}
	h.mu.Lock()
	h.kinds, h.uris = kinds, nil
	h.mu.Unlock()
	b = want.appendTasks(b)
	// Where nothing can be heard outside requests nothing is promised (B10.3).
	if !mcp.CapSubscribe.Declared(offered) || lease.Deaf != nil && lease.Deaf() && !broken.Rule("B10.3") {
		return append(b, '}')
	}
	var uris []byte
	for _, uri := range want.uris {
		h.mu.Lock()
		h.uris = append(h.uris, uri) // it may change before the answer is here
		h.mu.Unlock()
		d.to.want(uri)
		if _, err := d.settle(ctx, uri); err != nil {
			d.to.refused(uri)
			h.mu.Lock()
			h.uris = h.uris[:len(h.uris)-1]
			h.mu.Unlock()
			continue
		}
		uris = strictjson.Quote(append(uris, ','), uri)
	}
	if uris != nil {
		d.to.spread(ctx, d)
		b = append(append(append(comma(b), `"resourceSubscriptions":[`...), uris[1:]...), ']')
	}
	return append(b, '}')
}

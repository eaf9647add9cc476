package proxy

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const (
	// linger is how long a resource stays subscribed that nobody listens to
	// (B10.2).
	linger = 5 * time.Second
	// again is how soon the processes of a key may repeat a change: what
	// several of them say of the same thing is told once more, at its end.
	again = 100 * time.Millisecond
	// maxRepeats bounds the changes that this is known of; what is over it is
	// told as often as it comes.
	maxRepeats = 1024
)

// audiences are those of each key. The zero value is ready. All methods may be
// called concurrently.
type audiences struct {
	mu  sync.Mutex
	all map[upstream.Key]*audience
}

// audience is who listens to the workload under one key: subscriptions are
// served per principal and fingerprint (P7), whichever of the key's processes a
// change comes from. Lists are those of lane 0 (B11.11), resources are watched
// in every process (B10.2).
//
// Locks: audiences.mu, then audience.mu, then a hearer's or a desk's.
type audience struct {
	of  *audiences
	key upstream.Key

	mu      sync.Mutex
	hearers map[*hearer]struct{}
	desks   map[*desk]struct{}
	wanted  map[string]*interest // by URI
	repeats map[string]*repeat
}

// interest is a resource that somebody listens to, or did until lately.
type interest struct {
	refs  int
	later *time.Timer // takes it out when nobody has come back
}

// repeat is a change that was told a moment ago.
type repeat struct{ m *jsonrpc.Message } // nil: it has not come again

// attend makes a leg one of its key's; retire takes it out.
func (a *audiences) attend(d *desk, key upstream.Key) {
	key.Lane, key.Any = 0, false
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.all[key]
	if at == nil {
		at = &audience{of: a, key: key, hearers: map[*hearer]struct{}{}, desks: map[*desk]struct{}{}, wanted: map[string]*interest{}, repeats: map[string]*repeat{}}
		if a.all == nil {
			a.all = map[upstream.Key]*audience{}
		}
		a.all[key] = at
	}
	at.mu.Lock()
	at.desks[d] = struct{}{}
	at.mu.Unlock()
	d.watches.to = at
}

// retire takes a leg out that has ended.
func (a *audience) retire(d *desk) { a.change(func() { delete(a.desks, d) }) }

// change alters who is there, and forgets an audience of nobody.
func (a *audience) change(f func()) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	if len(a.desks) == 0 && len(a.hearers) == 0 && a.of.all[a.key] == a {
		delete(a.of.all, a.key)
	}
}

func (a *audience) join(h *hearer)  { a.change(func() { a.hearers[h] = struct{}{} }) }
func (a *audience) leave(h *hearer) { a.change(func() { delete(a.hearers, h) }) }

func (a *audience) list() []*hearer {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]*hearer, 0, len(a.hearers))
	for h := range a.hearers {
		out = append(out, h)
	}
	return out
}

// others are the legs of the key but one.
func (a *audience) others(than *desk) (all []*desk) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for d := range a.desks {
		if d != than {
			all = append(all, d)
		}
	}
	return all
}

// tell spreads a notification of the workload (B10.4).
func (a *audience) tell(m *jsonrpc.Message) {
	for _, h := range a.concerned(m) {
		if raw := unforged(m); raw != nil {
			h.tell(raw)
		}
	}
}

func (a *audience) concerned(m *jsonrpc.Message) (out []*hearer) {
	uri := uriOf(m)
	for _, h := range a.list() {
		if h.hears(m.Method, uri) {
			out = append(out, h)
		}
	}
	return out
}

// repeated spreads what one of several processes said. All of them may say so
// at the same time: the first is told at once, the others together.
func (a *audience) repeated(m *jsonrpc.Message) {
	if len(a.concerned(m)) == 0 {
		return
	}
	what := m.Method + " " + uriOf(m)
	a.mu.Lock()
	r := a.repeats[what]
	switch {
	case r != nil:
		r.m = m
	case len(a.repeats) < maxRepeats:
		r := &repeat{}
		a.repeats[what] = r
		time.AfterFunc(again, func() { a.over(what, r) })
	}
	a.mu.Unlock()
	if r == nil {
		a.tell(m)
	}
}

// over tells what came again, and waits once more; or forgets it.
func (a *audience) over(what string, r *repeat) {
	a.mu.Lock()
	m := r.m
	if r.m = nil; m == nil {
		delete(a.repeats, what)
	} else {
		time.AfterFunc(again, func() { a.over(what, r) })
	}
	a.mu.Unlock()
	if m != nil {
		a.tell(m)
	}
}

// missed tells everybody that anything may have changed (B10.7).
func (a *audience) missed() {
	for _, h := range a.list() {
		h.missed()
	}
}

// want counts one more who listens to a resource.
func (a *audience) want(uri string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.wanted[uri]
	if w == nil {
		w = &interest{}
		a.wanted[uri] = w
	}
	w.refs++
	if w.later != nil {
		w.later.Stop()
		w.later = nil
	}
}

// refused takes that back for a resource that the workload will not watch.
func (a *audience) refused(uri string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w := a.wanted[uri]; w != nil {
		if w.refs--; w.refs <= 0 {
			delete(a.wanted, uri)
		}
	}
}

// unwant gives one listener's share back. The last one's ends after a while:
// somebody may come back for it.
func (a *audience) unwant(uri string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.wanted[uri]
	if w == nil {
		return
	}
	if w.refs--; w.refs > 0 {
		return
	}
	if len(a.desks) == 0 {
		delete(a.wanted, uri)
		return
	}
	w.later = time.AfterFunc(linger, func() { a.lapse(uri, w) })
}

func (a *audience) lapse(uri string, w *interest) {
	a.mu.Lock()
	over := w.refs == 0 && a.wanted[uri] == w
	if over {
		delete(a.wanted, uri)
	}
	a.mu.Unlock()
	if !over {
		return
	}
	for _, d := range a.others(nil) {
		go func() { _, _ = d.settle(context.Background(), uri) }() // it may have ended
	}
}

// wants reports whether a resource is to be watched.
func (a *audience) wants(uri string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.wanted[uri] != nil
}

// interests are all resources that are to be watched.
func (a *audience) interests() (uris []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for uri := range a.wanted {
		uris = append(uris, uri)
	}
	return uris
}

// unheard tells of resources that may have changed before they were watched.
func (a *audience) unheard(uris []string) {
	for _, uri := range uris {
		params := append(strictjson.Quote([]byte(`{"uri":`), uri), '}')
		a.tell(&jsonrpc.Message{Method: mcp.NotifyResourceUpdated, Params: params, Raw: jsonrpc.EncodeNotification(mcp.NotifyResourceUpdated, params)})
	}
}

func uriOf(m *jsonrpc.Message) string {
	raw, _ := strictjson.Get(m.Params, "uri")
	uri, _ := strictjson.String(raw)
	return uri
}

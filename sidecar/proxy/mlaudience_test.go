package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// watchLeg is a leg whose workload takes its time to answer.
type watchLeg struct {
	upstream.Leg
	takes  time.Duration
	over   chan struct{}
	shared upstream.Shared

	mu    sync.Mutex
	asked []string
}

func (l *watchLeg) Done() <-chan struct{} { return l.over }
func (l *watchLeg) Err() error {
	select {
	case <-l.over:
		return errors.New("over")
	default:
		return nil
	}
}

func (l *watchLeg) end() {
	close(l.over)
	l.shared.End()
}

func (l *watchLeg) wasAsked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.asked)
}

// sizes are how much an audience keeps.
func (a *audience) sizes() (audiences, desks, wanted, repeats int) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.of.all), len(a.desks), len(a.wanted), len(a.repeats)
}

func (l *watchLeg) Call(ctx context.Context, r peer.Request) (peer.Answer, error) {
	l.mu.Lock()
	raw, _ := strictjson.Get(r.Params, "uri")
	l.asked = append(l.asked, strings.TrimPrefix(r.Method, "resources/")+" "+string(raw))
	l.mu.Unlock()
	t := time.NewTimer(l.takes)
	defer t.Stop()
	select {
	case <-t.C:
		return peer.Answer{Result: []byte("{}")}, nil
	case <-ctx.Done():
		return peer.Answer{}, context.Cause(ctx)
	}
}

// audienceOf is one with a listener to everything below a://b and to tools.
// first is the process that lists are read from.
func audienceOf(t *testing.T) (first *watchLeg, a *audience, h *hearer, on func(lane int, takes time.Duration) (*desk, *watchLeg)) {
	p := New(Config{})
	on = func(lane int, takes time.Duration) (*desk, *watchLeg) {
		leg := &watchLeg{takes: takes, over: make(chan struct{})}
		d := p.deskOf(t.Context(), upstream.Lease{Leg: leg, Shared: &leg.shared, Lane: lane}, upstream.Key{Principal: "p", Lane: lane})
		return d, leg
	}
	d, first := on(0, 0)
	h = &hearer{p: p, kinds: map[string]bool{mcp.NotifyToolsChanged: true}, uris: []string{"a://b"}, id: []byte("1")}
	d.to.join(h)
	return first, d.to, h, on
}

func (h *hearer) kept() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, raw := range h.early {
		m, err := jsonrpc.Parse(raw, strictjson.FromWorkload)
		if err != nil {
			panic(err)
		}
		out = append(out, strings.TrimPrefix(m.Method, "notifications/")+" "+uriOf(m))
	}
	return out
}

func change(t *testing.T, method, params string) peer.Incoming {
	m, err := jsonrpc.Parse(jsonrpc.EncodeNotification(method, []byte(params)), strictjson.FromWorkload)
	if err != nil {
		t.Fatal(err)
	}
	return peer.Incoming{Msg: m}
}

// B10.4: what all processes of a key say at the same time is told at once and
// once more when they have done, and what is new is never held back.
func TestWhatManyProcessesSayIsToldOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, a, h, on := audienceOf(t)
		defer first.end()
		for lane := range 20 {
			d, leg := on(lane+1, 0)
			defer leg.end()
			d.Notification(change(t, mcp.NotifyToolsChanged, `{}`))
			d.Notification(change(t, mcp.NotifyPromptsChanged, `{}`)) // nobody listens to that
			d.Notification(change(t, mcp.NotifyResourceUpdated, fmt.Sprintf(`{"uri":"a://b/%d"}`, lane%2)))
		}
		want := []string{"tools/list_changed ", "resources/updated a://b/0", "resources/updated a://b/1"}
		if got := h.kept(); !slices.Equal(got, want) {
			t.Errorf("at once: %q", got)
		}
		time.Sleep(10 * again)
		got := h.kept()[len(want):]
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("once more: %q", got)
		}
		if _, _, _, n := a.sizes(); n != 0 {
			t.Errorf("%d are still remembered", n)
		}
		// The process that lists are read from is heard as it speaks.
		for _, d := range a.others(nil) {
			if d.lane == 0 {
				for range 3 {
					d.Notification(change(t, mcp.NotifyToolsChanged, `{}`))
				}
			}
		}
		if n := len(h.kept()); n != 2*len(want)+3 {
			t.Errorf("%d were told", n)
		}
	})
}

// The memory for that is bounded: beyond it a change is told each time.
func TestRepeatsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, a, h, on := audienceOf(t)
		defer first.end()
		d, leg := on(1, 0)
		defer leg.end()
		h.mu.Lock()
		h.id = nil // nothing can be told, and nothing is kept
		h.mu.Unlock()
		for i := range maxRepeats + 5 {
			d.Notification(change(t, mcp.NotifyResourceUpdated, fmt.Sprintf(`{"uri":"a://b/%d"}`, i)))
		}
		if _, _, _, n := a.sizes(); n != maxRepeats {
			t.Errorf("%d are remembered", n)
		}
		time.Sleep(2 * again)
		if _, _, _, n := a.sizes(); n != 0 {
			t.Errorf("%d are still remembered", n)
		}
	})
}

// B10.2, B10.7: a process that takes long to watch a resource keeps nobody
// waiting, and what it was late for counts as changed.
func TestAProcessThatWatchesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, a, h, on := audienceOf(t)
		defer first.end()
		a.want("a://b")
		began := time.Now()
		_, leg := on(1, 2*followTime)
		defer leg.end()
		if took := time.Since(began); took != followTime || len(h.kept()) != 0 {
			t.Errorf("after %v: %q", took, h.kept())
		}
		time.Sleep(2 * followTime)
		if got := h.kept(); !slices.Equal(got, []string{"resources/updated a://b"}) {
			t.Errorf("%q", got)
		}
	})
}

// B10.2: a resource is watched until a while after the last one who listens,
// in each process that is there.
func TestNobodyListensAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, a, h, on := audienceOf(t)
		a.want("a://b")
		_, one := on(1, 0)
		_, two := on(2, 0)
		a.unwant("a://b")
		time.Sleep(linger / 2)
		a.want("a://b") // somebody came back
		time.Sleep(2 * linger)
		a.unwant("a://b")
		two.end()
		time.Sleep(2 * linger)
		want := []string{`subscribe "a://b"`, `unsubscribe "a://b"`}
		if was, other := one.wasAsked(), two.wasAsked(); !slices.Equal(was, want) || !slices.Equal(other, want[:1]) {
			t.Errorf("asked %q and %q", was, other)
		}
		if _, desks, wanted, _ := a.sizes(); wanted != 0 || desks != 2 {
			t.Errorf("%d resources, %d processes", wanted, desks)
		}
		one.end()
		a.leave(h)
		synctest.Wait()
		if n, _, _, _ := a.sizes(); n != 1 { // the first process is there
			t.Errorf("%d audiences", n)
		}
		first.end()
		synctest.Wait()
		if n, _, _, _ := a.sizes(); n != 0 {
			t.Errorf("%d audiences are remembered", n)
		}
	})
}

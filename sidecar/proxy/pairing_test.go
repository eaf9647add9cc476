package proxy_test

import (
	"context"
	"errors"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/proxy"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// asked is a workload that says what it was asked for and gives nothing.
type asked struct {
	era  upstream.Era
	err  error
	what string
}

var errNothing = errors.New("nothing to give")

func (a *asked) Era(context.Context) (upstream.Era, error) { return a.era, a.err }

func (a *asked) OpenSession(context.Context, upstream.SessionRequest) (upstream.Leg, error) {
	a.what = "session"
	return nil, errNothing
}

func (a *asked) Instance(context.Context, upstream.Key) (upstream.Lease, error) {
	a.what = "instance"
	return upstream.Lease{}, errNothing
}

func (a *asked) Conversation(context.Context) (upstream.Conversation, error) {
	a.what = "conversation"
	return nil, errNothing
}

func TestWhoServesWhom(t *testing.T) { // B19.6, B1.7, B2.2, P19
	for name, tc := range map[string]struct {
		era            upstream.Era
		err            error
		legacy, modern string
	}{
		"a legacy workload has legs":                       {upstream.EraLegacy, nil, "session", "instance"},
		"a modern workload has one conversation":           {upstream.EraModern, nil, "conversation", "conversation"},
		"a workload of both eras serves each in its own":   {upstream.EraDual, nil, "session", "conversation"},
		"a workload that cannot be asked is asked nothing": {"", upstream.ErrBusy, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &asked{era: tc.era, err: tc.err}
			r := &rig{t: t, events: &events{}}
			front(t, proxy.New(proxy.Config{Workload: w, Hooks: r.events.hooks()}), func() {}, r)
			(&client{r: r}).post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
			if w.what != tc.legacy {
				t.Errorf("a legacy client: asked for %q", w.what)
			}
			w.what = ""
			r.modern().request("1", "tools/list", "").rest()
			if w.what != tc.modern {
				t.Errorf("a modern client: asked for %q", w.what)
			}
		})
	}
}

package proxy

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// talk is a conversation in memory: answer makes each answer; subscriptions
// stay open, acknowledged with what they ask for, until their ctx ends.
type talk struct {
	answer func(r peer.Request) string

	mu    sync.Mutex
	calls []string
	heard []*heard
}

// heard is one subscription.
type heard struct {
	asked string
	h     peer.Handler
	over  bool
}

func (c *talk) Discovered() *upstream.Discovered {
	return &upstream.Discovered{Revision: mcp.Revision20260728, Capabilities: []byte(`{"tools":{"listChanged":true},"resources":{"subscribe":true}}`)}
}

func (c *talk) Discover(context.Context) (*upstream.Discovered, error) { return c.Discovered(), nil }

func (c *talk) Headers() bool { return false }

func (c *talk) Call(ctx context.Context, r peer.Request) (peer.Answer, error) {
	c.mu.Lock()
	c.calls = append(c.calls, string(r.Params))
	c.mu.Unlock()
	if r.Method != mcp.MethodListen {
		return peer.Answer{Result: []byte(c.answer(r))}, nil
	}
	asked, _ := strictjson.Get(r.Params, "notifications")
	one := &heard{asked: string(asked), h: r.Value.(peer.Handler)}
	c.mu.Lock()
	c.heard = append(c.heard, one)
	c.mu.Unlock()
	one.say(mcp.NotifyAcknowledged, `{"notifications":`+string(asked)+`}`)
	<-ctx.Done()
	c.mu.Lock()
	one.over = true
	c.mu.Unlock()
	return peer.Answer{}, context.Cause(ctx)
}

// ended reports whether the subscription is over.
func (c *talk) ended(o *heard) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return o.over
}

func (o *heard) say(method, params string) {
	m, err := jsonrpc.Parse(jsonrpc.EncodeNotification(method, []byte(params)), strictjson.FromWorkload)
	if err != nil {
		panic(err)
	}
	o.h.Notification(peer.Incoming{Msg: m})
}

// told is a session that keeps what it is told.
type told struct {
	dispatch.Session
	revision, caps string
	mu             sync.Mutex
	got            []string
}

func (s *told) Principal() string          { return "" }
func (s *told) Revision() string           { return s.revision }
func (s *told) ClientCapabilities() []byte { return []byte(s.caps) }

func (s *told) Notify(raw []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, string(raw))
	return nil
}

// asks is the way back to a client whose user accepts everything.
type accepts struct{ times int }

func (a *accepts) Notify([]byte) error { return nil }

func (a *accepts) Call(context.Context, string, []byte) dispatch.Outcome {
	a.times++
	return dispatch.Result([]byte(`{"action":"accept"}`))
}

// run makes one tools/call of a legacy client in front of conv.
func runCall(t *testing.T, conv *talk, revision, caps string, ch dispatch.Channel) (dispatch.Outcome, *Proxy) {
	t.Helper()
	profile, ok := mcp.Lookup(revision)
	if !ok {
		t.Fatal(revision)
	}
	msg, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`), strictjson.FromWorkload)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{}
	s := &lmSession{p: p, s: &told{revision: revision, caps: caps}, conv: conv, profile: profile, capabilities: []byte(caps)}
	x := dispatch.NewExchange(t.Context(), dispatch.Request{Msg: msg, Profile: profile, ClientCapabilities: []byte(caps), Channel: ch})
	e, err := s.errand(x)
	if err != nil {
		t.Fatal(err)
	}
	return p.lmRounds(t.Context(), x, s, e, nil), p
}

func TestAWorkloadThatOnlySaysToComeBack(t *testing.T) { // B8.4
	synctest.Test(t, func(t *testing.T) {
		conv := &talk{answer: func(peer.Request) string { return `{"resultType":"input_required","requestState":"s"}` }}
		began := time.Now()
		o, _ := runCall(t, conv, mcp.Revision20250618, `{}`, nil)
		if o.Err == nil || o.Err.Reason() != reasonRounds {
			t.Errorf("%+v", o)
		}
		// 250 ms, doubling to 5 s, two minutes all in all.
		if took := time.Since(began); took > emptyTotal || took < emptyTotal-emptyMost || len(conv.calls) > 30 {
			t.Errorf("%v, %d calls", took, len(conv.calls))
		}
	})
}

func TestAnAddressIsNotAskedForTwice(t *testing.T) { // B19.3, B8.7, P28
	const url = `{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x/y"}}}}`
	for name, tc := range map[string]struct {
		times int // that the workload asks
		asked int
		want  string
	}{
		"the user was quick enough": {2, 1, `{"content":[]}`},
		"the user was not":          {9, 1, `-32042`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				conv := &talk{answer: func(peer.Request) string {
					if n++; n <= tc.times {
						return url
					}
					return `{"content":[]}`
				}}
				client := &accepts{}
				o, _ := runCall(t, conv, mcp.Revision20251125, `{"elicitation":{"url":{}}}`, client)
				got := string(o.Result)
				if o.Err != nil {
					got = fmt.Sprint(o.Err.Code)
					if !strings.Contains(string(o.Err.Data), `"elicitations":[{"mode":"url","message":"m","url":"https://x/y","elicitationId":"`) {
						t.Errorf("data %s", o.Err.Data)
					}
				}
				if got != tc.want || client.times != tc.asked {
					t.Errorf("got %s, asked %d times", got, client.times)
				}
				if last := conv.calls[1]; !strings.Contains(last, `"inputResponses":{"k":{"action":"accept"}}`) {
					t.Errorf("sent %s", last)
				}
			})
		})
	}
}

func TestANewSubscriptionBeforeTheOldOneEnds(t *testing.T) { // B19.5, B10.9
	synctest.Test(t, func(t *testing.T) {
		conv := &talk{}
		p := &Proxy{}
		client := &told{revision: mcp.Revision20250618}
		s := &lmSession{p: p, s: client, conv: conv}
		p.hubs.join(p, s)
		synctest.Wait()
		h := p.hubs.of(s)
		version, _ := h.want(s, "a:b")
		if err := h.await(t.Context(), version); err != nil {
			t.Fatal(err)
		}
		if len(conv.heard) != 2 || conv.heard[0].asked != `{"toolsListChanged":true}` || conv.heard[1].asked != `{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}` {
			t.Fatalf("%+v", conv.heard)
		}
		before, now := conv.heard[0], conv.heard[1]
		// Both are open. What was on its way on the old one is not lost, what
		// comes on both is told once, in whatever order.
		if conv.ended(before) {
			t.Error("the old subscription ended first")
		}
		before.say(mcp.NotifyToolsChanged, `{"n":1}`)
		now.say(mcp.NotifyToolsChanged, `{"n":1}`)
		now.say(mcp.NotifyToolsChanged, `{"n":2}`)
		before.say(mcp.NotifyToolsChanged, `{"n":2}`)
		before.say(mcp.NotifyToolsChanged, `{"n":3}`)
		now.say(mcp.NotifyResourceUpdated, `{"uri":"a:b"}`)
		now.say(mcp.NotifyResourceUpdated, `{"uri":"a:b"}`)
		time.Sleep(time.Second)
		if !conv.ended(before) || conv.ended(now) {
			t.Error("the wrong subscription ended")
		}
		var got []string
		for _, raw := range client.got {
			params, _ := strictjson.Get([]byte(raw), "params")
			got = append(got, string(params))
		}
		if want := `{"n":1} {"n":2} {"n":3} {"uri":"a:b"} {"uri":"a:b"}`; strings.Join(got, " ") != want {
			t.Errorf("told %v", got)
		}
		// Nothing is wanted any more: nothing is subscribed.
		p.hubs.leave(s)
		synctest.Wait()
		if !conv.ended(now) || len(p.hubs.all) != 0 {
			t.Error("the subscription outlived its sessions")
		}
	})
}

package proxy

import (
	"context"
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
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// regular is a client of 2025-11-25 with a leg of its own to the shop.
type regular struct {
	w     *works
	state *session
}

func (w *works) regular(who string) *regular {
	w.t.Helper()
	state := &session{p: w.p, s: &anns{told: told{revision: mcp.Revision20251125, caps: noTasks}, who: who}}
	l := &shopLeg{s: w.s, waiting: map[string]chan string{}}
	l.Peer = peer.New(l, peer.Config{Handler: state})
	in, err := l.Initialize(w.t.Context(), upstream.InitializeParams(upstream.Key{}), upstream.Accept)
	if err != nil {
		w.t.Fatal(err)
	}
	l.init = in
	state.on(l)
	w.s.mu.Lock()
	w.s.legs[upstream.Key{Principal: "session of " + who}] = l
	w.s.mu.Unlock()
	return &regular{w: w, state: state}
}

// anns is a session of somebody.
type anns struct {
	told
	who string
}

func (n *anns) Principal() string { return n.who }

// replies is a stream whose client answers with what it was asked.
type replies struct {
	mu    sync.Mutex
	asked []string
}

func (r *replies) Notify([]byte) error { return nil }

func (r *replies) Call(_ context.Context, _ string, params []byte) dispatch.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, string(params))
	message, _ := strictjson.Get(params, "message")
	return dispatch.Result([]byte(`{"action":"accept","content":{"n":` + string(message) + `}}`))
}

// do makes a request of the session; ch is its stream.
func (r *regular) do(method, params string, ch dispatch.Channel) string {
	r.w.t.Helper()
	profile, _ := mcp.Lookup(mcp.Revision20251125)
	msg, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":"c","method":"`+method+`","params":`+params+`}`), strictjson.FromClient)
	if err != nil {
		r.w.t.Fatal(err)
	}
	x := dispatch.NewExchange(r.w.t.Context(), dispatch.Request{
		Msg: msg, Profile: profile, Session: r.state.s, Principal: r.state.s.Principal(), ClientCapabilities: []byte(noTasks), Channel: ch,
	})
	o := r.w.p.ll(r.w.t.Context(), x, r.state)
	if o.Err != nil {
		return string(jsonrpc.AppendError(nil, o.Err))
	}
	return string(o.Result)
}

// asksItsName is a tool that asks for its own argument and tells the answer.
var asksItsName = good{support: "required", run: func(j *job) string {
	name := of(string(j.params), "arguments", "n")
	j.waits(time.Second)
	answer := j.ask(mcp.MethodElicit, `{"message":`+name+`,"requestedSchema":{"type":"object","properties":{}}}`)
	return fine(strings.Trim(name, `"`) + strings.Trim(of(answer, "result", "content", "n"), `"`))
}}

// B6.1, B12.4, B12.8: two tasks of one session whose tools are tasks of the
// workload ask on the streams where their own results are waited for.
func TestTasksOfOneSessionDoNotMix(t *testing.T) {
	inBubble(t, map[string]good{"asks": asksItsName}, task.Options{}, nil, func(t *testing.T, w *works) {
		c := w.regular("ann")
		c.do(mcp.MethodToolsList, `{}`, nil)
		ids := map[string]string{}
		for _, n := range []string{"one", "two"} {
			ids[n] = of(c.do(mcp.MethodToolsCall, `{"name":"asks","arguments":{"n":"`+n+`"},"task":{}}`, nil), "task", "taskId")
		}
		var all sync.WaitGroup
		for n, id := range ids {
			all.Go(func() {
				stream := &replies{}
				got := c.do(mcp.MethodTasksResult, `{"taskId":`+id+`}`, stream)
				if of(got, "content") != `[{"type":"text","text":"`+n+n+`"}]` || of(got, "_meta", mcp.MetaRelatedTask, "taskId") != id {
					t.Errorf("%s got %s", n, got)
				}
				if len(stream.asked) != 1 || of(stream.asked[0], "message") != `"`+n+`"` || of(stream.asked[0], "_meta", mcp.MetaRelatedTask, "taskId") != id {
					t.Errorf("%s was asked %s", n, stream.asked)
				}
			})
		}
		all.Wait()
		// A plain call of the same tool waits, and is asked on its own stream.
		stream := &replies{}
		if got := c.do(mcp.MethodToolsCall, `{"name":"asks","arguments":{"n":"three"}}`, stream); of(got, "content") != `[{"type":"text","text":"threethree"}]` || len(stream.asked) != 1 {
			t.Errorf("got %s, asked %s", got, stream.asked)
		}
		if n := w.s.saw("tools/call asks"); n != 0 { // the list has told
			t.Errorf("%d calls were refused", n)
		}
		c.state.leg.Close(nil)
	})
}

// B3.6, B19.4: requests, tokens and tasks of the same ids, at one client and at
// another, on one leg and on two, are different ones.
func TestTasksOfTheSameIds(t *testing.T) {
	type made struct {
		who *buyer
		id  string
	}
	// Callers without a name are different people: they share a leg only where
	// that was asked for (P5).
	test := func(legs int) func(t *testing.T, w *works) {
		return func(t *testing.T, w *works) {
			all := map[string]made{}
			for n, who := range map[string]string{"a1": "ann", "a2": "ann", "b1": "bob", "n1": "", "n2": ""} {
				b := w.buyer(who)
				all[n] = made{b, b.begins(`{"name":"asks","arguments":{"n":"` + n + `"},"_meta":{"progressToken":"same"}}`)}
			}
			if len(w.s.legs) != legs {
				t.Errorf("%d legs", len(w.s.legs))
			}
			for n, m := range all {
				got := m.who.until(m.id, "input_required")
				if of(got, "inputRequests", "elicitation-1", "params", "message") != `"`+n+`"` {
					t.Errorf("%s asks %s", n, got)
				}
				m.who.do(mcp.MethodTasksUpdate, `{"taskId":`+m.id+`,"inputResponses":{"elicitation-1":{"action":"accept","content":{"n":"-`+n+`"}}}}`)
			}
			for n, m := range all {
				again := w.buyer(m.who.who) // another connection of the same one
				if got := again.until(m.id, "completed"); of(got, "result", "content") != `[{"type":"text","text":"`+n+`-`+n+`"}]` {
					t.Errorf("%s got %s", n, got)
				}
			}
		}
	}
	goods := map[string]good{"asks": asksItsName}
	inBubble(t, goods, task.Options{}, nil, test(4))
	inBubble(t, goods, task.Options{}, func(c *Config) { c.Leasing = LeaseNever }, test(3))
}

// B12.9: the task is its owner's, who may come back on another connection; that
// the first one goes changes nothing.
func TestTheRequesterComesBack(t *testing.T) {
	inBubble(t, map[string]good{"asks": asksItsName}, task.Options{}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		ctx, leave := context.WithCancelCause(t.Context())
		ann.ctx = ctx
		id := ann.begins(`{"name":"asks","arguments":{"n":"x"}}`)
		leave(dispatch.ErrDisconnected)
		synctest.Wait()
		again := w.buyer("ann")
		again.until(id, "input_required")
		again.do(mcp.MethodTasksUpdate, `{"taskId":`+id+`,"inputResponses":{"elicitation-1":{"action":"accept","content":{"n":"-back"}}}}`)
		if got := again.until(id, "completed"); of(got, "result", "content") != `[{"type":"text","text":"x-back"}]` {
			t.Errorf("got %s", got)
		}
		if w.s.saw("tasks/cancel") != 0 {
			t.Errorf("the workload was told %q", w.s.calls)
		}
	})
}

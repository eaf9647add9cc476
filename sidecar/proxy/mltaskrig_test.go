package proxy

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/park"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const form = `{"message":"?","requestedSchema":{"type":"object","properties":{}}}`

// fine is an outcome with a text.
func fine(text string) string {
	return `"result":{"content":[{"type":"text","text":"` + text + `"}]}`
}

// works is a shop with its proxy, in a bubble of virtual time.
type works struct {
	t     *testing.T
	s     *shop
	p     *Proxy
	tasks *task.Engine
}

// inBubble runs a test with a shop.
func inBubble(t *testing.T, goods map[string]good, o task.Options, edit func(*Config), test func(t *testing.T, w *works)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		keys := &seal.Keyring{}
		if err := keys.LoadEphemeral(); err != nil {
			t.Fatal(err)
		}
		o.Keys, o.Pod = keys, "pod"
		engine, err := task.New(o)
		if err != nil {
			t.Fatal(err)
		}
		s := &shop{t: t, goods: goods, legs: map[upstream.Key]*shopLeg{}}
		cfg := Config{Workload: s, Keys: keys, Pod: "pod", Tasks: engine, Promote: DefaultPromote, Parking: park.Limits{}}
		if edit != nil {
			edit(&cfg)
		}
		w := &works{t: t, s: s, p: New(cfg), tasks: engine}
		defer func() {
			ctx, stop := context.WithTimeout(context.Background(), time.Minute)
			defer stop()
			if err := engine.Close(ctx); err != nil {
				t.Error(err)
			}
			w.p.Close()
			s.close()
			time.Sleep(time.Minute) // everything that lingers is over
		}()
		test(t, w)
	})
}

// buyer is a client of 2026-07-28.
type buyer struct {
	w         *works
	who, caps string
	ctx       context.Context // of its requests; nil: the test's
	told      *notes          // what its streams are told; nil: none can be
}

// notes keeps what a stream is told.
type notes struct {
	mu  sync.Mutex
	all []string
}

// Notify implements dispatch.Channel.
func (n *notes) Notify(raw []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, string(raw))
	return nil
}

// Call implements dispatch.Channel: there are no reverse requests.
func (n *notes) Call(context.Context, string, []byte) dispatch.Outcome {
	return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "none"))
}

func (n *notes) list() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

const (
	takesTasks = `{"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	noTasks    = `{"elicitation":{"form":{},"url":{}}}`
)

func (w *works) buyer(who string) *buyer { return &buyer{w: w, who: who, caps: takesTasks} }

// do makes a request and returns its result or its error, raw.
func (b *buyer) do(method, params string) string {
	b.w.t.Helper()
	profile, _ := mcp.Lookup(mcp.Revision20260728)
	msg, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":"c","method":"`+method+`","params":`+params+`}`), strictjson.FromClient)
	if err != nil {
		b.w.t.Fatal(err)
	}
	ctx := b.ctx
	if ctx == nil {
		ctx = b.w.t.Context()
	}
	r := dispatch.Request{Msg: msg, Profile: profile, Principal: b.who, ClientCapabilities: []byte(b.caps)}
	if b.told != nil {
		r.Channel = b.told
	}
	o := b.w.p.Serve(ctx, dispatch.NewExchange(ctx, r))
	if o.Err != nil {
		return string(jsonrpc.AppendError(nil, o.Err))
	}
	return string(o.Result)
}

// begins makes a call that is answered with a task, and returns its id.
func (b *buyer) begins(params string) string {
	b.w.t.Helper()
	made := b.do(mcp.MethodToolsCall, params)
	if of(made, "resultType") != `"task"` {
		b.w.t.Fatalf("no task: %s", made)
	}
	return of(made, "taskId")
}

// looks is the task once nothing moves any more.
func (b *buyer) looks(id string) string {
	b.w.t.Helper()
	synctest.Wait()
	return b.do(mcp.MethodTasksGet, `{"taskId":`+id+`}`)
}

// of is a member of an object, raw.
func of(object string, path ...string) string {
	raw, _ := strictjson.GetPath([]byte(object), path...)
	return string(raw)
}

// until lets time pass until the task has the status.
func (b *buyer) until(id, status string) string {
	b.w.t.Helper()
	got := ""
	for range 600 {
		if got = b.looks(id); of(got, "status") == `"`+status+`"` {
			return got
		}
		time.Sleep(time.Second)
	}
	b.w.t.Fatalf("never %s: %s", status, got)
	return ""
}

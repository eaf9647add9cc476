package server_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// sluggish is a store whose reads wait while it is told to.
type sluggish struct {
	task.Memory
	wait chan struct{}
}

func (s *sluggish) Get(ctx context.Context, key string) (task.Record, error) {
	if s.wait != nil {
		<-s.wait
	}
	return s.Memory.Get(ctx, key)
}

// A listen whose tasks are looked up in a slow store holds up its own ack only:
// others hear of changes meanwhile, and it hears of them after its ack (W33.3).
func TestASlowStoreHoldsUpItsOwnListenOnly(t *testing.T) {
	store := &sluggish{}
	tasksBubble(t, task.Options{Store: store, StoreTimeout: time.Hour}, func(t *testing.T, r *tasksRig) {
		release := make(chan struct{})
		r.tool("works", server.TaskOptional, func(*server.Context) (string, error) { <-release; return "", nil })
		must(t, r.s.AddResource(server.Resource{URI: "x:a"}, text))
		id := r.modern("ann", withTasks).start("works")
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan jsonrpc.Outcome, 2)
		listen := func(params string, args ...any) *listening {
			heard := &listening{}
			a := r.modern("ann", withTasks)
			a.ctx, a.channel = ctx, heard
			go func() { done <- a.do("subscriptions/listen", params, args...) }()
			synctest.Wait()
			return heard
		}
		store.wait = make(chan struct{})
		slow := listen(`{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x:a"],"taskIds":[%q]}}`, id)
		quick := listen(`{"notifications":{"toolsListChanged":true}}`)
		for i := range 3 {
			r.tool(fmt.Sprint("more", i), server.TaskForbidden, func(*server.Context) (string, error) { return "", nil })
			r.s.ResourceUpdated("x:a")
			time.Sleep(time.Minute) // long past what is waited for more changes
		}
		if got := methods(slow); len(got) != 0 {
			t.Errorf("before the ack: %v", got)
		}
		if got, want := methods(quick), []string{mcp.NotifyAcknowledged, mcp.NotifyToolsChanged, mcp.NotifyToolsChanged, mcp.NotifyToolsChanged}; !slices.Equal(got, want) {
			t.Errorf("another listen: %v", got)
		}
		close(store.wait)
		synctest.Wait()
		got := methods(slow)
		if len(got) == 0 || got[0] != mcp.NotifyAcknowledged {
			t.Fatalf("the first of %v", got)
		}
		slices.Sort(got)
		if want := []string{mcp.NotifyResourceUpdated, mcp.NotifyAcknowledged, mcp.NotifyTasks, mcp.NotifyToolsChanged}; !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("the slow one: %v", got)
		}
		close(release)
		cancel(dispatch.ErrDisconnected)
		<-done
		<-done
	})
}

// A listen that cannot be acknowledged ends, and with it those who would have
// sent more on it.
func TestAListenWithoutAnAckEnds(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		release := make(chan struct{})
		r.tool("works", server.TaskOptional, func(*server.Context) (string, error) { <-release; return "", nil })
		a := r.modern("ann", withTasks)
		id := a.start("works")
		a.refused(-32603, mcp.ReasonNoChannel, "subscriptions/listen", `{"notifications":{"toolsListChanged":true,"taskIds":[%q]}}`, id)
		close(release)
	})
}

func methods(l *listening) (out []string) {
	for _, m := range l.all() {
		out = append(out, m.Method)
	}
	return out
}

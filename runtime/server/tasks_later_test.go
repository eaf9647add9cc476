package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

func TestATaskAfterRounds(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		release := make(chan struct{})
		runs := 0
		r.add(server.Tool{Name: "later", TaskSupport: server.TaskRequired, TaskLater: true}, func(c *server.Context) (string, error) {
			runs++
			said, err := confirms(c)
			if err != nil {
				return "", err
			}
			h, err := c.BecomeTask()
			if err != nil || h == nil || c.Task() != h {
				t.Errorf("got %v, %v", h, err)
			}
			if again, err := c.BecomeTask(); again != h || err != nil {
				t.Errorf("again: %v, %v", again, err)
			}
			must(t, c.Progress(1, 0, "became one"))
			<-release
			second, err := c.Elicit("second", server.ElicitParams{Message: "and?", Schema: json.RawMessage(`{"type":"object","properties":{}}`)})
			return said + " " + string(second.Action), err
		})
		a := r.modern("ann", withTasks)
		round := a.must("tools/call", `{"name":"later"}`)
		if field(round, "resultType") != "input_required" || field(round, "taskId") != "none" || field(round, "inputRequests", "sure", "method") != "elicitation/create" {
			t.Fatalf("got %s", round)
		}
		made := a.must("tools/call", `{"name":"later","requestState":%q,"inputResponses":{"sure":{"action":"decline"}}}`, field(round, "requestState"))
		if field(made, "resultType") != "task" || field(made, "requestState") != "none" || field(made, "inputRequests") != "none" || runs != 2 {
			t.Fatalf("got %s after %d runs", made, runs)
		}
		id := field(made, "taskId")
		if got := a.status(id, "working"); field(got, "statusMessage") != "became one" {
			t.Errorf("got %s", got)
		}
		close(release)
		if got := a.status(id, "input_required"); field(got, "inputRequests", "second-1", "params", "message") != "and?" {
			t.Errorf("got %s", got)
		}
		a.must("tasks/update", `{"taskId":%q,"inputResponses":{"second-1":{"action":"cancel"}}}`, id)
		if got := a.status(id, "completed"); field(got, "result", "content", 0, "text") != "decline cancel" || runs != 2 {
			t.Errorf("got %s after %d runs", got, runs)
		}
	})
}

func TestACallThatStaysOne(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		ended := make(chan error, 1)
		r.add(server.Tool{Name: "later", TaskSupport: server.TaskOptional, TaskLater: true}, greets)
		r.add(server.Tool{Name: "panics", TaskSupport: server.TaskOptional, TaskLater: true}, func(*server.Context) (string, error) { panic("boom") })
		r.add(server.Tool{Name: "tries", TaskSupport: server.TaskOptional, TaskLater: true}, func(c *server.Context) (string, error) {
			h, err := c.BecomeTask()
			if h != nil || err != nil {
				t.Errorf("got %v, %v", h, err)
			}
			return "hello", nil
		})
		r.add(server.Tool{Name: "sleeps", TaskSupport: server.TaskOptional, TaskLater: true}, func(c *server.Context) (string, error) {
			<-c.Done()
			_, err := c.BecomeTask()
			ended <- err
			return "", err
		})
		a := r.modern("ann", withTasks)
		if got := a.must("tools/call", `{"name":"later"}`); field(got, "resultType") != "complete" || field(got, "content", 0, "text") != "hello" {
			t.Errorf("got %s", got)
		}
		a.refused(-32603, "", "tools/call", `{"name":"panics"}`)
		for _, b := range []*taskUser{r.modern("ann", `{}`), {tasksRig: r, revision: mcp.Revision20250618}} {
			if got := b.must("tools/call", `{"name":"tries"}`); field(got, "content", 0, "text") != "hello" {
				t.Errorf("got %s", got)
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		a.ctx = ctx
		done := make(chan jsonrpc.Outcome, 1)
		go func() { done <- a.do("tools/call", `{"name":"sleeps"}`) }()
		synctest.Wait()
		cancel(dispatch.ErrDisconnected)
		<-done
		if err := <-ended; !errors.Is(err, dispatch.ErrDisconnected) {
			t.Errorf("a request that has ended became a task: %v", err)
		}
	})
}

func TestWhatBecameATaskEndsWithIt(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		ended := make(chan error, 1)
		r.add(server.Tool{Name: "later", TaskSupport: server.TaskOptional, TaskLater: true, Timeout: time.Hour}, func(c *server.Context) (string, error) {
			if _, err := c.BecomeTask(); err != nil {
				t.Error(err)
			}
			<-c.Done()
			ended <- context.Cause(c)
			return "late", nil
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		a := r.modern("ann", withTasks)
		a.ctx = ctx
		id := a.start("later")
		cancel(dispatch.ErrDisconnected)
		a.ctx = nil
		a.status(id, "working")
		a.must("tasks/cancel", `{"taskId":%q}`, id)
		if err := <-ended; !errors.Is(err, task.ErrCancelled) {
			t.Errorf("ended by %v", err)
		}
		a.status(id, "cancelled")
	})
}

func TestACallThatCouldNotBecomeATask(t *testing.T) {
	tasksBubble(t, task.Options{PerOwner: 1}, func(t *testing.T, r *tasksRig) {
		ended := make(chan error, 1)
		r.tool("sleeps", server.TaskOptional, sleeps)
		r.add(server.Tool{Name: "later", TaskSupport: server.TaskOptional, TaskLater: true}, func(c *server.Context) (string, error) {
			for range 2 {
				if h, err := c.BecomeTask(); h != nil || err == nil {
					t.Errorf("got %v, %v", h, err)
				}
			}
			<-c.Done()
			ended <- context.Cause(c)
			return "", nil
		})
		a := r.modern("ann", withTasks)
		a.start("sleeps")
		ctx, cancel := context.WithCancelCause(t.Context())
		a.ctx = ctx
		done := make(chan jsonrpc.Outcome, 1)
		go func() { done <- a.do("tools/call", `{"name":"later"}`) }()
		synctest.Wait()
		cancel(dispatch.ErrDisconnected)
		<-done
		if err := <-ended; !errors.Is(err, dispatch.ErrDisconnected) {
			t.Errorf("ended by %v", err)
		}
	})
}

func TestALateHandlerMakesNoTask(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		tried := make(chan error, 1)
		r.add(server.Tool{Name: "late", TaskSupport: server.TaskOptional, TaskLater: true, Timeout: time.Second}, func(c *server.Context) (string, error) {
			time.Sleep(time.Minute)
			h, err := c.BecomeTask()
			if h != nil {
				t.Error("it became one")
			}
			tried <- err
			return "", nil
		})
		a := r.modern("ann", withTasks)
		a.refused(-32603, `"timeout"`, "tools/call", `{"name":"late"}`)
		if err := <-tried; err == nil {
			t.Error("no error")
		}
		if tasks, _, err := r.engine.List(t.Context(), task.Owner{Principal: "ann"}, "", 0); err != nil || len(tasks) != 0 {
			t.Errorf("%v, %v", tasks, err)
		}
	})
}

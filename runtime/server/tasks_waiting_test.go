package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

func TestInputOfALegacyTask(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("confirms", server.TaskRequired, confirms)
		a := r.legacy("ann")
		id := a.start("confirms")
		a.status(id, "input_required")
		l := &line{say: accepts}
		a.channel = l
		if got := a.must("tasks/result", `{"taskId":%q}`, id); field(got, "content", 0, "text") != "accept" {
			t.Errorf("got %s", got)
		}
		asked := l.questions()
		if len(asked) != 1 || asked[0].Method != "elicitation/create" || field(asked[0].Params, "message") != "sure?" || field(asked[0].Params, "_meta", mcp.MetaRelatedTask, "taskId") != id {
			t.Errorf("asked %s", asked)
		}
		var statuses []string
		for _, note := range a.session.told() {
			if note.Method != "notifications/tasks/status" || field(note.Params, "taskId") != id || field(note.Params, "_meta") != "none" {
				t.Errorf("told %+v", note)
			}
			statuses = append(statuses, field(note.Params, "status"))
		}
		if got := strings.Join(statuses, " "); got != "input_required completed" && got != "input_required working completed" {
			t.Errorf("told %s", got)
		}
	})
}

func TestRefusalInALegacyTask(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("confirms", server.TaskRequired, confirms)
		a := r.legacy("ann")
		id := a.start("confirms")
		a.channel = &line{say: func(string) jsonrpc.Outcome { return jsonrpc.Fail(jsonrpc.Errorf(-1, "no")) }}
		if got := a.must("tasks/result", `{"taskId":%q}`, id); field(got, "isError") != "true" || !strings.Contains(string(got), "the client answered: no") {
			t.Errorf("got %s", got)
		}
	})
}

func TestAWaitingClientGoesAway(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("confirms", server.TaskRequired, confirms)
		a := r.legacy("ann")
		id := a.start("confirms")
		ctx, cancel := context.WithCancelCause(t.Context())
		deaf := &line{}
		a.ctx, a.channel = ctx, deaf
		done := make(chan jsonrpc.Outcome, 1)
		go func() { done <- a.do("tasks/result", `{"taskId":%q}`, id) }()
		if got := deaf.questions(); len(got) != 1 {
			t.Errorf("asked %v", got)
		}
		cancel(dispatch.ErrCancelled)
		if o := <-done; o.Err == nil {
			t.Errorf("got %s", o.Result)
		}
		b := r.legacy("ann")
		b.status(id, "input_required")
		b.channel = &line{say: accepts}
		if got := b.must("tasks/result", `{"taskId":%q}`, id); field(got, "content", 0, "text") != "accept" {
			t.Errorf("got %s", got)
		}
	})
}

func TestAClientThatCannotBeAsked(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("confirms", server.TaskRequired, confirms)
		a := r.legacy("ann")
		id := a.start("confirms")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, dispatch.ErrDeadline)
		defer cancel()
		a.ctx = ctx // and no channel
		a.refused(-32603, `"timeout"`, "tasks/result", `{"taskId":%q}`, id)
		a.ctx = nil
		a.status(id, "input_required")
	})
}

func TestATaskForClientsThatKnowNone(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("confirms", server.TaskRequired, confirms)
		ended := make(chan error, 2)
		r.tool("sleeps", server.TaskRequired, func(c *server.Context) (string, error) {
			_, err := sleeps(c)
			ended <- err
			return "", err
		})
		old := &taskUser{tasksRig: r, revision: mcp.Revision20250618, caps: `{"elicitation":{}}`}
		l := &line{say: accepts}
		old.channel = l
		got := old.must("tools/call", `{"name":"confirms"}`)
		if asked := l.questions(); field(got, "content", 0, "text") != "accept" || field(got, "_meta") != "none" || len(asked) != 1 || field(asked[0].Params, "_meta") != "none" {
			t.Errorf("got %s, asked %s", got, asked)
		}
		interrupt := func(cause error) {
			ctx, cancel := context.WithCancelCause(t.Context())
			impatient := &taskUser{tasksRig: r, revision: mcp.Revision20250618, ctx: ctx}
			done := make(chan jsonrpc.Outcome, 1)
			go func() { done <- impatient.do("tools/call", `{"name":"sleeps"}`) }()
			synctest.Wait()
			cancel(cause)
			<-done
			synctest.Wait()
			select {
			case err := <-ended:
				if !errors.Is(err, task.ErrCancelled) || !errors.Is(cause, dispatch.ErrCancelled) {
					t.Errorf("%v ended it: %v", cause, err)
				}
			default:
				if errors.Is(cause, dispatch.ErrCancelled) {
					t.Error("a cancel did not end it")
				}
			}
		}
		interrupt(dispatch.ErrCancelled)
		interrupt(dispatch.ErrSessionEnded)
	})
}

func TestCallFromALegacyTask(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("calls", server.TaskRequired, func(c *server.Context) (string, error) {
			var capability *server.CapabilityError
			if _, err := c.Call("sampling/createMessage", nil); !errors.As(err, &capability) {
				t.Errorf("got %v", err)
			}
			var refusal *server.ClientError
			if _, err := c.Call("vendor/thing", nil); !errors.As(err, &refusal) || refusal.Code != -32601 {
				t.Errorf("got %v", err)
			}
			got, err := c.Call("roots/list", nil)
			return string(got), err
		})
		a := r.legacy("ann")
		a.caps = `{"roots":{}}`
		id := a.start("calls")
		a.channel = &line{say: func(method string) jsonrpc.Outcome { return jsonrpc.Result([]byte(`{"roots":[]}`)) }}
		if got := a.must("tasks/result", `{"taskId":%q}`, id); field(got, "content", 0, "text") != `{"roots":[]}` {
			t.Errorf("got %s", got)
		}
	})
}

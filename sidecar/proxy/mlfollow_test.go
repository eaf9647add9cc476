package proxy

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// listens subscribes in the background; end is how the subscription ends.
func (b *buyer) listens(filter string) (told *notes, end func(cause error) string) {
	b.w.t.Helper()
	ctx, cancel := context.WithCancelCause(b.w.t.Context())
	told = &notes{}
	l := &buyer{w: b.w, who: b.who, caps: b.caps, ctx: ctx, told: told}
	over := make(chan string, 1)
	go func() { over <- l.do(mcp.MethodListen, `{"notifications":`+filter+`}`) }()
	synctest.Wait()
	return told, func(cause error) string {
		cancel(cause)
		return <-over
	}
}

// statuses are those of the notifications about one task, in order, without
// those that come close to another one.
func statuses(t *testing.T, told []string, id string) (out []string) {
	t.Helper()
	for _, raw := range told {
		if of(raw, "params", "_meta", mcp.MetaSubscriptionID) != `"c"` {
			t.Errorf("under no subscription: %s", raw)
		}
		status := of(raw, "params", "status")
		if of(raw, "method") != `"notifications/tasks"` || of(raw, "params", "taskId") != id || status == `"working"` {
			continue
		}
		out = append(out, status)
	}
	return out
}

// W33.2, W33.3, W33.4, W33.5, W33.7, W36.16, B12: who names tasks in a listen
// hears of them, be they the workload's or calls that took long.
func TestListeningToTasks(t *testing.T) {
	goods := map[string]good{
		"own": {support: "required", run: func(j *job) string { j.ask(mcp.MethodElicit, form); return fine("own") }},
		"slow": {run: func(j *job) string {
			j.waits(time.Minute)
			return `"result":{"content":[],"isError":true}`
		}},
	}
	inBubble(t, goods, task.Options{}, nil, func(t *testing.T, w *works) {
		ann, bob := w.buyer("ann"), w.buyer("bob")
		own, slow := ann.begins(`{"name":"own"}`), ann.begins(`{"name":"slow"}`)
		foreign := bob.begins(`{"name":"own"}`)
		for name, tc := range map[string]struct {
			filter, ack string
			legs        bool
		}{
			"tasks alone":       {`{"taskIds":[` + own + `,` + foreign + `,"x",` + slow + `,` + own + `]}`, `{"taskIds":[` + own + `,` + slow + `]}`, false},
			"tasks and changes": {`{"toolsListChanged":true,"taskIds":[` + slow + `]}`, `{"toolsListChanged":true,"taskIds":[` + slow + `]}`, true},
			"tasks of others":   {`{"taskIds":[` + foreign + `]}`, `{}`, false},
		} {
			told, end := ann.listens(tc.filter)
			if first := told.list()[0]; of(first, "method") != `"notifications/subscriptions/acknowledged"` || of(first, "params", "notifications") != tc.ack {
				t.Errorf("%s: %s", name, first)
			}
			if got := end(auth.ErrExpired); of(got, "resultType") != `"complete"` {
				t.Errorf("%s: ended with %s", name, got)
			}
		}
		told, end := ann.listens(`{"taskIds":[` + own + `,` + slow + `]}`)
		defer end(auth.ErrExpired)
		asked := ann.until(own, "input_required")
		if all := strings.Join(told.list(), "\n"); strings.Contains(all, foreign) || !strings.Contains(all, of(asked, "inputRequests")) {
			t.Errorf("told %s", all)
		}
		ann.do(mcp.MethodTasksUpdate, `{"taskId":`+own+`,"inputResponses":{"elicitation-1":{"action":"accept"}}}`)
		ann.until(own, "completed")
		ann.until(slow, "completed")
		for id, want := range map[string]string{own: `"input_required" "completed"`, slow: `"completed"`} {
			if got := strings.Join(statuses(t, told.list()[1:], id), " "); got != want {
				t.Errorf("told %s, want %s", got, want)
			}
		}
		if all := strings.Join(told.list(), "\n"); !strings.Contains(all, `"isError":true`) || strings.Contains(all, "job-") {
			t.Errorf("told %s", all)
		}
	})
}

// W33.10, W33.4: tasks are for who declares the extension, and of a server that
// has them.
func TestListeningToTasksThatCannotBe(t *testing.T) {
	goods := map[string]good{"x": {run: func(*job) string { return fine("") }}}
	inBubble(t, goods, task.Options{}, nil, func(t *testing.T, w *works) {
		plain := &buyer{w: w, who: "ann", caps: noTasks, told: &notes{}}
		if got := plain.do(mcp.MethodListen, `{"notifications":{"taskIds":["x"]}}`); of(got, "code") != "-32021" {
			t.Error(got)
		}
		ann := &buyer{w: w, who: "ann", caps: takesTasks, told: &notes{}}
		for _, filter := range []string{`7`, `[7]`} {
			if got := ann.do(mcp.MethodListen, `{"notifications":{"taskIds":`+filter+`}}`); of(got, "code") != "-32602" {
				t.Error(got)
			}
		}
		if got := ann.do(mcp.MethodListen, `{"notifications":{"taskIds":["x"`+strings.Repeat(`,"x"`, maxListened)+`]}}`); of(got, "data", "reason") != `"busy"` {
			t.Error(got)
		}
		if got := w.buyer("ann").do(mcp.MethodListen, `{"notifications":{"taskIds":["x"]}}`); of(got, "data", "reason") != `"no_channel"` {
			t.Error(got)
		}
	})
	inBubble(t, goods, task.Options{}, func(c *Config) { c.Tasks = nil }, func(t *testing.T, w *works) {
		told, end := w.buyer("ann").listens(`{"toolsListChanged":true,"taskIds":["x"]}`)
		if got := of(told.list()[0], "params", "notifications"); got != `{"toolsListChanged":true}` {
			t.Error(got)
		}
		end(auth.ErrExpired)
	})
}

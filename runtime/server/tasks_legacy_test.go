package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

func offers(r *tasksRig) {
	r.tool("never", "", greets)
	r.tool("forbidden", server.TaskForbidden, greets)
	r.tool("optional", server.TaskOptional, greets)
	r.tool("required", server.TaskRequired, greets)
}

// W35.3, W35.5, W35.6, W35.7, W36.2, W36.3, W36.4, W36.5, W36.6: who gets a task, by revision,
// tool, and what the client says. W3.2.
func TestWhoGetsATask(t *testing.T) {
	const task11, task26, plain = "task, nested", "task, flat", "result"
	missing := `-32021 {"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	tests := map[string]struct {
		revision, caps, with string
		want                 map[string]string // by tool
	}{
		"2025-11-25, augmented": {mcp.Revision20251125, `{}`, `,"task":{"ttl":60000}`, map[string]string{
			"never": "-32601 ", "forbidden": "-32601 ", "optional": task11, "required": task11}},
		"2025-11-25, plain": {mcp.Revision20251125, `{}`, ``, map[string]string{
			"never": plain, "forbidden": plain, "optional": plain, "required": "-32601 "}},
		"2025-11-25, task null": {mcp.Revision20251125, `{}`, `,"task":null`, map[string]string{
			"never": plain, "optional": plain, "required": "-32601 "}},
		"2025-11-25, the extension means nothing": {mcp.Revision20251125, withTasks, ``, map[string]string{
			"optional": plain, "required": "-32601 "}}, // W36.21
		"2025-11-25, broken task": {mcp.Revision20251125, `{}`, `,"task":7`, map[string]string{
			"never": "-32601 ", "optional": "-32602 ", "required": "-32602 "}},
		"2025-11-25, broken ttl":   {mcp.Revision20251125, `{}`, `,"task":{"ttl":"1"}`, map[string]string{"optional": "-32602 "}},
		"2025-11-25, negative ttl": {mcp.Revision20251125, `{}`, `,"task":{"ttl":-1}`, map[string]string{"optional": "-32602 "}},
		"2026-07-28, declared": {mcp.Revision20260728, withTasks, ``, map[string]string{
			"never": plain, "forbidden": plain, "optional": task26, "required": task26}},
		"2026-07-28, the old member": {mcp.Revision20260728, withTasks, `,"task":{"ttl":60000,"pollInterval":100}`, map[string]string{
			"never": plain, "forbidden": plain, "optional": task26, "required": task26}}, // W36.5
		"2026-07-28, not declared": {mcp.Revision20260728, `{}`, ``, map[string]string{
			"never": plain, "optional": plain, "required": missing}},
		"2026-07-28, the old capability": {mcp.Revision20260728, withoutTasks, `,"task":{}`, map[string]string{
			"optional": plain, "required": missing}}, // W36.2
		"2025-06-18": {mcp.Revision20250618, withTasks, `,"task":{}`, map[string]string{
			"never": plain, "forbidden": plain, "optional": plain, "required": plain}},
		"2024-11-05": {mcp.Revision20241105, `{}`, ``, map[string]string{
			"never": plain, "optional": plain, "required": plain}},
	}
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		offers(r)
		for name, tt := range tests {
			a := &taskUser{tasksRig: r, revision: tt.revision, caps: tt.caps}
			for tool, want := range tt.want {
				o := a.do("tools/call", `{"name":%q%s}`, tool, tt.with)
				got := plain
				switch {
				case o.Err != nil:
					got = fmt.Sprintf("%d %s", o.Err.Code, o.Err.Data)
				case field(o.Result, "resultType") == "task":
					got = task26
				case field(o.Result, "task", "taskId") != "none":
					got = task11
				case field(o.Result, "content", 0, "text") != "hello":
					got = string(o.Result)
				}
				if got != want {
					t.Errorf("%s: %s: got %s, want %s", name, tool, got, want)
				}
			}
		}
	})
}

// W35.3: without an engine nothing is declared and task is ignored.
func TestWithoutAnEngineThereAreNoTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &tasksRig{t: t, s: server.New(server.Info{Name: "none"}, server.Options{})}
		offers(r)
		defer r.s.Close()
		old := r.legacy("ann")
		for _, tool := range []string{"never", "optional", "required"} {
			for _, a := range []*taskUser{old, r.modern("ann", withTasks)} {
				if got := a.must("tools/call", `{"name":%q,"task":{}}`, tool); field(got, "content", 0, "text") != "hello" {
					t.Errorf("%s: %s", tool, got)
				}
			}
		}
		for _, method := range []string{"tasks/get", "tasks/list", "tasks/result", "tasks/cancel"} {
			old.refused(-32601, "", method, `{"taskId":"x"}`)
		}
		r.modern("ann", withTasks).refused(-32601, "", "tasks/get", `{"taskId":"x"}`)
		if got := r.modern("", `{}`).must("server/discover", `{}`); strings.Contains(string(got), "tasks") {
			t.Errorf("declared: %s", got)
		}
		if got := old.must("tools/list", `{}`); strings.Contains(string(got), "taskSupport") {
			t.Errorf("listed: %s", got)
		}
	})
}

// W35.1, W35.17, W36.1, W36.21, W24.10: what is declared, and to whom.
func TestTasksAreDeclared(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		offers(r)
		open := func(revision, principal string) json.RawMessage {
			m, _ := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`), 0)
			profile, _ := mcp.Lookup(revision)
			s := newSession(t, principal)
			o := r.s.Open(t.Context(), dispatch.NewExchange(t.Context(), dispatch.Request{Msg: m, Profile: profile, Principal: principal, Session: s}), s)
			r.s.Closed(s, nil)
			return o.Result
		}
		const all, some = `{"cancel":{},"list":{},"requests":{"tools":{"call":{}}}}`, `{"cancel":{},"requests":{"tools":{"call":{}}}}`
		for _, tt := range []struct{ revision, principal, want string }{
			{mcp.Revision20251125, "ann", all}, {mcp.Revision20251125, "", some},
			{mcp.Revision20250618, "ann", "none"}, {mcp.Revision20241105, "ann", "none"},
		} {
			got := open(tt.revision, tt.principal)
			if field(got, "capabilities", "tasks") != tt.want || strings.Contains(string(got), mcp.ExtensionTasks) {
				t.Errorf("%s %q: %s", tt.revision, tt.principal, got)
			}
		}
		got := r.modern("", `{}`).must("server/discover", `{}`)
		if field(got, "capabilities", "tasks") != "none" || field(got, "capabilities", "extensions", mcp.ExtensionTasks) != "{}" {
			t.Errorf("discover: %s", got)
		}
		listed := map[string]string{}
		for _, a := range []*taskUser{r.legacy("ann"), r.modern("ann", withTasks), {tasksRig: r, revision: mcp.Revision20250618}} {
			var page struct{ Tools []json.RawMessage }
			cursor := `{}`
			for range 2 {
				raw := a.must("tools/list", "%s", cursor)
				must(t, json.Unmarshal(raw, &page))
				for _, tool := range page.Tools {
					listed[a.revision] += field(tool, "execution", "taskSupport") + " "
				}
				cursor = `{"cursor":"` + field(raw, "nextCursor") + `"}`
			}
		}
		want := map[string]string{mcp.Revision20251125: "none none optional required ", mcp.Revision20250618: "none none none none ", mcp.Revision20260728: "none none none none "}
		if !maps.Equal(listed, want) {
			t.Errorf("listed %v", listed)
		}
	})
}

// W35.7, W35.9, W35.11, W35.12, W35.13, W35.19: the life of a task of 2025-11-25. W35.8.
func TestALegacyTask(t *testing.T) {
	tasksBubble(t, task.Options{MaxTTL: time.Hour}, func(t *testing.T, r *tasksRig) {
		r.tool("slow", server.TaskOptional, func(c *server.Context) (string, error) {
			if c.Task() == nil {
				t.Error("no task")
			}
			time.Sleep(time.Minute)
			return "done", nil
		})
		r.tool("fails", server.TaskOptional, func(*server.Context) (string, error) { return "", errors.New("broken") })
		r.tool("refuses", server.TaskOptional, func(*server.Context) (string, error) { return "", jsonrpc.Errorf(-31000, "refused") })
		a := r.legacy("ann")
		made := a.must("tools/call", `{"name":"slow","task":{"ttl":120000.5}}`)
		id := field(made, "task", "taskId")
		for path, want := range map[string]string{"status": "working", "ttl": "120001", "pollInterval": "1000", "createdAt": "2000-01-01T00:00:00.000Z", "lastUpdatedAt": "2000-01-01T00:00:00.000Z"} {
			if got := field(made, "task", path); got != want {
				t.Errorf("%s is %s", path, got)
			}
		}
		if got := a.status(id, "working"); field(got, "taskId") != id || field(got, "resultType") != "none" || field(got, "task") != "none" {
			t.Errorf("got %s", got)
		}
		began := time.Now()
		got := a.must("tasks/result", `{"taskId":%q}`, id) // blocks
		if time.Since(began) != time.Minute || field(got, "content", 0, "text") != "done" || field(got, "_meta", mcp.MetaRelatedTask, "taskId") != id {
			t.Errorf("after %s: %s", time.Since(began), got)
		}
		if got := a.status(id, "completed"); field(got, "content") != "none" || field(got, "result") != "none" || field(got, "_meta") != "none" {
			t.Errorf("got %s", got)
		}
		failed := a.start("fails")
		if got := a.must("tasks/result", `{"taskId":%q}`, failed); field(got, "isError") != "true" || field(got, "_meta", mcp.MetaRelatedTask, "taskId") != failed {
			t.Errorf("got %s", got)
		}
		a.status(failed, "failed") // W35.19
		refused := a.start("refuses")
		a.refused(-31000, "", "tasks/result", `{"taskId":%q}`, refused)
		if got := a.status(refused, "failed"); field(got, "statusMessage") != "refused" {
			t.Errorf("got %s", got)
		}
	})
}

// W24.11, W35.7: arguments that do not fit are the task's failure, for a client
// that waits for a task.
func TestBadArgumentsOfALegacyTask(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.add(server.Tool{Name: "typed", TaskSupport: server.TaskOptional, InputSchema: json.RawMessage(`{"type":"object","required":["a"]}`)}, greets)
		a := r.legacy("ann")
		id := a.start("typed")
		if got := a.must("tasks/result", `{"taskId":%q}`, id); field(got, "isError") != "true" {
			t.Errorf("got %s", got)
		}
		a.status(id, "failed")
		if got := r.modern("ann", withTasks).must("tools/call", `{"name":"typed"}`); field(got, "isError") != "true" || field(got, "resultType") != "complete" {
			t.Errorf("got %s", got)
		}
		if got := a.must("tools/call", `{"name":"typed"}`); field(got, "isError") != "true" {
			t.Errorf("got %s", got)
		}
	})
}

// W35.15, W19.6, W40.12: cancelled at once and for ever; what is over stays.
func TestCancelOfALegacyTask(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("sleeps", server.TaskOptional, sleeps)
		a := r.legacy("ann")
		id := a.start("sleeps")
		if got := a.must("tasks/cancel", `{"taskId":%q}`, id); field(got, "status") != "cancelled" || field(got, "taskId") != id {
			t.Errorf("got %s", got)
		}
		a.status(id, "cancelled")
		a.refused(-32602, "", "tasks/cancel", `{"taskId":%q}`, id)
		a.refused(-32603, `"cancelled"`, "tasks/result", `{"taskId":%q}`, id)
		a.status(id, "cancelled")
	})
}

// W35.18, W35.21, W36.15: one answer to every id that is not the caller's.
func TestUnknownTasks(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("sleeps", server.TaskOptional, sleeps)
		id := r.legacy("ann").start("sleeps")
		said := map[string]bool{}
		for _, a := range []*taskUser{r.legacy("bob"), r.legacy(""), r.modern("bob", withTasks), r.modern("", withTasks)} {
			for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/result", "tasks/update"} {
				for _, taskID := range []string{id, "none", ""} {
					o := a.do(method, `{"taskId":%q,"inputResponses":{}}`, taskID)
					if o.Err != nil && o.Err.Code == -32601 {
						continue // the other era's
					}
					if o.Err == nil || o.Err.Code != -32602 {
						t.Errorf("%s of %s as %q: %+v", method, a.revision, a.principal, o)
						continue
					}
					said[o.Err.Message+string(o.Err.Data)] = true
				}
			}
		}
		if len(said) != 1 {
			t.Errorf("they differ: %v", said)
		}
		for _, params := range []string{`{}`, `{"taskId":7}`, `{"taskId":null}`} {
			r.legacy("ann").refused(-32602, "", "tasks/get", "%s", params)
		}
		r.legacy("ann").status(id, "working")
		r.modern("ann", withTasks).status(id, "working") // the same principal, another era
	})
}

// W35.16, W35.17: pages of the caller's own tasks.
func TestListOfLegacyTasks(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("sleeps", server.TaskOptional, sleeps)
		ann, bob := r.legacy("ann"), r.legacy("bob")
		want := ""
		for range 3 {
			want += ann.start("sleeps") + " "
			time.Sleep(time.Second)
		}
		bob.start("sleeps")
		got, cursor := "", `{}`
		for range 2 {
			page := ann.must("tasks/list", "%s", cursor)
			for i := range 3 {
				if id := field(page, "tasks", i, "taskId"); id != "none" {
					got += id + " "
				}
			}
			cursor = `{"cursor":"` + field(page, "nextCursor") + `"}`
		}
		if got != want || cursor != `{"cursor":"none"}` {
			t.Errorf("got %s, then %s", got, cursor)
		}
		first := field(ann.must("tasks/list", `{}`), "nextCursor")
		bob.refused(-32602, "", "tasks/list", `{"cursor":%q}`, first)
		for _, cursor := range []string{`""`, `"x"`, `7`, `"` + strings.Repeat("x", 100_000) + `"`} {
			ann.refused(-32602, "", "tasks/list", `{"cursor":%s}`, cursor)
		}
		if got := field(r.legacy("carl").must("tasks/list", `{}`), "tasks"); got != "[]" {
			t.Errorf("got %s", got)
		}
		r.legacy("").refused(-32601, "", "tasks/list", `{}`)
	})
}

// W35.10, W6.11, W35.20: a question makes the task input_required and travels,
// with the task's id, on the stream that waits for it.
// A client that refuses, in the task as outside of one.
// W35.13: who waited may go away; the task and its question stay.
// Without a way to ask, the task waits for one: it is not failed by it.
// W20.6, W6.11, W20.3: the token of the request is good until the task is over,
// and every message names the task.
func TestProgressOfALegacyTask(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		release := make(chan struct{})
		r.tool("works", server.TaskRequired, func(c *server.Context) (string, error) {
			<-release
			must(t, c.Progress(1, 2, "half"))
			must(t, c.Notify("notifications/custom", map[string]int{"n": 1}))
			<-release
			defer func() {
				if err := c.Notify("notifications/custom", nil); c.Err() != nil && err == nil {
					t.Error("sent after the end")
				}
			}()
			<-c.Done()
			return "", nil
		})
		a := r.legacy("ann")
		id := field(a.must("tools/call", `{"name":"works","task":{},"_meta":{"progressToken":7}}`), "task", "taskId")
		release <- struct{}{}
		if got := a.status(id, "working"); field(got, "statusMessage") != "half" {
			t.Errorf("got %s", got)
		}
		release <- struct{}{}
		a.must("tasks/cancel", `{"taskId":%q}`, id)
		kinds := map[string]int{}
		for _, note := range a.session.told() {
			kinds[note.Method]++
			related := field(note.Params, "_meta", mcp.MetaRelatedTask, "taskId")
			if (note.Method == "notifications/tasks/status") == (related == id) { // W35.20
				t.Errorf("%s is related to %s", note.Method, related)
			}
			if note.Method == "notifications/progress" && (field(note.Params, "progressToken") != "7" || field(note.Params, "message") != "half") {
				t.Errorf("got %s", note.Params)
			}
		}
		if kinds["notifications/progress"] != 1 || kinds["notifications/custom"] != 1 || kinds["notifications/tasks/status"] != 2 {
			t.Errorf("told %v", kinds)
		}
	})
}

// The task outlives its session; its status is told to nobody then.
func TestALegacyTaskOutlivesItsSession(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("slow", server.TaskRequired, func(c *server.Context) (string, error) {
			time.Sleep(time.Minute)
			return "kept", c.Err()
		})
		a := r.legacy("ann")
		id := a.start("slow")
		a.session.Close(errors.New("gone"))
		time.Sleep(time.Minute)
		b := r.legacy("ann")
		if got := b.must("tasks/result", `{"taskId":%q}`, id); field(got, "content", 0, "text") != "kept" {
			t.Errorf("got %s", got)
		}
	})
}

// A tool that only runs as a task serves clients whose revision has none: they
// wait, are asked as ever, and their cancel cancels the task.
// Call works in a task as everywhere in its revision; what the client did not
// declare is not asked.
// W35.23: the parameter names the task, whatever related-task says.
func TestTheTaskIDOfTheParametersCounts(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("sleeps", server.TaskOptional, sleeps)
		a := r.legacy("ann")
		id, other := a.start("sleeps"), a.start("sleeps")
		for _, method := range []string{"tasks/get", "tasks/cancel"} {
			got := a.must(method, `{"taskId":%q,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}}`, id, other)
			if field(got, "taskId") != id {
				t.Errorf("%s: %s", method, got)
			}
		}
		a.status(other, "working")
		a.refused(-32602, "", "tasks/get", `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}}`, other)
	})
}

package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/task/tasktest"
)

// W36.6, W36.7, W36.8, W36.10, W36.11, W36.18: the life of a task of the extension.
func TestAModernTask(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("slow", server.TaskOptional, func(c *server.Context) (string, error) {
			time.Sleep(time.Minute)
			return "done", c.Err()
		})
		r.tool("fails", server.TaskOptional, func(*server.Context) (string, error) { return "", errors.New("broken") })
		r.tool("refuses", server.TaskRequired, func(*server.Context) (string, error) { return "", jsonrpc.Errorf(-31000, "refused") })
		a := r.modern("ann", withTasks)
		made := a.must("tools/call", `{"name":"slow"}`)
		id := field(made, "taskId")
		for path, want := range map[string]string{"resultType": "task", "status": "working", "ttlMs": "3600000", "pollIntervalMs": "1000", "createdAt": "2000-01-01T00:00:00.000Z",
			"task": "none", "result": "none", "error": "none", "inputRequests": "none", "requestState": "none", "ttl": "none", "pollInterval": "none"} {
			if got := field(made, path); got != want {
				t.Errorf("%s is %s", path, got)
			}
		}
		if field(made, "_meta", mcp.MetaServerInfo, "name") != "tasks" {
			t.Errorf("made %s", made)
		}
		if got := a.status(id, "working"); field(got, "resultType") != "complete" || field(got, "taskId") != id || field(got, "result") != "none" { // W40.2
			t.Errorf("got %s", got)
		}
		time.Sleep(time.Minute)
		if got := a.status(id, "completed"); field(got, "result", "content", 0, "text") != "done" || field(got, "result", "resultType") != "none" || field(got, "result", "_meta") != "none" || field(got, "error") != "none" {
			t.Errorf("got %s", got)
		}
		failed := a.start("fails")
		if got := a.status(failed, "completed"); field(got, "result", "isError") != "true" { // W36.11
			t.Errorf("got %s", got)
		}
		refused := a.start("refuses")
		if got := a.status(refused, "failed"); field(got, "error", "code") != "-31000" || field(got, "result") != "none" || field(got, "statusMessage") != "refused" {
			t.Errorf("got %s", got)
		}
	})
}

// W36.15: the methods are the extension's, so each request declares it, and
// those of 2025-11-25 are gone.
func TestModernMethodsNeedTheExtension(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("sleeps", server.TaskOptional, sleeps)
		id := r.modern("ann", withTasks).start("sleeps")
		for _, caps := range []string{`{}`, withoutTasks, `{"extensions":{}}`, `{"extensions":{"io.modelcontextprotocol/tasks":null}}`} {
			a := r.modern("ann", caps)
			for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
				for _, taskID := range []string{id, "none"} {
					a.refused(-32021, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, method, `{"taskId":%q,"inputResponses":{}}`, taskID)
				}
			}
		}
		a := r.modern("ann", withTasks)
		for _, method := range []string{"tasks/result", "tasks/list"} {
			a.refused(-32601, "", method, `{"taskId":%q}`, id)
		}
		a.status(id, "working")
	})
}

// W36.14, W19.7, P34: an ack, whatever the task has come to; the status shows
// what became of it.
func TestCancelOfAModernTask(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("sleeps", server.TaskOptional, sleeps)
		r.tool("greets", server.TaskOptional, greets)
		a := r.modern("ann", withTasks)
		sleeping, done := a.start("sleeps"), a.start("greets")
		a.status(done, "completed")
		for range 2 {
			for _, id := range []string{sleeping, done} {
				got := a.must("tasks/cancel", `{"taskId":%q}`, id)
				var members map[string]json.RawMessage
				must(t, json.Unmarshal(got, &members))
				if len(members) != 2 || field(got, "resultType") != "complete" || !strings.HasPrefix(string(members["_meta"]), `{"io.modelcontextprotocol/serverInfo":{`) ||
					strings.Count(string(members["_meta"]), `io.modelcontextprotocol`) != 1 {
					t.Errorf("got %s", got)
				}
			}
		}
		if got := a.status(sleeping, "cancelled"); field(got, "error") != "none" || field(got, "result") != "none" {
			t.Errorf("got %s", got)
		}
		a.status(done, "completed")
	})
}

// W36.10, W36.12, W36.13, W32.11, B7.6: input of a running task.
func TestInputOfAModernTask(t *testing.T) {
	tasksBubble(t, task.Options{InputBytes: 4096}, func(t *testing.T, r *tasksRig) {
		r.tool("asks", server.TaskOptional, func(c *server.Context) (string, error) {
			form := json.RawMessage(`{"type":"object","properties":{"sure":{"type":"boolean"}}}`)
			err := c.Need(c.Form("sure", server.ElicitParams{Message: "sure?", Schema: form}), c.RootsInput("roots"),
				c.Sampling("model", server.SampleParams{MaxTokens: 1, Messages: []server.SampleMessage{server.Say("user", "hi")}}))
			if err != nil {
				return "", err
			}
			answer, err := c.Elicit("sure", server.ElicitParams{Message: "sure?", Schema: form})
			return string(answer.Action), err
		})
		a := r.modern("ann", withTasks)
		id := a.start("asks")
		got := a.status(id, "input_required")
		var shown struct {
			InputRequests map[string]struct {
				Method string
				Params json.RawMessage
			}
		}
		must(t, json.Unmarshal(got, &shown))
		byMethod := map[string]string{}
		for key, in := range shown.InputRequests {
			byMethod[in.Method] = key
		}
		elicit, roots, model := byMethod["elicitation/create"], byMethod["roots/list"], byMethod["sampling/createMessage"]
		if len(shown.InputRequests) != 3 || elicit == "" || roots == "" || model == "" || field(got, "inputRequests", elicit, "params", "mode") != "form" {
			t.Fatalf("got %s", got)
		}
		for name, responses := range map[string]string{
			"null":                        `null`,
			"a list":                      `[]`,
			"a number as answer":          `{"` + elicit + `":7}`,
			"null as answer":              `{"` + roots + `":null}`,
			"no action":                   `{"` + elicit + `":{}}`,
			"an action there is not":      `{"` + elicit + `":{"action":"yes"}}`,
			"content that is no object":   `{"` + elicit + `":{"action":"accept","content":[]}}`,
			"roots that are no list":      `{"` + roots + `":{"roots":{}}}`,
			"a model that says nothing":   `{"` + model + `":{"role":"assistant","model":"m"}}`,
			"a model without a role":      `{"` + model + `":{"content":{},"model":"m"}}`,
			"one of two broken":           `{"` + roots + `":{"roots":[]},"` + elicit + `":{"action":1}}`,
			"an answer that is too large": `{"` + roots + `":{"roots":[{"uri":"file:///` + strings.Repeat("x", 5000) + `"}]}}`,
		} {
			o := a.do("tasks/update", `{"taskId":%q,"inputResponses":%s}`, id, responses)
			if o.Err == nil || o.Err.Code != -32602 {
				t.Errorf("%s: %+v", name, o)
			}
		}
		a.refused(-32602, "", "tasks/update", `{"taskId":%q}`, id)
		update := func(responses string, left int, status string) {
			t.Helper()
			ack := a.must("tasks/update", `{"taskId":%q,"inputResponses":%s}`, id, responses)
			var members map[string]json.RawMessage
			must(t, json.Unmarshal(ack, &members))
			if len(members) != 2 || field(ack, "resultType") != "complete" { // P34: and the server's identity
				t.Errorf("ack %s", ack)
			}
			got := a.status(id, status)
			shown.InputRequests = nil
			must(t, json.Unmarshal(got, &shown))
			if len(shown.InputRequests) != left {
				t.Errorf("after %s: %s", responses, got)
			}
		}
		update(`{"unknown-key":{"ignored":true},"":7,"__proto__":null}`, 3, "input_required") // W32.12
		update(`{}`, 3, "input_required")
		update(`{"`+roots+`":{"roots":[]}}`, 2, "input_required")
		update(`{"`+roots+`":{"roots":"again, and ignored"},"`+model+`":{"role":"assistant","content":{"type":"text","text":"x"},"model":"m"}}`, 1, "input_required")
		update(`{"`+elicit+`":{"action":"decline"}}`, 0, "completed")
		if got := a.get(id); field(got, "result", "content", 0, "text") != "decline" {
			t.Errorf("got %s", got)
		}
		update(`{"`+elicit+`":{"action":"accept","content":{}}}`, 0, "completed")
	})
}

// W32.6 holds in a task too: nothing is asked that the client did not declare.
func TestATaskAsksOnlyWhatWasDeclared(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		r.tool("confirms", server.TaskRequired, confirms)
		a := r.modern("ann", `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
		id := a.start("confirms")
		if got := a.status(id, "failed"); field(got, "error", "code") != "-32021" {
			t.Errorf("got %s", got)
		}
	})
}

// W36.9, W36.6: rounds of input first, then the task; one leaks nothing into
// the other.
// A call that may become a task and does not is an ordinary one, and so is one
// of a client that takes none.
// What becomes a task lives as long as the task: it outlives its request and
// ends when the task is cancelled.
// W36.16, W33.10, W20.7: a listener is told each state of the tasks that are
// its own, and no progress.
func TestListenToTasks(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		release := make(chan struct{})
		r.tool("works", server.TaskOptional, func(c *server.Context) (string, error) {
			<-release
			must(t, c.Progress(1, 0, "half"))
			time.Sleep(time.Second)
			return confirms(c)
		})
		a := r.modern("ann", withTasks)
		id := field(a.must("tools/call", `{"name":"works","_meta":{"progressToken":1}}`), "taskId")
		foreign := r.modern("bob", withTasks).start("works")
		r.modern("ann", `{}`).refused(-32021, mcp.ExtensionTasks, "subscriptions/listen", `{"notifications":{"taskIds":[%q]}}`, id)
		heard := &listening{}
		ctx, cancel := context.WithCancelCause(t.Context())
		a.ctx, a.channel = ctx, heard
		done := make(chan jsonrpc.Outcome, 1)
		go func() {
			done <- a.do("subscriptions/listen", `{"notifications":{"taskIds":[%q,%q,"none",%q]}}`, id, foreign, id)
		}()
		synctest.Wait()
		close(release)
		synctest.Wait()
		time.Sleep(2 * time.Second)
		b := r.modern("ann", withTasks)
		b.status(id, "input_required")
		b.must("tasks/update", `{"taskId":%q,"inputResponses":{"sure-1":{"action":"decline"}}}`, id)
		b.status(id, "completed")
		cancel(dispatch.ErrDisconnected)
		<-done
		var states []string
		for i, note := range heard.all() {
			if field(note.Params, "_meta", mcp.MetaSubscriptionID) != "1" {
				t.Errorf("heard %s", note.Params)
			}
			if i == 0 {
				if note.Method != "notifications/subscriptions/acknowledged" || field(note.Params, "notifications", "taskIds") != `["`+id+`"]` { // W33.3, W33.4
					t.Errorf("first %+v", note)
				}
				continue
			}
			if note.Method != "notifications/tasks" || field(note.Params, "taskId") != id || field(note.Params, "resultType") != "none" {
				t.Errorf("heard %+v", note)
			}
			states = append(states, field(note.Params, "status"))
		}
		if got := strings.Join(states, " "); got != "working working input_required completed" && got != "working working input_required working completed" {
			t.Errorf("heard %s", got)
		}
	})
}

// listening is the channel of a listener.
type listening struct {
	mu    sync.Mutex
	notes []message
}

func (l *listening) Notify(raw []byte) error {
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notes = append(l.notes, m)
	return nil
}

func (l *listening) Call(context.Context, string, []byte) jsonrpc.Outcome {
	return jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "not here"))
}

func (l *listening) all() []message {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]message(nil), l.notes...)
}

// W36.8: with the store down no task is made. Who can do without gets
// an ordinary answer; everybody else is told, and not that the task is unknown.
func TestTasksWithoutTheirStore(t *testing.T) {
	var mu sync.Mutex
	down := false
	store := &tasktest.Flaky{Store: &task.Memory{}, Fail: func(tasktest.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if down {
			return errors.New("secret: connection refused")
		}
		return nil
	}}
	tasksBubble(t, task.Options{Store: store}, func(t *testing.T, r *tasksRig) {
		offers(r)
		r.tool("sleeps", server.TaskOptional, sleeps)
		r.add(server.Tool{Name: "later", TaskSupport: server.TaskOptional, TaskLater: true}, func(c *server.Context) (string, error) {
			if h, err := c.BecomeTask(); h != nil || err == nil {
				t.Errorf("got %v, %v", h, err)
			}
			return "hello", c.Err()
		})
		a, old := r.modern("ann", withTasks), r.legacy("ann")
		id := a.start("sleeps")
		mu.Lock()
		down = true
		mu.Unlock()
		for _, tool := range []string{"optional", "later"} {
			if got := a.must("tools/call", `{"name":%q}`, tool); field(got, "resultType") != "complete" || field(got, "content", 0, "text") != "hello" {
				t.Errorf("got %s", got)
			}
		}
		a.refused(-32603, `"store_unavailable"`, "tools/call", `{"name":"required"}`)
		old.refused(-32603, `"store_unavailable"`, "tools/call", `{"name":"optional","task":{}}`)
		for _, b := range []*taskUser{a, old} {
			for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update", "tasks/result", "tasks/list"} {
				o := b.do(method, `{"taskId":%q,"inputResponses":{}}`, id)
				if o.Err == nil || o.Err.Code != -32601 && (o.Err.Code != -32603 || o.Err.Reason() != "store_unavailable" || strings.Contains(o.Err.Message, "secret")) {
					t.Errorf("%s: %+v", method, o)
				}
			}
		}
		mu.Lock()
		down = false
		mu.Unlock()
		a.status(id, "working")
	})
}

// The limits of the engine reach clients as errors that say so (W35.22), where
// the call cannot do without a task.
func TestTooManyTasks(t *testing.T) {
	tasksBubble(t, task.Options{PerOwner: 1}, func(t *testing.T, r *tasksRig) {
		offers(r)
		r.tool("sleeps", server.TaskOptional, sleeps)
		a := r.modern("ann", withTasks)
		a.start("sleeps")
		a.refused(-32603, `"task_limit"`, "tools/call", `{"name":"required"}`)
		r.legacy("ann").refused(-32603, `"task_limit"`, "tools/call", `{"name":"optional","task":{}}`)
		if got := a.must("tools/call", `{"name":"optional"}`); field(got, "resultType") != "complete" {
			t.Errorf("got %s", got)
		}
		r.modern("bob", withTasks).start("sleeps")
		must(t, r.engine.Close(t.Context()))
		a.refused(-32603, `"draining"`, "tools/call", `{"name":"optional"}`)
	})
}

// A listener outlasts a store that is down for a while.
func TestListenWhileTheStoreIsDown(t *testing.T) {
	var mu sync.Mutex
	down := false
	set := func(is bool) { mu.Lock(); defer mu.Unlock(); down = is }
	store := &tasktest.Flaky{Store: &task.Memory{}, Fail: func(tasktest.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if down {
			return errors.New("down")
		}
		return nil
	}}
	tasksBubble(t, task.Options{Store: store}, func(t *testing.T, r *tasksRig) {
		release := make(chan struct{})
		r.tool("works", server.TaskOptional, func(*server.Context) (string, error) { <-release; return "", nil })
		a := r.modern("ann", withTasks)
		id := a.start("works")
		heard := &listening{}
		ctx, cancel := context.WithCancelCause(t.Context())
		a.ctx, a.channel = ctx, heard
		listen := func() <-chan jsonrpc.Outcome {
			done := make(chan jsonrpc.Outcome, 1)
			go func() { done <- a.do("subscriptions/listen", `{"notifications":{"taskIds":[%q]}}`, id) }()
			synctest.Wait()
			return done
		}
		done := listen()
		set(true)
		if o := <-listen(); o.Err == nil || o.Err.Reason() != task.ReasonStore {
			t.Errorf("a new listener got %+v", o)
		}
		time.Sleep(time.Minute)
		set(false)
		close(release)
		time.Sleep(time.Minute)
		cancel(dispatch.ErrDisconnected)
		<-done
		if all := heard.all(); len(all) != 3 || field(all[2].Params, "status") != "completed" {
			t.Errorf("heard %v", all)
		}
	})
}

// A request that could not become a task ends as requests do.
// A handler that was left behind by its own bound makes no task any more.

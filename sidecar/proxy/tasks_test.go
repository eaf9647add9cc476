package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/sidecar/proxy"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// withTasks serves a script through a proxy that runs tasks. Who says who they
// are is somebody.
func withTasks(t testing.TB, s script, era upstream.Era, edits ...func(*proxy.Config)) *rig {
	t.Helper()
	engine, err := task.New(task.Options{Keys: ring(t), Pod: "pod", StatusEvery: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		if err := engine.Close(ctx); err != nil {
			t.Errorf("a task did not end: %v", err)
		}
	})
	r := serveAs(t, s, era, append(edits, func(c *proxy.Config) { c.Tasks = engine })...)
	r.front.Authenticate = named
	return r
}

// named believes who a client says it is.
func named(req *http.Request) (*auth.Identity, error) {
	if user := req.Header.Get("X-User"); user != "" {
		return &auth.Identity{Principal: user}, nil
	}
	return nil, nil
}

// opened is a session of 2025-11-25 of somebody.
func (r *rig) opened(user, caps string) (*client, string) {
	r.t.Helper()
	c := &client{r: r, user: user}
	res := c.post(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + caps + `,"clientInfo":{"name":"t","version":"0"}}}`)
	if res.status != 200 || len(res.messages) != 1 {
		r.t.Fatalf("initialize: %d %v", res.status, res.messages)
	}
	c.session, c.revision = res.header.Get("Mcp-Session-Id"), "2025-11-25"
	return c, res.messages[0]
}

// member is a member of an object, raw.
func member(object string, path ...string) string {
	raw, _ := strictjson.GetPath([]byte(object), path...)
	return string(raw)
}

// started is the id of the task that an answer is.
func (c *client) started(answer string, path ...string) string {
	c.r.t.Helper()
	id := member(answer, append(path, "taskId")...)
	if len(id) < 20 {
		c.r.t.Fatalf("no task: %s", answer)
	}
	return id
}

// until asks for a task until it has a status, and returns it.
func (c *client) until(id, status string) string {
	c.r.t.Helper()
	got := ""
	for range 2000 {
		got = c.call("tasks/get", `{"taskId":`+id+`}`)
		if member(got, "status") == `"`+status+`"` {
			return got
		}
		time.Sleep(time.Millisecond)
	}
	c.r.t.Fatalf("never %s: %s", status, got)
	return ""
}

func TestTasksAreOfferedWhereWeRunThem(t *testing.T) { // B12.1, W35.17, W36.21
	r := withTasks(t, plain(nil), upstream.EraLegacy)
	for user, want := range map[string]string{
		"":    `{"cancel":{},"requests":{"tools":{"call":{}}}}`,
		"ann": `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`,
	} {
		c, got := r.opened(user, `{}`)
		if has := member(got, "result", "capabilities", "tasks"); has != want {
			t.Errorf("%q is offered %s", user, has)
		}
		c.want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`)
	}
	older, got := r.initialize("2025-06-18", `{}`)
	if strings.Contains(got, "tasks") {
		t.Errorf("2025-06-18 has tasks: %s", got)
	}
	older.want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`)

	off := serve(t, plain(nil))
	c, got := off.initialize("2025-11-25", `{}`)
	if strings.Contains(got, "tasks") {
		t.Errorf("offered without an engine: %s", got)
	}
	for _, method := range []string{"tasks/get", "tasks/list", "tasks/result", "tasks/cancel"} {
		c.want(method, `{"taskId":"x"}`, `{"code":-32601,"message":"method not found"}`) // W5.6
	}
	c.want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`)
}

func TestACallOfALegacyClientRunsAsATask(t *testing.T) { // B12.2, B12.4, W35.7, W35.13, W6.11
	r := withTasks(t, plain(script{
		"tools/call:slow": {
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1,"message":"half"}}`,
			`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}`,
			"!await response",
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"saw":$LINE}}`,
		},
		"response": {`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":$LINE}}`},
	}), upstream.EraLegacy)
	c, _ := r.opened("ann", `{"elicitation":{}}`)
	made := c.call("tools/call", `{"name":"slow","task":{"ttl":60000},"_meta":{"progressToken":"p"}}`)
	id := c.started(made, "task")
	if member(made, "task", "ttl") != "60000" || member(made, "task", "status") != `"working"` {
		t.Errorf("made %s", made)
	}
	got := c.until(id, "input_required")
	for range 2000 { // what it tells and what it asks go separate ways
		if member(got, "statusMessage") != "" {
			break
		}
		time.Sleep(time.Millisecond)
		got = c.until(id, "input_required")
	}
	if member(got, "statusMessage") != `"half"` {
		t.Errorf("the progress is not its status: %s", got)
	}
	s := c.request("9", "tasks/result", `{"taskId":`+id+`}`)
	defer s.close()
	related := `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":` + id + `}}`
	if got := c.answered(s, `"result":{"action":"accept"}`); got != `elicitation/create {"message":"?","requestedSchema":{},`+related+`}` {
		t.Error(got)
	}
	got, _ = s.next()
	if strings.Contains(member(got, "result", "saw", "params"), "task") {
		t.Errorf("the workload heard of the task: %s", got)
	}
	if member(got, "result", "_meta") != strings.TrimPrefix(related, `"_meta":`) {
		t.Errorf("the result is not related: %s", got)
	}
	if list := c.call("tasks/list", `{}`); !strings.Contains(list, id) {
		t.Errorf("not in the list: %s", list)
	}
}

func TestATaskOfALegacyClientIsCancelled(t *testing.T) { // B19.5, B12.5, W35.15
	r := withTasks(t, plain(script{
		"tools/call:stuck": {"!await notifications/cancelled", `{"jsonrpc":"2.0","id":"after","method":"ping"}`},
	}), upstream.EraLegacy)
	c, _ := r.opened("", `{}`)
	id := c.started(c.call("tools/call", `{"name":"stuck","task":{}}`), "task")
	if got := c.call("tasks/cancel", `{"taskId":`+id+`}`); member(got, "status") != `"cancelled"` {
		t.Error(got)
	}
	c.want("tasks/cancel", `{"taskId":`+id+`}`, `{"code":-32602,"message":"the task is over"}`)
	if got := c.call("tasks/result", `{"taskId":`+id+`}`); member(got, "code") != "-32603" {
		t.Error(got)
	}
	// The workload has been told: it reads on.
	if got := c.call("tools/list", ""); !strings.Contains(got, `"name":"a"`) {
		t.Error(got)
	}
}

func TestTasksOfOthersAreUnknown(t *testing.T) { // B19.5, B12.5, B0.6, W35.18
	r := withTasks(t, plain(nil), upstream.EraLegacy)
	ann, _ := r.opened("ann", `{}`)
	bob, _ := r.opened("bob", `{}`)
	anonymous, _ := r.opened("", `{}`)
	id := ann.started(ann.call("tools/call", `{"name":"x","task":{}}`), "task")
	ann.until(id, "completed")
	for _, c := range []*client{bob, anonymous} {
		for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/result"} {
			c.want(method, `{"taskId":`+id+`}`, `{"code":-32602,"message":"unknown task"}`)
		}
	}
	bob.want("tasks/list", `{}`, `{"tasks":[]}`)
	anonymous.want("tasks/list", `{}`, `{"code":-32601,"message":"method not found"}`)
	// It is the person's and not the session's.
	again, _ := r.opened("ann", `{}`)
	again.until(id, "completed")
}

func TestWhatATaskCannotBeAsked(t *testing.T) { // W29.2, B0.4
	r := withTasks(t, plain(script{
		"tools/call:x": {`{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}}`, "!await response", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
	}), upstream.EraLegacy)
	c, _ := r.opened("", `{}`)
	id := c.started(c.call("tools/call", `{"name":"x","task":{}}`), "task")
	c.until(id, "completed")
	c.want("tools/call", `{"name":"x","task":7}`, `{"code":-32602,"message":"task must be an object"}`)
}

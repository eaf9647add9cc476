package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// tasksOverHTTP is a server with tasks behind the real front.
func tasksOverHTTP(t *testing.T) *rig {
	t.Helper()
	engine, err := task.New(task.Options{})
	must(t, err)
	s := server.New(server.Info{Name: "tasks"}, server.Options{Tasks: engine})
	must(t, s.AddTool(server.Tool{Name: "confirms", TaskSupport: server.TaskRequired}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		said, err := confirms(c)
		return server.TextResult(said), err
	}))
	r := newRig(t, s)
	t.Cleanup(func() { must(t, engine.Close(context.WithoutCancel(t.Context()))) })
	return r
}

// W35.10, W35.13, W35.7, W36.21: over HTTP, in the handshake revision that has
// tasks, the question comes on the stream of tasks/result.
func TestALegacyTaskOverHTTP(t *testing.T) {
	p := tasksOverHTTP(t).connect(mcp.Revision20251125, `{"elicitation":{}}`)
	if got := field(p.opened, "capabilities", "tasks"); got != `{"cancel":{},"requests":{"tools":{"call":{}}}}` {
		t.Errorf("declared %s", got)
	}
	id := field(p.must("tools/call", `{"name":"confirms","task":{}}`), "task", "taskId")
	related := ""
	p.answer = func(method string, params json.RawMessage) string {
		related = method + " " + field(params, "_meta", mcp.MetaRelatedTask, "taskId")
		return `"result":{"action":"accept","content":{"sure":true}}`
	}
	got := p.must("tasks/result", fmt.Sprintf(`{"taskId":%q}`, id))
	if field(got, "content", 0, "text") != "accept" || field(got, "_meta", mcp.MetaRelatedTask, "taskId") != id || related != "elicitation/create "+id {
		t.Errorf("got %s after %s", got, related)
	}
	if got := p.must("tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)); field(got, "status") != "completed" {
		t.Errorf("got %s", got)
	}
	if e := p.fails("tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id)); e.Code != -32602 { // W35.15
		t.Errorf("got %v", e)
	}
	if e := p.fails("tasks/list", `{}`); e.Code != -32601 { // W35.17
		t.Errorf("got %v", e)
	}
	if e := p.fails("tools/call", `{"name":"confirms"}`); e.Code != -32601 { // W35.6
		t.Errorf("got %v", e)
	}
}

// W35.14: tasks/get answers with JSON.
func TestGetOfATaskIsNoStream(t *testing.T) {
	p := tasksOverHTTP(t).connect(mcp.Revision20251125, `{"elicitation":{}}`)
	id := field(p.must("tools/call", `{"name":"confirms","task":{}}`), "task", "taskId")
	resp := p.begin("tasks/get", fmt.Sprintf(`{"taskId":%q}`, id))
	_ = resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
		t.Errorf("got %s", got)
	}
}

// W36.4, W36.13, W36.15, W36.17: statuses and headers of the extension.
func TestAModernTaskOverHTTP(t *testing.T) {
	r := tasksOverHTTP(t)
	p := r.connect(mcp.Revision20260728, withTasks)
	post := func(p *peer, method, params, name string) (status int, result json.RawMessage, code int64) {
		t.Helper()
		resp := p.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, p.enveloped(params)), method, name)
		defer func() { _ = resp.Body.Close() }()
		raw, err := io.ReadAll(resp.Body)
		must(t, err)
		var m message
		must(t, json.Unmarshal(raw, &m))
		if m.Error != nil {
			code = m.Error.Code
		}
		return resp.StatusCode, m.Result, code
	}
	made := p.must("tools/call", `{"name":"confirms"}`)
	id := field(made, "taskId")
	params := fmt.Sprintf(`{"taskId":%q}`, id)
	undeclared := r.connect(mcp.Revision20260728, `{}`)
	tests := map[string]struct {
		peer         *peer
		method, name string
		status       int
		code         int64
	}{
		"get":                        {p, "tasks/get", id, http.StatusOK, 0},
		"get by another name":        {p, "tasks/get", "other", http.StatusBadRequest, -32020},
		"update by another name":     {p, "tasks/update", "other", http.StatusBadRequest, -32020},
		"cancel by another name":     {p, "tasks/cancel", "other", http.StatusBadRequest, -32020},
		"get without the extension":  {undeclared, "tasks/get", id, http.StatusBadRequest, -32021},
		"call without the extension": {undeclared, "tools/call", "confirms", http.StatusBadRequest, -32021},
		"result, which is gone":      {p, "tasks/result", id, http.StatusNotFound, -32601},
		"list, which is gone":        {p, "tasks/list", "", http.StatusNotFound, -32601},
	}
	for name, tt := range tests {
		args := params
		if tt.method == "tools/call" {
			args = `{"name":"confirms"}`
		}
		if status, result, code := post(tt.peer, tt.method, args, tt.name); status != tt.status || code != tt.code {
			t.Errorf("%s: %d, %d, %s", name, status, code, result)
		}
	}
	until := func(status string) json.RawMessage {
		t.Helper()
		var got json.RawMessage
		for range 10_000 {
			if _, got, _ = post(p, "tasks/get", params, id); field(got, "status") == status {
				return got
			}
		}
		t.Fatalf("it never became %s: %s", status, got)
		return nil
	}
	until("input_required")
	_, ack, code := post(p, "tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{"sure-1":{"action":"decline"}}}`, id), id)
	if field(ack, "resultType") != "complete" || code != 0 {
		t.Errorf("got %s, %d", ack, code)
	}
	if got := until("completed"); field(got, "result", "content", 0, "text") != "decline" {
		t.Errorf("got %s", got)
	}
}

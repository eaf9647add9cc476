package proxy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// tasking is a modern workload with the tasks extension.
func tasking(more script) script {
	s := stateless(script{
		"server/discover": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private"}}`},
		"tools/call:long": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"task","taskId":"their own","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null,"pollIntervalMs":1}}`},
		"tasks/get":       {theirs(`"status":"working"`)},
		"tasks/update":    {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete"}}`},
		"tasks/cancel":    {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete"}}`},
	})
	for k, v := range more {
		s[k] = v
	}
	return s
}

// theirs is an answer to tasks/get.
func theirs(members string) string {
	return `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","taskId":"their own","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null,"pollIntervalMs":1,` + members + `}}`
}

const theirQuestion = `"status":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}}}`

// asking is a task that shows something, asks, and ends with what it was told.
func askingTask(last string) script {
	return script{
		"tasks/get#1":  {theirs(`"status":"working","statusMessage":"half"`)},
		"tasks/get#2":  {theirs(theirQuestion)},
		"tasks/get#3":  {theirs(theirQuestion)}, // the answer has not been taken yet
		"tasks/get#4":  {theirs(last)},
		"tasks/update": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","saw":$LINE}}`},
	}
}

func TestATaskOfTheWorkloadForAClientWithoutTasks(t *testing.T) { // B19.5, B12.6, B8.2
	r := withTasks(t, tasking(askingTask(`"status":"completed","result":{"resultType":"complete","content":[],"_meta":{"x":1}}`)), upstream.EraModern)
	c, _ := r.initialize("2025-06-18", `{"elicitation":{}}`)
	s := c.request("7", "tools/call", `{"name":"long","_meta":{"progressToken":"p"}}`)
	defer s.close()
	s.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"message":"half"}}`)
	if got := c.answered(s, `"result":{"action":"accept","content":{}}`); !strings.HasPrefix(got, `elicitation/create {`) {
		t.Error(got)
	}
	s.want(`{"jsonrpc":"2.0","id":7,"result":{"content":[],"_meta":{"x":1}}}`)
}

func TestHowATaskOfTheWorkloadEnds(t *testing.T) { // B19.5, B12.3, B12.4, B16
	for name, tc := range map[string]struct{ last, want string }{
		"with an error":        {`"status":"failed","error":{"code":-32001,"message":"broken","data":[1.0]}`, `{"code":-32001,"message":"broken","data":[1.0]}`},
		"cancelled":            {`"status":"cancelled"`, `{"code":-32603,"message":"task cancelled","data":{"reason":"cancelled"}}`},
		"without a result":     {`"status":"completed"`, `{"code":-32603,"message":"bad response from workload","data":{"reason":"bad_response"}}`},
		"without its error":    {`"status":"failed"`, `{"code":-32603,"message":"bad response from workload","data":{"reason":"bad_response"}}`},
		"in a state we do not": {`"status":"surprised"`, `{"code":-32603,"message":"bad response from workload","data":{"reason":"bad_response"}}`},
		"with a tool's error":  {`"status":"completed","result":{"content":[],"isError":true}`, `{"content":[],"isError":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := withTasks(t, tasking(script{"tasks/get": {theirs(tc.last)}}), upstream.EraModern)
			c, _ := r.initialize("2025-11-25", `{}`)
			c.want("tools/call", `{"name":"long"}`, tc.want)
		})
	}
}

func TestATaskOfTheWorkloadBecomesOneOfALegacyClient(t *testing.T) { // B19.5, B12.1, B12.2, B12.3, B12.4
	r := withTasks(t, tasking(askingTask(`"status":"completed","result":{"content":[{"type":"text","text":"no"}],"isError":true}`)), upstream.EraModern)
	c, opened := r.opened("ann", `{"elicitation":{}}`)
	if got := member(opened, "result", "capabilities", "tasks"); got != `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}` {
		t.Error(opened)
	}
	made := c.call("tools/call", `{"name":"long","task":{"ttl":60000}}`)
	id := c.started(made, "task")
	if strings.Contains(made, "their own") {
		t.Errorf("the workload's id shows: %s", made)
	}
	if got := c.until(id, "input_required"); member(got, "statusMessage") != `"half"` {
		t.Error(got)
	}
	s := c.request("9", "tasks/result", `{"taskId":`+id+`}`)
	defer s.close()
	if got := c.answered(s, `"result":{"action":"decline"}`); !strings.Contains(got, `"io.modelcontextprotocol/related-task":{"taskId":`+id) {
		t.Error(got)
	}
	s.want(`{"jsonrpc":"2.0","id":9,"result":{"content":[{"type":"text","text":"no"}],"isError":true,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":` + id + `}}}}`)
	c.until(id, "failed") // W35.19
}

func TestASynchronousAnswerIsATaskToo(t *testing.T) { // B12.2
	r := withTasks(t, tasking(script{
		"server/discover":  {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}}`},
		"tools/call:quick": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","content":[],"saw":$LINE}}`},
		"tools/list":       {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","tools":[{"name":"quick","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}}`},
	}), upstream.EraModern)
	c, _ := r.opened("", `{}`)
	c.want("tools/list", "", `{"tools":[{"name":"quick","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`)
	id := c.started(c.call("tools/call", `{"name":"quick","task":{}}`), "task")
	c.until(id, "completed")
	result := c.call("tasks/result", `{"taskId":`+id+`}`)
	params, _ := strictjson.GetPath([]byte(result), "saw", "params")
	if strings.Contains(string(params), "task") {
		t.Errorf("the workload has no tasks and saw %s", params)
	}
}

func TestTheWorkloadHearsOfACancelledTask(t *testing.T) { // B12.5
	r := withTasks(t, tasking(script{
		"tasks/get":    {theirs(`"status":"working","statusMessage":"half"`)},
		"tasks/cancel": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete"}}`, "!exit 7"},
	}), upstream.EraModern)
	c, _ := r.opened("ann", `{}`)
	id := c.started(c.call("tools/call", `{"name":"long","task":{}}`), "task")
	for member(c.until(id, "working"), "statusMessage") != `"half"` { // until its own task is known
	}
	if got := c.call("tasks/cancel", `{"taskId":`+id+`}`); member(got, "status") != `"cancelled"` {
		t.Error(got)
	}
	select {
	case <-r.ends: // it got tasks/cancel
	case <-time.After(10 * time.Second):
		t.Error("the workload was not told")
	}
	c.until(id, "cancelled")
}

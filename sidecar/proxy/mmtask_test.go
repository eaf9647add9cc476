package proxy_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const theirJob = `"taskId":"their id","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":1000`

// working is a modern workload that makes tasks.
func working(more script) script {
	s := stateless(script{
		"tools/call:job": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"task",` + theirJob + `,"z":1.0}}`},
		"tasks/get":      {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete",` + theirJob + `,"saw":$LINE}}`},
		"tasks/update":   {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","saw":$LINE}}`},
		"tasks/cancel":   {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","saw":$LINE}}`},
	})
	for k, v := range more {
		s[k] = v
	}
	return s
}

// tasking is a client of somebody that takes tasks.
func (r *rig) tasking(user string) *client {
	c := r.declaring(`{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
	c.user = user
	return c
}

// B12 same era, B0.6, W36.15, W36.19: a modern workload's task has an id of ours,
// which opens for its owner alone; the workload sees its own and nothing of
// others.
func TestTasksOfModernWorkloadsHaveIdsOfOurs(t *testing.T) {
	r := withTasks(t, working(nil), upstream.EraModern)
	ann := r.tasking("ann")
	made := ann.call("tools/call", `{"name":"job"}`)
	id := ann.started(made)
	if strings.Contains(made, "their id") || member(made, "resultType") != `"task"` || member(made, "z") != "1.0" || member(made, "ttlMs") != "1000" {
		t.Errorf("made %s", made)
	}
	if got := ann.call("tasks/get", `{"taskId":`+id+`}`); member(got, "taskId") != id || member(got, "saw", "params", "taskId") != `"their id"` {
		t.Errorf("got %s", got)
	}
	for _, method := range []string{"tasks/update", "tasks/cancel"} {
		got := ann.call(method, `{"taskId":`+id+`,"inputResponses":{"k":{"n":1.0}}}`)
		if member(got, "taskId") != "" || member(got, "saw", "params", "taskId") != `"their id"` || member(got, "saw", "params", "inputResponses") != `{"k":{"n":1.0}}` {
			t.Errorf("%s: %s", method, got)
		}
	}
	bare := r.declaring(`{"tasks":{}}`)
	bare.user = "ann"
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		for _, user := range []string{"bob", ""} {
			for _, about := range []string{id, `"their id"`} {
				r.tasking(user).want(method, `{"taskId":`+about+`,"inputResponses":{}}`, `{"code":-32602,"message":"unknown task"}`)
			}
		}
		if got := ann.call(method, `{}`); member(got, "code") != "-32602" {
			t.Errorf("%s of nothing: %s", method, got)
		}
		if got := bare.call(method, `{"taskId":`+id+`}`); member(got, "code") != "-32021" {
			t.Errorf("%s without the extension: %s", method, got)
		}
	}
	for _, method := range []string{"tasks/list", "tasks/result"} { // B12.14
		ann.want(method, `{"taskId":`+id+`}`, `{"code":-32601,"message":"method not found"}`)
	}
	// Who is nobody has what its ids open.
	nobody := r.tasking("")
	own := nobody.started(nobody.call("tools/call", `{"name":"job"}`))
	if got := nobody.call("tasks/get", `{"taskId":`+own+`}`); member(got, "taskId") != own {
		t.Error(got)
	}
	ann.want("tasks/get", `{"taskId":`+own+`}`, `{"code":-32602,"message":"unknown task"}`)
}

// W3.1, B0.5: what cannot be a task, or cannot be named, is an error.
func TestWhatIsNoTaskOfAModernWorkload(t *testing.T) {
	r := withTasks(t, working(script{
		"tools/call:nameless": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"task","status":"working"}}`},
		"tools/call:long":     {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"task","taskId":"` + strings.Repeat("x", 2000) + `"}}`},
		"prompts/get":         {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"task",` + theirJob + `}}`},
	}), upstream.EraModern)
	ann := r.tasking("ann")
	for name, want := range map[string]string{"nameless": `"bad_response"`, "long": `"overflow"`} {
		if got := ann.call("tools/call", `{"name":"`+name+`"}`); member(got, "code") != "-32603" || member(got, "data", "reason") != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := ann.call("prompts/get", `{"name":"p"}`); member(got, "data", "reason") != `"bad_response"` {
		t.Error(got)
	}
	none := withTasks(t, working(script{"server/discover": {`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}}`}}), upstream.EraModern)
	none.tasking("ann").want("tasks/get", `{"taskId":"their id"}`, `{"code":-32601,"message":"method not found"}`)
}

// W33.2, W33.4, W33.5, W33.10, W36.16: what a listener hears of a modern
// workload's tasks has the ids that it named.
func TestListeningToTasksOfModernWorkloads(t *testing.T) {
	r := withTasks(t, working(script{
		"subscriptions/listen": {
			`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"taskIds":["their id","another"]},"_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}`,
			`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"another","status":"working","_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}`,
			`{"jsonrpc":"2.0","method":"notifications/tasks","params":{` + theirJob + `,"_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}`,
			`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","saw":$LINE,"_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}`,
		},
	}), upstream.EraModern)
	ann, bob := r.tasking("ann"), r.tasking("bob")
	id := ann.started(ann.call("tools/call", `{"name":"job"}`))
	foreign := bob.started(bob.call("tools/call", `{"name":"job"}`))
	filter := `{"notifications":{"toolsListChanged":true,"taskIds":[` + id + `,` + foreign + `,"their id",` + id + `]}}`
	s := ann.request(`"l"`, "subscriptions/listen", filter)
	defer s.close()
	const under = `"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}`
	s.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"taskIds":[` + id + `]},` + under + `}}`)
	s.want(`{"jsonrpc":"2.0","method":"notifications/tasks","params":{` + strings.Replace(theirJob, `"their id"`, id, 1) + `,` + under + `}}`)
	got, _ := s.next()
	if saw := member(got, "result", "saw", "params", "notifications"); saw != `{"toolsListChanged":true,"taskIds":["their id"]}` {
		t.Errorf("the workload was asked for %s", saw)
	}
	for filter, want := range map[string]string{`"x"`: "-32602", `[1]`: "-32602", `[` + strings.TrimSuffix(strings.Repeat(`"x",`, 300), ",") + `]`: "-32603"} {
		if got := ann.call("subscriptions/listen", `{"notifications":{"taskIds":`+filter+`}}`); member(got, "code") != want {
			t.Errorf("%.20s: %s", filter, got)
		}
	}
	bare := r.declaring(`{}`)
	if got := bare.call("subscriptions/listen", `{"notifications":{"taskIds":[`+id+`]}}`); member(got, "code") != "-32021" {
		t.Error(got)
	}
}

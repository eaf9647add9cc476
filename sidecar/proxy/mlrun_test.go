package proxy

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

const visitFirst = `"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://a/b","message":"Log in"},{"url":"https://c"}]}}`

// visitor is a tool that wants pages visited until it has been called so many
// times.
func visitor(support string, times int) good {
	calls := 0
	return good{support: support, run: func(j *job) string {
		j.waits(20 * time.Second)
		if calls++; calls <= times {
			return visitFirst
		}
		return fine("been there")
	}}
}

// B7.19, B12.11: a call that has become a task sends its client to pages by way
// of the task, and is made again when that has been there.
func TestATaskHasPagesVisited(t *testing.T) {
	for name, tc := range map[string]struct {
		support      string
		times        int
		answer, last string // to the pages
		status, want string
		calls        int
	}{
		"a task of the workload": {"required", 2, "accept", "accept", "completed", `been there`, 3},
		"a call that took long":  {"", 2, "accept", "accept", "completed", `been there`, 3},
		"the user will not go":   {"required", 1, "accept", "decline", "completed", `{"content":[{"type":"text","text":"declined by user"}],"isError":true`, 1},
		"nor when asked later":   {"", 1, "cancel", "accept", "completed", `"declined by user"`, 1},
		"it is never enough":     {"required", 9, "accept", "accept", "failed", `"originalCode":-32042`, 6},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, map[string]good{"x": visitor(tc.support, tc.times)}, task.Options{}, nil, func(t *testing.T, w *works) {
				ann := w.buyer("ann")
				id := ann.begins(`{"name":"x"}`)
				for n := 1; ; n += 2 {
					got := ""
					for range 100 {
						if got = ann.looks(id); of(got, "status") != `"working"` {
							break
						}
						time.Sleep(time.Second)
					}
					if of(got, "status") != `"input_required"` {
						break
					}
					first, second := "elicitation-"+codeText(int64(n)), "elicitation-"+codeText(int64(n+1))
					if of(got, "inputRequests", first, "params") != `{"mode":"url","message":"Log in","url":"https://a/b"}` || of(got, "inputRequests", second, "params", "url") != `"https://c"` {
						t.Fatalf("asked %s", got)
					}
					ann.do(mcp.MethodTasksUpdate, `{"taskId":`+id+`,"inputResponses":{"`+first+`":{"action":"`+tc.answer+`"},"`+second+`":{"action":"`+tc.last+`"}}}`)
				}
				got := ann.until(id, tc.status)
				if !strings.Contains(got, tc.want) {
					t.Errorf("got %s", got)
				}
				if n := w.s.saw("tools/call x") + w.s.saw("tools/call x +task"); n != tc.calls {
					t.Errorf("called %d times", n)
				}
			})
		})
	}
}

// B7.19, W36.11: a client that takes no addresses cannot be sent to one.
func TestATaskWhoseClientTakesNoAddresses(t *testing.T) {
	inBubble(t, map[string]good{"x": visitor("required", 1)}, task.Options{}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		ann.caps = `{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
		got := ann.until(ann.begins(`{"name":"x"}`), "failed")
		if of(got, "error", "code") != "-32021" || of(got, "error", "data", "requiredCapabilities") != `{"elicitation":{"url":{}}}` {
			t.Errorf("got %s", got)
		}
	})
}

// B7.19: cancelled while its client is at the page, the call is not made again.
func TestATaskIsCancelledAtThePage(t *testing.T) {
	inBubble(t, map[string]good{"x": visitor("required", 1)}, task.Options{}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		id := ann.begins(`{"name":"x"}`)
		ann.until(id, "input_required")
		ann.do(mcp.MethodTasksCancel, `{"taskId":`+id+`}`)
		ann.do(mcp.MethodTasksUpdate, `{"taskId":`+id+`,"inputResponses":{"elicitation-1":{"action":"accept"},"elicitation-2":{"action":"accept"}}}`)
		time.Sleep(time.Minute)
		if got := ann.looks(id); of(got, "status") != `"cancelled"` || w.s.saw("tools/call x +task") != 1 {
			t.Errorf("got %s, %q", got, w.s.calls)
		}
	})
}

// W36.9, B12.9: what says that it asks first asks in rounds, and the answer to
// the last of them is the task, be it ready.
func TestATaskThatAsksFirst(t *testing.T) {
	for name, work := range map[string]time.Duration{"that works on": time.Hour, "that is done": 0} {
		t.Run(name, func(t *testing.T) {
			goods := map[string]good{"x": {support: "required", meta: `{"dev.fairlead/asksFirst":true}`, run: func(j *job) string {
				answer := of(j.ask(mcp.MethodElicit, form), "result", "content", "n")
				j.waits(work)
				return fine(answer + strings.Trim(of(j.ask(mcp.MethodElicit, form), "result", "action"), `"`))
			}}}
			if work == 0 {
				goods["x"] = good{support: "required", meta: goods["x"].meta, run: func(j *job) string {
					return fine(of(j.ask(mcp.MethodElicit, form), "result", "content", "n") + "done")
				}}
			}
			inBubble(t, goods, task.Options{MaxTTL: 3 * time.Hour}, nil, func(t *testing.T, w *works) {
				ann := w.buyer("ann")
				first := ann.do(mcp.MethodToolsCall, `{"name":"x"}`)
				if of(first, "resultType") != `"input_required"` || of(first, "taskId") != "" {
					t.Fatalf("first %s", first)
				}
				retry := `{"name":"x","inputResponses":{"elicitation-1":{"action":"accept","content":{"n":1}}},"requestState":` + of(first, "requestState") + `}`
				made := ann.do(mcp.MethodToolsCall, retry)
				id := of(made, "taskId")
				if of(made, "resultType") != `"task"` || of(made, "requestState") != "" || of(made, "inputRequests") != "" {
					t.Fatalf("then %s", made)
				}
				if again := ann.do(mcp.MethodToolsCall, retry); again != made { // P20
					t.Errorf("once more: %s", again)
				}
				if work > 0 {
					ann.do(mcp.MethodTasksCancel, `{"taskId":`+id+`}`)
					return
				}
				if got := ann.until(id, "completed"); of(got, "result", "content") != `[{"type":"text","text":"1done"}]` {
					t.Errorf("got %s", got)
				}
			})
		})
	}
}

// W36.4, B7.15, B12.8: a tool that says so is not run for who takes no tasks;
// any other is, and its client waits.
func TestAToolThatNeedsTasks(t *testing.T) {
	goods := map[string]good{
		"needs": {support: "required", meta: `{"dev.fairlead/needs":["tasks"]}`, run: func(*job) string { return fine("ran") }},
		"waits": {support: "required", run: func(j *job) string { j.waits(time.Minute); return fine("ran") }},
	}
	inBubble(t, goods, task.Options{}, nil, func(t *testing.T, w *works) {
		bob := &buyer{w: w, who: "bob", caps: `{}`}
		if got := bob.do(mcp.MethodToolsList, `{}`); strings.Contains(got, "execution") { // B12.7
			t.Error(got)
		}
		if got := bob.do(mcp.MethodToolsCall, `{"name":"needs"}`); of(got, "code") != "-32021" || of(got, "data", "requiredCapabilities") != `{"extensions":{"io.modelcontextprotocol/tasks":{}}}` {
			t.Error(got)
		}
		if w.s.saw("tools/call needs")+w.s.saw("tools/call needs +task") > 0 {
			t.Error("it ran")
		}
		for _, caps := range []string{`{}`, noTasks} {
			bob.caps = caps
			got := bob.do(mcp.MethodToolsCall, `{"name":"waits"}`)
			if of(got, "resultType") != `"complete"` || of(got, "content") != `[{"type":"text","text":"ran"}]` || strings.Contains(got, "job-") {
				t.Error(got)
			}
		}
		if got := w.buyer("ann").do(mcp.MethodToolsCall, `{"name":"needs"}`); of(got, "resultType") != `"task"` {
			t.Error(got)
		}
	})
}

// B12.7, B16: a list that says otherwise than the tool does costs one more
// call, once; a tool that will not have it either way is our error.
func TestAListThatIsWrongAboutTasks(t *testing.T) {
	run := func(*job) string { return fine("ran") }
	goods := map[string]good{"will not": {support: "optional", run: run}, "must": {run: run}}
	inBubble(t, goods, task.Options{}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		ann.do(mcp.MethodToolsList, `{}`)
		w.s.mu.Lock()
		w.s.goods = map[string]good{"will not": {run: run}, "must": {support: "required", run: run}}
		w.s.mu.Unlock()
		if got := ann.do(mcp.MethodToolsCall, `{"name":"will not"}`); of(got, "resultType") != `"complete"` {
			t.Error(got)
		}
		if got := ann.do(mcp.MethodToolsCall, `{"name":"must"}`); of(got, "resultType") != `"task"` {
			t.Error(got)
		}
		time.Sleep(refreshEvery)
		for range 2 {
			ann.do(mcp.MethodToolsCall, `{"name":"will not"}`)
			ann.do(mcp.MethodToolsCall, `{"name":"must"}`)
		}
		synctest.Wait()
		for call, want := range map[string]int{"tools/call will not": 3, "tools/call will not +task": 1, "tools/call must": 1, "tools/call must +task": 3, "tools/list": 2} {
			if n := w.s.saw(call); n != want {
				t.Errorf("%s: %d times, want %d", call, n, want)
			}
		}
		if got := ann.do(mcp.MethodToolsCall, `{"name":"none"}`); of(got, "code") != "-32602" {
			t.Error(got)
		}
	})
	stubborn := map[string]good{"x": {support: "neither", run: run}}
	inBubble(t, stubborn, task.Options{}, nil, func(t *testing.T, w *works) {
		w.s.refuses = true
		if got := w.buyer("ann").do(mcp.MethodToolsCall, `{"name":"x"}`); of(got, "code") != "-32603" || of(got, "data", "originalCode") != "-32601" {
			t.Error(got)
		}
	})
}

// B12.9: where calls never become tasks by themselves the workload's still do.
func TestTasksOfTheWorkloadWithoutPromotion(t *testing.T) {
	goods := map[string]good{
		"own":  {support: "optional", run: func(*job) string { return fine("own") }},
		"slow": {run: func(j *job) string { j.waits(time.Minute); return fine("slow") }},
	}
	inBubble(t, goods, task.Options{}, func(c *Config) { c.Promote = 0 }, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		if got := ann.do(mcp.MethodTasksGet, `{"taskId":"x"}`); of(got, "code") != "-32602" {
			t.Error(got)
		}
		if got := ann.do(mcp.MethodDiscover, `{}`); of(got, "capabilities", "extensions") == "" {
			t.Error(got)
		}
		if got := ann.do(mcp.MethodToolsCall, `{"name":"slow"}`); of(got, "resultType") != `"complete"` {
			t.Error(got)
		}
		ann.until(ann.begins(`{"name":"own"}`), "completed")
	})
}

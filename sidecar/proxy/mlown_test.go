package proxy

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

const ack = `{"resultType":"complete"}`

// B12.7, B12.9, W36.6, W36.8: a tool that may run as a task does for a client
// that takes tasks, under an id of ours.
func TestATaskOfTheWorkloadBecomesOneOfAModernClient(t *testing.T) {
	goods := map[string]good{"long": {support: "optional", run: func(j *job) string {
		j.waits(10 * time.Second)
		j.says("half way")
		j.waits(10 * time.Second)
		return fine("done")
	}}}
	inBubble(t, goods, task.Options{}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		if got := ann.do(mcp.MethodDiscover, `{}`); of(got, "capabilities", "extensions") != `{"io.modelcontextprotocol/tasks":{}}` || of(got, "capabilities", "tasks") != "" {
			t.Errorf("offered %s", got)
		}
		began := time.Now()
		made := ann.do(mcp.MethodToolsCall, `{"name":"long","task":{"ttl":1},"_meta":{"progressToken":1}}`)
		if took := time.Since(began); took > time.Second {
			t.Errorf("the task came after %v", took)
		}
		id := of(made, "taskId")
		if of(made, "resultType") != `"task"` || of(made, "status") != `"working"` || strings.Contains(id, "job") || len(id) < 30 ||
			of(made, "ttlMs") != "600000" || of(made, "pollIntervalMs") != "2000" || of(made, "statusMessage") != `"begun"` ||
			strings.Contains(made, `"ttl"`) || strings.Contains(made, `"task"`+":") {
			t.Errorf("made %s", made)
		}
		if got := ann.do(mcp.MethodTasksGet, `{"taskId":`+id+`}`); of(got, "status") != `"working"` || of(got, "resultType") != `"complete"` || of(got, "taskId") != id {
			t.Errorf("at once: %s", got)
		}
		time.Sleep(15 * time.Second)
		if got := ann.looks(id); of(got, "statusMessage") != `"half way"` { // B12.14
			t.Errorf("on the way: %s", got)
		}
		got := ann.until(id, "completed")
		if of(got, "result", "content") != `[{"type":"text","text":"done"}]` || strings.Contains(of(got, "result"), "job-") || strings.Contains(got, "related-task") { // W36.18
			t.Errorf("at the end: %s", got)
		}
		if n := w.s.saw("tools/call long +task"); n != 1 || w.s.saw("tools/call long") != 0 {
			t.Errorf("called %d times as a task", n)
		}
	})
}

// B12.12, W36.11: how the workload's task ends is how ours does, in the words
// of the extension.
func TestHowTheWorkloadsTaskEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		run          func(j *job) string
		status       string
		member, want string
	}{
		"an error of the tool is a result": {
			func(*job) string { return `"result":{"content":[],"isError":true}` }, "completed", "result", `{"content":[],"isError":true`,
		},
		"an error of the protocol": {
			func(*job) string { return `"error":{"code":-32000,"message":"broke","data":7}` }, "failed", "error", `{"code":-32000,"message":"broke","data":7}`,
		},
		"a code that the revision may not carry": {
			func(*job) string { return `"error":{"code":-32050,"message":"odd"}` }, "failed", "error", `{"code":-32603,"message":"odd","data":{"originalCode":-32050}}`,
		},
		"the workload cancels it": {
			func(j *job) string {
				j.ends("cancelled", "no more", `"error":{"code":-32603,"message":"cancelled"}`)
				return ""
			}, "cancelled", "statusMessage", `"no more"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, map[string]good{"x": {support: "required", run: tc.run}}, task.Options{}, nil, func(t *testing.T, w *works) {
				ann := w.buyer("ann")
				got := ann.until(ann.begins(`{"name":"x"}`), tc.status)
				if !strings.HasPrefix(of(got, tc.member), tc.want) {
					t.Errorf("got %s", got)
				}
			})
		})
	}
}

// B12.10, B12.11, W36.10, W36.12, W36.13: what the workload's task asks is what
// ours asks; answers go back one by one and count once.
func TestWhatTheWorkloadsTaskAsks(t *testing.T) {
	goods := map[string]good{"asks": {support: "required", run: func(j *job) string {
		second := make(chan string)
		go func() { second <- j.ask(mcp.MethodElicit, form) }()
		first := j.ask(mcp.MethodElicit, `{"message":"first","requestedSchema":{},"task":{}}`)
		one, two := of(first, "result", "content", "n"), of(<-second, "result", "content", "n")
		third := j.ask(mcp.MethodElicit, form)
		return fine(one + two + of(third, "result", "content", "n"))
	}}}
	inBubble(t, goods, task.Options{}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		id := ann.begins(`{"name":"asks"}`)
		got := ann.until(id, "input_required")
		questions := of(got, "inputRequests")
		if of(questions, "elicitation-1", "method") == "" || of(questions, "elicitation-2", "method") == "" || strings.Contains(questions, "job-") || strings.Contains(questions, "related-task") {
			t.Fatalf("asked %s", questions)
		}
		first, second := "elicitation-1", "elicitation-2"
		if of(questions, second, "params", "message") == `"first"` {
			first, second = second, first
		}
		answer := func(key, n string) string {
			return ann.do(mcp.MethodTasksUpdate, `{"taskId":`+id+`,"inputResponses":{"`+key+`":{"action":"accept","content":{"n":`+n+`}},"unknown":{"action":"accept"}}}`)
		}
		for _, n := range []string{"1", "8"} { // the second one is late
			if got := answer(first, n); got != ack {
				t.Error(got)
			}
		}
		if got := ann.looks(id); of(got, "status") != `"input_required"` || of(got, "inputRequests", first) != "" || of(got, "inputRequests", second) == "" {
			t.Errorf("after one answer: %s", got)
		}
		if got := ann.do(mcp.MethodTasksUpdate, `{"taskId":`+id+`,"inputResponses":{"`+second+`":{"action":"yes"}}}`); of(got, "code") != "-32602" {
			t.Errorf("an answer of no shape: %s", got)
		}
		answer(second, "2")
		got = ann.looks(id)
		if of(got, "inputRequests", "elicitation-3", "method") == "" || of(got, "inputRequests", first) != "" {
			t.Errorf("the next question: %s", got)
		}
		answer("elicitation-3", "3")
		if got := ann.until(id, "completed"); of(got, "result", "content") != `[{"type":"text","text":"123"}]` {
			t.Errorf("at the end: %s", got)
		}
		if got := answer("elicitation-3", "9"); got != ack {
			t.Errorf("to a task that is over: %s", got)
		}
	})
}

// B6.1, B12.10, B19.4: two tasks of the same client on one leg do not mix, and
// neither do those of others.
func TestTasksOnOneLegDoNotMix(t *testing.T) {
	goods := map[string]good{"asks": {support: "required", run: func(j *job) string {
		name := strings.Trim(of(string(j.params), "arguments", "n"), `"`)
		answer := j.ask(mcp.MethodElicit, `{"message":"`+name+`","requestedSchema":{}}`)
		return fine(name + strings.Trim(of(answer, "result", "content", "n"), `"`))
	}}}
	inBubble(t, goods, task.Options{}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		one, two := ann.begins(`{"name":"asks","arguments":{"n":"one"}}`), ann.begins(`{"name":"asks","arguments":{"n":"two"}}`)
		w.s.only()
		began := time.Now()
		for id, name := range map[string]string{one: "one", two: "two"} {
			got := ann.until(id, "input_required")
			if of(got, "inputRequests", "elicitation-1", "params", "message") != `"`+name+`"` {
				t.Errorf("%s asks %s", name, got)
			}
			ann.do(mcp.MethodTasksUpdate, `{"taskId":`+id+`,"inputResponses":{"elicitation-1":{"action":"accept","content":{"n":"-`+name+`"}}}}`)
		}
		if took := time.Since(began); took >= attributionWait {
			t.Errorf("it took %v to tell them apart", took)
		}
		for id, name := range map[string]string{one: "one", two: "two"} {
			if got := ann.until(id, "completed"); of(got, "result", "content") != `[{"type":"text","text":"`+name+`-`+name+`"}]` {
				t.Errorf("%s got %s", name, got)
			}
		}
	})
}

// B12.13, W36.14, B11: cancelling is tasks/cancel at the workload and nothing
// else, and is acknowledged whatever has become of the task.
func TestATaskOfTheWorkloadIsCancelled(t *testing.T) {
	goods := map[string]good{
		"long":  {support: "optional", run: func(j *job) string { j.waits(time.Hour); return fine("late") }},
		"quick": {support: "optional", run: func(*job) string { return fine("done") }},
	}
	inBubble(t, goods, task.Options{}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		id := ann.begins(`{"name":"long"}`)
		for range 2 {
			if got := ann.do(mcp.MethodTasksCancel, `{"taskId":`+id+`}`); got != ack {
				t.Error(got)
			}
			if got := ann.looks(id); of(got, "status") != `"cancelled"` || of(got, "result") != "" {
				t.Error(got)
			}
		}
		if n := w.s.saw("tasks/cancel"); n != 1 || w.s.saw("notifications/cancelled") != 0 {
			t.Errorf("the workload was told %d times", n)
		}
		id = ann.begins(`{"name":"quick"}`)
		ann.until(id, "completed")
		if got := ann.do(mcp.MethodTasksCancel, `{"taskId":`+id+`}`); got != ack {
			t.Error(got)
		}
		if got := ann.looks(id); of(got, "status") != `"completed"` || w.s.saw("tasks/cancel") != 1 {
			t.Error(got)
		}
		// B12.13: the workload has cancelled already, or does not know it.
		id = ann.begins(`{"name":"long"}`)
		synctest.Wait()
		w.s.forgets()
		if got := ann.do(mcp.MethodTasksCancel, `{"taskId":`+id+`}`); got != ack {
			t.Error(got)
		}
		if got := ann.looks(id); of(got, "status") != `"cancelled"` {
			t.Error(got)
		}
	})
}

// B12.13, B12.14: who leaves before the task is there leaves nothing behind.
func TestAClientLeavesWhileItsTaskIsMade(t *testing.T) {
	goods := map[string]good{"long": {support: "required", run: func(j *job) string { j.waits(time.Hour); return fine("late") }}}
	inBubble(t, goods, task.Options{PerOwner: 1}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		ann.begins(`{"name":"long"}`)
		ctx, leave := context.WithCancelCause(t.Context())
		ann.ctx = ctx
		go func() {
			time.Sleep(time.Minute)
			leave(dispatch.ErrDisconnected)
		}()
		// There is no room for another task: the client waits for the result.
		if got := ann.do(mcp.MethodToolsCall, `{"name":"long"}`); of(got, "code") == "" {
			t.Errorf("got %s", got)
		}
		synctest.Wait()
		if w.s.saw("tools/call long +task") != 2 || w.s.saw("tasks/cancel") != 1 {
			t.Errorf("the workload was told %q", w.s.calls)
		}
	})
}

// B18: without room for a task the call is answered when it is done.
func TestNoRoomForATask(t *testing.T) {
	goods := map[string]good{
		"long": {support: "required", run: func(j *job) string { j.waits(time.Hour); return fine("late") }},
		"asks": {support: "required", run: func(j *job) string {
			return fine(strings.Trim(of(j.ask(mcp.MethodElicit, form), "result", "action"), `"`))
		}},
	}
	inBubble(t, goods, task.Options{PerOwner: 1}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		ann.begins(`{"name":"long"}`)
		got := ann.do(mcp.MethodToolsCall, `{"name":"asks"}`)
		if of(got, "resultType") != `"input_required"` {
			t.Fatalf("got %s", got)
		}
		got = ann.do(mcp.MethodToolsCall, `{"name":"asks","inputResponses":{"elicitation-1":{"action":"decline"}},"requestState":`+of(got, "requestState")+`}`)
		if of(got, "resultType") != `"complete"` || of(got, "content") != `[{"type":"text","text":"decline"}]` {
			t.Errorf("got %s", got)
		}
	})
}

// B12.16, B0.5: a task whose workload dies has failed, with a reason; it is not
// begun again.
func TestTheWorkloadDiesDuringItsTask(t *testing.T) {
	goods := map[string]good{"long": {support: "required", run: func(j *job) string { j.waits(time.Hour); return fine("late") }}}
	inBubble(t, goods, task.Options{}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		id := ann.begins(`{"name":"long"}`)
		w.s.only().dies()
		got := ann.until(id, "failed")
		if of(got, "error", "code") != "-32603" || of(got, "error", "data", "reason") != `"workload_restarted"` {
			t.Errorf("got %s", got)
		}
		// B12.8: nor for a client that waits.
		bob := &buyer{w: w, who: "bob", caps: noTasks}
		go func() {
			time.Sleep(time.Second)
			w.s.mu.Lock()
			defer w.s.mu.Unlock()
			for key, l := range w.s.legs {
				if key.Principal == "bob" {
					go l.dies()
				}
			}
		}()
		if got := bob.do(mcp.MethodToolsCall, `{"name":"long"}`); of(got, "data", "reason") != `"workload_restarted"` {
			t.Errorf("got %s", got)
		}
		if n := w.s.saw("tools/call long +task"); n != 2 {
			t.Errorf("it ran %d times", n)
		}
	})
}

// B12.13: a task that the workload does not know any more, before it was over.
func TestTheWorkloadForgetsItsTask(t *testing.T) {
	goods := map[string]good{"long": {support: "required", run: func(j *job) string {
		j.waits(time.Minute)
		j.leg.s.forgets()
		return `"error":{"code":-32602,"message":"no such task"}`
	}}}
	inBubble(t, goods, task.Options{}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		id := ann.begins(`{"name":"long"}`)
		got := ann.until(id, "failed")
		if of(got, "error", "data", "reason") != `"task_lost"` || strings.Contains(got, "job-") {
			t.Errorf("got %s", got)
		}
		time.Sleep(5 * time.Minute)
		if got := ann.looks(id); of(got, "status") != `"failed"` { // until our ttlMs
			t.Errorf("got %s", got)
		}
		time.Sleep(10 * time.Minute)
		if got := ann.looks(id); of(got, "code") != "-32602" {
			t.Errorf("got %s", got)
		}
	})
}

// B0.6, B12.9, B12.14, W36.15, W36.19: somebody else's task is none, and who
// does not declare the extension is told so.
func TestATaskOfTheWorkloadIsItsOwnersAlone(t *testing.T) {
	goods := map[string]good{"long": {support: "required", run: func(j *job) string { j.waits(time.Minute); return fine("done") }}}
	inBubble(t, goods, task.Options{}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		id := ann.begins(`{"name":"long"}`)
		plain := &buyer{w: w, who: "ann", caps: `{"tasks":{}}`}
		for _, method := range []string{mcp.MethodTasksGet, mcp.MethodTasksUpdate, mcp.MethodTasksCancel} {
			for _, who := range []string{"bob", ""} {
				for _, about := range []string{id, `"job-0"`} {
					if got := w.buyer(who).do(method, `{"taskId":`+about+`,"inputResponses":{}}`); got != `{"code":-32602,"message":"unknown task"}` {
						t.Errorf("%s of %q: %s", method, who, got)
					}
				}
			}
			if got := plain.do(method, `{"taskId":`+id+`,"inputResponses":{}}`); of(got, "code") != "-32021" || of(got, "data", "requiredCapabilities") != `{"extensions":{"io.modelcontextprotocol/tasks":{}}}` {
				t.Errorf("%s without the extension: %s", method, got)
			}
		}
		for _, method := range []string{mcp.MethodTasksResult, mcp.MethodTasksList} {
			if got := ann.do(method, `{"taskId":`+id+`}`); of(got, "code") != "-32601" {
				t.Errorf("%s: %s", method, got)
			}
		}
		ann.until(id, "completed")
	})
}

// B12.10, B6.1, R10: workloads that ask before their result is waited for, or do
// not let it be waited for, are understood.
func TestWorkloadsThatRunTasksInTheirOwnWay(t *testing.T) {
	asks := func(j *job) string {
		answer := j.ask(mcp.MethodElicit, form)
		j.waits(time.Minute)
		return fine(strings.Trim(of(answer, "result", "action"), `"`))
	}
	for name, g := range map[string]good{
		"asks at once":            {support: "required", early: true, run: asks},
		"will not be waited for":  {support: "required", hasty: true, run: asks},
		"both, and only may be":   {support: "optional", early: true, hasty: true, run: asks},
		"as everybody":            {support: "required", run: asks},
		"but is no task, and may": {run: func(j *job) string { j.waits(time.Hour); return fine("decline") }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, map[string]good{"x": g}, task.Options{MaxTTL: 3 * time.Hour, DefaultTTL: 3 * time.Hour}, nil, func(t *testing.T, w *works) {
				ann := w.buyer("ann")
				id := ann.begins(`{"name":"x"}`)
				if g.support != "" {
					ann.until(id, "input_required")
					ann.do(mcp.MethodTasksUpdate, `{"taskId":`+id+`,"inputResponses":{"elicitation-1":{"action":"decline"}}}`)
				} else {
					time.Sleep(time.Hour)
				}
				if got := ann.until(id, "completed"); of(got, "result", "content") != `[{"type":"text","text":"decline"}]` {
					t.Errorf("got %s", got)
				}
			})
		})
	}
}

// B12.14: what the workload says of its task, by whatever way, is the status
// message; logs are not, and a client that waits hears progress.
func TestWhatTheWorkloadSaysOfItsTask(t *testing.T) {
	goods := map[string]good{"x": {support: "required", run: func(j *job) string {
		token := of(string(j.params), "_meta", "progressToken")
		<-j.opened
		say := func(method, params string) {
			j.notes(method, params)
			j.waits(11 * time.Second)
		}
		say("notifications/message", `{"level":"error","data":"not this"}`)
		say("notifications/progress", `{"progressToken":`+token+`,"progress":1,"message":"by progress"}`)
		j.says("by asking")
		j.waits(11 * time.Second)
		j.says("")
		say("notifications/tasks/status", strings.Replace(j.shown(), `"status":"working",`, `"status":"working","statusMessage":"by notification",`, 1))
		say("notifications/tasks/status", `{"taskId":"job-99","status":"working","statusMessage":"of another"}`)
		return fine("done")
	}}}
	inBubble(t, goods, task.Options{}, nil, func(t *testing.T, w *works) {
		ann := w.buyer("ann")
		id := ann.begins(`{"name":"x","_meta":{"progressToken":"p"}}`)
		for _, want := range []string{"begun", "by progress", "by asking", "by notification", "by notification"} {
			time.Sleep(6 * time.Second)
			if got := ann.looks(id); of(got, "statusMessage") != `"`+want+`"` {
				t.Errorf("want %s: %s", want, got)
			}
			time.Sleep(5 * time.Second)
		}
		ann.until(id, "completed")
		bob := &buyer{w: w, who: "bob", caps: noTasks, told: &notes{}}
		bob.do(mcp.MethodToolsCall, `{"name":"x","_meta":{"progressToken":"mine"}}`)
		if got := bob.told.list(); len(got) != 1 || of(got[0], "params") != `{"progressToken":"mine","progress":1,"message":"by progress"}` {
			t.Errorf("bob was told %s", got)
		}
	})
}

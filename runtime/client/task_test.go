package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

func flat(status string, more ...string) string {
	return `{"resultType":"%s","taskId":"t1","status":"` + status + `","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":60000,"pollIntervalMs":1000` + strings.Join(more, "") + `}`
}

func created() string                     { return fmt.Sprintf(flat("working"), "task") }
func stands(s string, m ...string) string { return fmt.Sprintf(flat(s, m...), "complete") }

// W36: a task of the extension is polled, its questions are answered once each,
// and its result is the tool's.
func TestTaskWithoutASession(t *testing.T) {
	var mu sync.Mutex
	polls, updates := 0, []string{}
	s := modern(nil)
	s.serve = func(f *fake, m *jsonrpc.Message) {
		mu.Lock()
		defer mu.Unlock()
		if m.Method != mcp.MethodToolsCall || text(m.Params, "name") == "slow" {
			if member(m.Params, "_meta", mcp.MetaClientCapabilities, "extensions", mcp.ExtensionTasks) == nil && m.Method != mcp.NotifyCancelled {
				t.Errorf("%s without the extension", m.Method)
			}
		}
		switch m.Method {
		case mcp.MethodToolsCall:
			f.result(m, created())
		case mcp.MethodTasksGet:
			switch polls++; polls {
			case 1:
				f.result(m, stands("working"))
			case 2, 3:
				f.result(m, stands("input_required", `,"inputRequests":{"k1":`+askForm+`}`))
			case 4:
				f.result(m, stands("input_required", `,"inputRequests":{"k1":`+askForm+`,"k2":`+askRoots+`}`))
			default:
				f.result(m, stands("completed", `,"result":{"content":[{"type":"text","text":"done"}],"isError":true}`))
			}
		case mcp.MethodTasksUpdate:
			updates = append(updates, string(member(m.Params, "inputResponses")))
			f.result(m, `{"resultType":"complete"}`)
		}
	}
	bubble(t, s, Options{Handlers: asks()}, func(t *testing.T, c *Client) {
		begin := time.Now()
		task, err := c.StartTool(t.Context(), "slow", nil, TaskOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if st := task.Created(); task.ID() != "t1" || st.Status != TaskWorking || st.TTL != time.Minute || st.Poll != time.Second || st.Status.Final() {
			t.Errorf("%+v", st)
		}
		r, err := task.Wait(t.Context())
		if err != nil || r.Text() != "done" || !r.IsError {
			t.Fatal(r, err)
		}
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(updates, " "); got != `{"k1":`+saidForm+`} {"k2":`+saidRoots+`}` {
			t.Error(got)
		}
		if d := time.Since(begin); d < 4*time.Second || d > 5*time.Second {
			t.Errorf("four polls, a second apart, took %v", d)
		}
	})
}

func TestHowTasksEnd(t *testing.T) {
	for name, tc := range map[string]struct{ state, want string }{
		"completed":              {stands("completed", `,"result":{"content":[]}`), ""},
		"failed":                 {stands("failed", `,"error":{"code":-32050,"message":"broke","data":{"x":1}}`), "broke"},
		"failed without a cause": {stands("failed", `,"statusMessage":"sorry"`), "sorry"},
		"cancelled":              {stands("cancelled"), ErrTaskCancelled.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			s := modern(func(f *fake, m *jsonrpc.Message) { f.result(m, tc.state) })
			bubble(t, s, Options{}, func(t *testing.T, c *Client) {
				_, err := c.Task("t1").Wait(t.Context())
				if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
					t.Error(err)
				}
				if tc.want == "broke" && string(rpcError(err).Data) != `{"x":1}` {
					t.Error(rpcError(err))
				}
			})
		})
	}
}

// A notification about the task ends the pause before the next poll (W36.16).
func TestANotificationWakesTheWait(t *testing.T) {
	polls := 0
	s := modern(func(f *fake, m *jsonrpc.Message) {
		if polls++; polls > 1 {
			f.result(m, stands("completed", `,"result":{}`))
			return
		}
		f.result(m, `{"taskId":"t1","status":"working","pollIntervalMs":60000}`)
		sleepFor(10)
		f.say(`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t1","status":"completed"}}`)
	})
	bubble(t, s, Options{}, func(t *testing.T, c *Client) {
		begin := time.Now()
		if _, err := c.Task("t1").Wait(t.Context()); err != nil || time.Since(begin) > time.Second {
			t.Error(err, time.Since(begin))
		}
	})
}

// W19.6, W19.7: giving up a wait does not cancel the task; Cancel does, by the
// method of tasks.
func TestGivingUpAWait(t *testing.T) {
	for name, s := range map[string]*fakes{"without a session": modern(nil), "in a session": legacy(nil)} {
		t.Run(name, func(t *testing.T) {
			s.serve = func(f *fake, m *jsonrpc.Message) {
				if m.Method != mcp.MethodTasksResult {
					f.result(m, `{"taskId":"t1","status":"working","pollIntervalMs":1000,"pollInterval":1000}`)
				}
			}
			bubble(t, s, Options{}, func(t *testing.T, c *Client) {
				ctx, stop := context.WithTimeout(t.Context(), 1500*time.Millisecond)
				defer stop()
				task := c.Task("t1")
				if _, err := task.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				if err := task.Cancel(t.Context()); err != nil {
					t.Error(err)
				}
				if n := len(s.last().sent(mcp.MethodTasksCancel)); n != 1 {
					t.Errorf("%d tasks/cancel", n)
				}
			})
		})
	}
}

// W35: a task of 2025-11-25, whose result is waited for on tasks/result with
// the questions on the same stream; W24.15 for what may be a task at all.
func TestTaskInASession(t *testing.T) {
	const caps = `{"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`
	for name, tc := range map[string]struct {
		caps, support string
		task          bool
	}{
		"optional":                  {caps, "optional", true},
		"required":                  {caps, "required", true},
		"forbidden":                 {caps, "forbidden", false},
		"not said":                  {caps, "", false},
		"a server without tasks":    {`{"tasks":{"list":{}}}`, "optional", false},
		"a server that ignores it ": {caps, "optional", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := legacy(nil)
			s.caps = tc.caps
			s.serve = func(f *fake, m *jsonrpc.Message) {
				switch m.Method {
				case mcp.MethodToolsList:
					f.result(m, `{"tools":[{"name":"x","execution":{"taskSupport":"`+tc.support+`"}}]}`)
				case mcp.MethodToolsCall:
					if member(m.Params, "task") == nil || strings.Contains(name, "ignores") {
						f.result(m, `{"content":[{"type":"text","text":"at once"}]}`)
						return
					}
					f.result(m, `{"task":{"taskId":"t1","status":"working","createdAt":"x","lastUpdatedAt":"y","ttl":null,"pollInterval":500}}`)
				case mcp.MethodTasksResult:
					f.say(`{"jsonrpc":"2.0","id":"q","method":"roots/list","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}}`)
					for len(f.answers()) == 0 {
						sleepFor(1)
					}
					f.result(m, `{"content":[{"type":"text","text":"later"}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}`)
				}
			}
			bubble(t, s, Options{Handlers: asks()}, func(t *testing.T, c *Client) {
				task, err := c.StartTool(t.Context(), "x", nil, TaskOptions{TTL: time.Minute})
				if err != nil {
					t.Fatal(err)
				}
				r, err := task.Wait(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				call := s.last().sent(mcp.MethodToolsCall)[0]
				if !tc.task {
					if r.Text() != "at once" || task.ID() != "" || !strings.Contains(name, "ignores") && strings.Contains(call, `"task"`) {
						t.Error(r.Text(), call)
					}
					if err := task.Cancel(t.Context()); err != nil {
						t.Error(err)
					}
					return
				}
				if r.Text() != "later" || task.ID() != "t1" || task.Created().TTL >= 0 || !strings.Contains(call, `"task":{"ttl":60000}`) {
					t.Error(r.Text(), call, task.Created())
				}
				// W6.11: what belongs to a task says so.
				if said := s.last().answers()[0]; !strings.Contains(said, `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}`) {
					t.Error(said)
				}
				if tc.support == "required" { // a plain call becomes one (W24.15)
					if r, err := c.CallTool(t.Context(), "x", nil); err != nil || r.Text() != "later" {
						t.Error(r, err)
					}
				}
			})
		})
	}
}

// W20.6, W20.3: the token of the call that made the task is good until the task
// is finished, and no longer.
func TestProgressOfATask(t *testing.T) {
	s := legacy(nil)
	s.caps = `{"tasks":{"requests":{"tools":{"call":{}}}}}`
	var token string
	progress := func(f *fake, n string) {
		f.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":` + n + `}}`)
	}
	s.serve = func(f *fake, m *jsonrpc.Message) {
		switch m.Method {
		case mcp.MethodToolsList:
			f.result(m, `{"tools":[{"name":"x","execution":{"taskSupport":"required"}}]}`)
		case mcp.MethodToolsCall:
			token = string(member(m.Params, "_meta", "progressToken"))
			progress(f, "1")
			f.result(m, `{"task":{"taskId":"t1","status":"working"}}`)
		case mcp.MethodTasksResult:
			progress(f, "2")
			progress(f, "2")
			sleepFor(10)
			progress(f, "3")
			sleepFor(10)
			f.result(m, `{"content":[]}`)
		}
	}
	var drops []peer.Drop
	o := Options{Observer: Observer{Dropped: func(d peer.Drop) { drops = append(drops, d) }}}
	bubble(t, s, o, func(t *testing.T, c *Client) {
		var got []float64
		task, err := c.StartTool(t.Context(), "x", nil, TaskOptions{}, OnProgress(func(p Progress) { got = append(got, p.Progress) }))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := task.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		progress(s.last(), "4")
		synctest.Wait()
		if fmt.Sprint(got) != "[1 2 3]" || len(drops) != 2 {
			t.Error(got, drops)
		}
	})
}

func TestTaskLists(t *testing.T) {
	s := legacy(func(f *fake, m *jsonrpc.Message) {
		f.result(m, `{"tasks":[{"taskId":"a","status":"working"},{"taskId":"b","status":"failed"}]}`)
	})
	bubble(t, s, Options{}, func(t *testing.T, c *Client) {
		list, err := collect(c.TaskList(t.Context()))
		if err != nil || len(list) != 2 || list[1].ID != "b" || !list[1].Status.Final() {
			t.Error(list, err)
		}
		if err := c.Task("a").Update(t.Context(), nil); !errors.Is(err, ErrNoTasks) {
			t.Error(err)
		}
	})
	bubble(t, modern(nil), Options{}, func(t *testing.T, c *Client) {
		if _, err := collect(c.TaskList(t.Context())); !errors.Is(err, ErrNoTasks) { // W36.15
			t.Error(err)
		}
	})
}

// A tool that only runs as a task is waited for by a plain call (W36.4, W36.2).
func TestAPlainCallThatMustBeATask(t *testing.T) {
	for name, tc := range map[string]struct {
		always bool
		refuse bool
		calls  int
	}{
		"the server insists":       {false, true, 2},
		"the client allows always": {true, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := modern(nil)
			s.serve = func(f *fake, m *jsonrpc.Message) {
				declared := member(m.Params, "_meta", mcp.MetaClientCapabilities, "extensions", mcp.ExtensionTasks) != nil
				switch {
				case m.Method == mcp.MethodToolsCall && !declared:
					f.fail(m, mcp.CodeMissingCapability, "a task", `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`)
				case m.Method == mcp.MethodToolsCall:
					f.result(m, created())
				default:
					f.result(m, stands("completed", `,"result":{"content":[{"type":"text","text":"done"}]}`))
				}
			}
			bubble(t, s, Options{Tasks: tc.always}, func(t *testing.T, c *Client) {
				r, err := c.CallTool(t.Context(), "x", nil)
				if err != nil || r.Text() != "done" {
					t.Error(r, err)
				}
				if n := len(s.last().sent(mcp.MethodToolsCall)); n != tc.calls {
					t.Errorf("%d calls", n)
				}
			})
		})
	}
	// Nobody declared it, so it is no answer (W36.2).
	bubble(t, modern(func(f *fake, m *jsonrpc.Message) { f.result(m, created()) }), Options{}, func(t *testing.T, c *Client) {
		if _, err := c.CallTool(t.Context(), "x", nil); !errors.Is(err, ErrResultType) {
			t.Error(err)
		}
	})
}

func TestUpdateByHand(t *testing.T) {
	s := modern(func(f *fake, m *jsonrpc.Message) { f.result(m, `{"resultType":"complete"}`) })
	bubble(t, s, Options{}, func(t *testing.T, c *Client) {
		if err := c.Task("t").Update(t.Context(), map[string]json.RawMessage{"k": json.RawMessage(`{"action":"decline"}`)}); err != nil {
			t.Error(err)
		}
		if got := params(s.last().sent(mcp.MethodTasksUpdate)[0]); got != `{"inputResponses":{"k":{"action":"decline"}},"taskId":"t"}` {
			t.Error(got)
		}
	})
}

// W36.17: over HTTP every request about a task names it in a field.
func TestATaskIsNamedInAField(t *testing.T) {
	var seen []string
	s := start(t, func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
		if m.Method == mcp.MethodDiscover {
			reply(w, 200, m, discovered)
			return
		}
		seen = append(seen, r.Header.Get("Mcp-Method")+" "+r.Header.Get("Mcp-Name"))
		reply(w, 200, m, `"result":`+stands("working"))
	})
	c, err := s.connect(t, mcp.Revision20260728)
	if err != nil {
		t.Fatal(err)
	}
	task := c.Task("t 7ü")
	if _, err := task.State(t.Context()); err != nil {
		t.Error(err)
	}
	if err := task.Update(t.Context(), map[string]json.RawMessage{"a": []byte(`{}`)}); err != nil {
		t.Error(err)
	}
	if err := task.Cancel(t.Context()); err != nil {
		t.Error(err)
	}
	const name = "=?base64?dCA3w7w=?="
	if want := []string{"tasks/get " + name, "tasks/update " + name, "tasks/cancel " + name}; !slices.Equal(seen, want) {
		t.Errorf("got %q", seen)
	}
}

// A server says how often to ask, within reason.
func TestHowOftenATaskIsAskedFor(t *testing.T) {
	for wish, want := range map[time.Duration]time.Duration{1: minPoll, 3 * time.Second: 3 * time.Second, 24 * time.Hour: maxPoll} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			if err := pollPause(t.Context(), wish, 1, nil); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took < want || took > want+want/10+1 {
				t.Errorf("%s for %s", took, wish)
			}
		})
	}
	if maxPoll > time.Minute {
		t.Error("a task may be unasked for longer than a minute")
	}
}

package client

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// W31.2, W31.3: a server with a session is told that the roots have changed,
// one without asks each time; what is no file:// URI is never given as a root.
func TestRootsAndTheirChanges(t *testing.T) {
	uri := "file:///a"
	handlers := Handlers{Roots: func(context.Context) ([]Root, error) { return []Root{{URI: uri, Name: "a"}}, nil }}
	s := legacy(nil)
	bubble(t, s, Options{Handlers: handlers}, func(t *testing.T, c *Client) {
		if err := c.RootsChanged(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(s.last().sent(mcp.NotifyRootsChanged)); n != 1 {
			t.Errorf("told %d times", n)
		}
		s.last().say(`{"jsonrpc":"2.0","id":"r1","method":"roots/list"}`)
		sleepFor(1)
		synctest.Wait()
		uri = "https://example.com/a"
		s.last().say(`{"jsonrpc":"2.0","id":"r2","method":"roots/list"}`)
		sleepFor(1)
		answers := s.last().answers()
		if len(answers) != 2 || !strings.Contains(answers[0], `"roots":[{"uri":"file:///a","name":"a"}]`) || !strings.Contains(answers[1], `"error"`) {
			t.Errorf("answered %q", answers)
		}
	})
	s = modern(nil)
	bubble(t, s, Options{Handlers: handlers}, func(t *testing.T, c *Client) {
		if err := c.RootsChanged(t.Context()); err != nil || len(s.last().sent(mcp.NotifyRootsChanged)) != 0 {
			t.Errorf("a server without a session was told: %v", err)
		}
	})
}

// W3.3: a result that does not say its kind is complete; any other kind than
// those that were asked for is no result.
func TestKindsOfResults(t *testing.T) {
	for result, want := range map[string]error{
		`{"tools":[]}`:                             nil,
		`{"resultType":"complete","tools":[]}`:     nil,
		`{"resultType":"mystery","tools":[]}`:      ErrResultType,
		`{"resultType":"task","taskId":"unasked"}`: ErrResultType,
	} {
		s := modern(func(f *fake, m *jsonrpc.Message) { f.result(m, result) })
		bubble(t, s, Options{}, func(t *testing.T, c *Client) {
			if _, err := c.Call(t.Context(), mcp.MethodToolsList, nil); (want == nil) != (err == nil) || want != nil && !strings.Contains(err.Error(), want.Error()) {
				t.Errorf("%s: %v, want %v", result, err, want)
			}
		})
	}
}

// W34.2: nothing is answered from a cache, whatever its hints allow, so nothing
// of one caller or of one cursor is shown to another.
func TestNothingIsServedFromACache(t *testing.T) {
	s := modern(func(f *fake, m *jsonrpc.Message) {
		f.result(m, `{"resultType":"complete","ttlMs":3600000,"cacheScope":"public","tools":[],"contents":[{"uri":"u:a","text":"x"}]}`)
	})
	bubble(t, s, Options{}, func(t *testing.T, c *Client) {
		for range 3 {
			if _, err := c.ListTools(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := c.ReadResource(t.Context(), "u:a"); err != nil {
				t.Fatal(err)
			}
		}
		for _, method := range []string{mcp.MethodToolsList, mcp.MethodResourcesRead} {
			if n := len(s.last().sent(method)); n != 3 {
				t.Errorf("%s was sent %d times for 3 calls", method, n)
			}
		}
	})
}

// W37.3, W5.11, W5.12: extensions that we do not know are nothing to us, and
// ours are declared only when they were asked for.
func TestUnknownExtensionsOfAServer(t *testing.T) {
	serve := func(f *fake, m *jsonrpc.Message) { f.result(m, `{"resultType":"complete","x":1}`) }
	for _, o := range []Options{{}, {Extensions: map[string]json.RawMessage{"com.example/x": json.RawMessage(`{"a":1}`)}}} {
		s := modern(serve)
		s.caps = `{"tools":{},"extensions":{"com.example/unknown":{"deep":[1,{}]},"io.modelcontextprotocol/tasks":{}}}`
		bubble(t, s, o, func(t *testing.T, c *Client) {
			if _, err := c.Call(t.Context(), "vendor/x", nil); err != nil {
				t.Fatal(err)
			}
			sent := s.last().sent("vendor/x")
			if declared := strings.Contains(sent[0], `"com.example/x":{"a":1}`); declared != (o.Extensions != nil) {
				t.Errorf("declared %v: %s", declared, sent)
			}
			if strings.Contains(sent[0], "unknown") || strings.Contains(sent[0], "tasks") {
				t.Errorf("declared what nobody asked for: %s", sent)
			}
		})
	}
}

// W15.15: over HTTP a tool whose annotations break the rules is not in the
// list, and the others are; on other wires its annotations mean nothing.
func TestToolsWithBrokenAnnotations(t *testing.T) {
	const tools = `{"resultType":"complete","tools":[` +
		`{"name":"good","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}},` +
		`{"name":"number","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}},` +
		`{"name":"twice","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}},` +
		`{"name":"none","inputSchema":{"type":"object"}}]}`
	for binding, want := range map[mcp.Binding][]string{
		mcp.Streamable: {"good", "none"},
		mcp.Stdio:      {"good", "number", "twice", "none"},
	} {
		s := modern(func(f *fake, m *jsonrpc.Message) { f.result(m, tools) })
		s.binding = binding
		bubble(t, s, Options{}, func(t *testing.T, c *Client) {
			list, err := c.ListTools(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, tool := range list {
				got = append(got, tool.Name)
			}
			if !slices.Equal(got, want) {
				t.Errorf("over %s: %v, want %v", binding, got, want)
			}
		})
	}
}

// W34.5: polls of a task are spread at random and never come before the server
// wants them; where it says nothing they come more seldom each time.
func TestPollsAreSpread(t *testing.T) {
	for name, tc := range map[string]struct {
		state string
		check func(gaps []time.Duration) bool
	}{
		"a pause that the server names": {stands("working"), func(gaps []time.Duration) bool {
			return slices.Min(gaps) >= time.Second && slices.Max(gaps) <= 1100*time.Millisecond && slices.Min(gaps) != slices.Max(gaps)
		}},
		"no pause named": {strings.Replace(stands("working"), `"pollIntervalMs":1000`, `"x":1`, 1), func(gaps []time.Duration) bool {
			return gaps[0] < 500*time.Millisecond && gaps[len(gaps)-1] >= 5*time.Second && slices.Min(gaps) == gaps[0]
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var polls []time.Time
			s := modern(nil)
			s.serve = func(f *fake, m *jsonrpc.Message) {
				if m.Method != mcp.MethodTasksGet {
					return
				}
				if polls = append(polls, time.Now()); len(polls) > 12 {
					f.result(m, stands("completed", `,"result":{"content":[]}`))
					return
				}
				f.result(m, tc.state)
			}
			bubble(t, s, Options{}, func(t *testing.T, c *Client) {
				if _, err := c.Task("t1").Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
			var gaps []time.Duration
			for i := range polls[1:] {
				gaps = append(gaps, polls[i+1].Sub(polls[i]))
			}
			if !tc.check(gaps) {
				t.Errorf("pauses %v", gaps)
			}
		})
	}
}

// W35.2: a server that declares no tasks is never asked for one.
func TestNoTaskIsAskedOfAServerWithoutTasks(t *testing.T) {
	s := legacy(func(f *fake, m *jsonrpc.Message) {
		switch m.Method {
		case mcp.MethodToolsList:
			f.result(m, `{"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`)
		default:
			f.result(m, `{"content":[]}`)
		}
	})
	s.caps = `{"tools":{}}`
	bubble(t, s, Options{}, func(t *testing.T, c *Client) {
		if task, err := c.StartTool(t.Context(), "a", nil, TaskOptions{}); err != nil || task.ID() != "" {
			t.Errorf("a task was made, or nothing was done: %v", err)
		}
		if _, err := c.CallTool(t.Context(), "a", nil); err != nil {
			t.Error(err)
		}
		for _, raw := range s.last().sent(mcp.MethodToolsCall) {
			if strings.Contains(raw, `"task"`) {
				t.Errorf("sent %s", raw)
			}
		}
	})
}

// W4.2: initialize offers the newest revision that has one, what the client can
// do, and who it is.
func TestWhatInitializeSays(t *testing.T) {
	for revision, offered := range map[string]string{"": mcp.Revision20251125, mcp.Revision20250618: mcp.Revision20250618} {
		s := legacy(nil)
		if revision != "" {
			s.revision = revision
		}
		bubble(t, s, Options{Name: "me", Version: "7", Revision: revision, Handlers: Handlers{Roots: func(context.Context) ([]Root, error) { return nil, nil }}}, func(t *testing.T, c *Client) {
			var all []string
			for _, l := range s.links {
				all = append(all, l.sent(mcp.MethodInitialize)...)
			}
			const want = `"params":{"protocolVersion":"%","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"me","version":"7"}}`
			if len(all) != 1 || !strings.Contains(all[0], strings.Replace(want, "%", offered, 1)) {
				t.Errorf("sent %q", all)
			}
		})
	}
}

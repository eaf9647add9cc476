package server_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/handle"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// W23.1, W24.1, W26.1, W27.1, W28.1: what is offered is declared, each thing by
// itself, in every revision that has a word for it.
func TestWhatIsOfferedIsDeclared(t *testing.T) {
	nothing := server.Offers{NoLogging: true, NoSubscribe: true}
	for capability, offer := range map[string]func(s *server.Server) error{
		"tools": func(s *server.Server) error {
			return s.AddTool(server.Tool{Name: "a"}, func(*server.Context, json.RawMessage) (server.ToolOutcome, error) { return server.TextResult("a"), nil })
		},
		"resources": func(s *server.Server) error {
			return s.AddResource(server.Resource{URI: "x:a", Name: "a"}, func(*server.Context, server.ReadRequest) (server.ResourceOutcome, error) { return nil, nil })
		},
		"prompts": func(s *server.Server) error {
			return s.AddPrompt(server.Prompt{Name: "a"}, func(*server.Context, map[string]string) (server.PromptOutcome, error) {
				return &server.PromptResult{}, nil
			})
		},
		"logging": nil,
	} {
		for _, revision := range mcp.Revisions() {
			o := server.Options{Offers: nothing}
			if offer == nil {
				o.Offers.NoLogging = false
			}
			s := server.New(server.Info{Name: "s"}, o)
			if offer != nil {
				must(t, offer(s))
			}
			p := newRig(t, s).connect(revision, `{}`)
			said := p.opened
			if p.modern {
				said = p.must("server/discover", "")
			}
			for _, c := range []string{"tools", "resources", "prompts", "logging"} {
				if declared := field(said, "capabilities", c) != "none"; declared != (c == capability) {
					t.Errorf("%s offers %s: %s declared %v in %s", revision, capability, c, declared, said)
				}
			}
		}
	}
}

// W37.3, W5.12: extensions and capabilities that we do not know are nothing to
// us.
func TestUnknownExtensionsOfAClient(t *testing.T) {
	const caps = `{"extensions":{"com.example/x":{"deep":[{}]},"io.modelcontextprotocol/newer":{}},"vendor":7,"roots":{"listChanged":true,"more":1}}`
	each(t, func() *server.Server { return weather(t) }, caps, func(t *testing.T, p *peer) {
		if got := field(p.must("tools/call", `{"name":"forecast","arguments":{"city":"Oslo","days":1}}`), "content", 0, "type"); got != "text" {
			t.Errorf("got %s", got)
		}
	})
}

// W32.5: any text is a key of a question, and each is asked under its own.
func TestAnyTextIsAKey(t *testing.T) {
	keys := []string{"", "__proto__", "constructor", "a b", "é", `"`, "\x00"}
	s := server.New(server.Info{Name: "keys"}, server.Options{})
	must(t, s.AddTool(server.Tool{Name: "ask"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		for _, key := range keys {
			if _, err := c.Elicit(key, nameForm); err != nil {
				return nil, err
			}
		}
		return server.TextResult("all"), nil
	}))
	for _, revision := range []string{mcp.Revision20251125, mcp.Revision20260728} {
		p := newRig(t, s).connect(revision, allCaps)
		if got, rounds := drive(t, p, "tools/call", `{"name":"ask"}`); got != "all" || p.modern && rounds != len(keys) {
			t.Errorf("%s: %s after %d rounds", revision, got, rounds)
		}
	}
}

// W32.10: a client that never comes back with the answers costs nothing: no
// session, no stream, and nothing that would keep the server from ending.
func TestQuestionsThatNobodyAnswersKeepNothing(t *testing.T) {
	p := newRig(t, asker(t)).connect(mcp.Revision20260728, allCaps)
	for range 300 {
		if got := field(p.must("tools/call", `{"name":"greet"}`), "resultType"); got != "input_required" {
			t.Fatal(got)
		}
	}
	if p.front.Sessions() != 0 || p.front.Streams() != 0 {
		t.Errorf("%d sessions, %d streams", p.front.Sessions(), p.front.Streams())
	}
	if got, _ := drive(t, p, "tools/call", `{"name":"greet"}`); got != "hello Ada" {
		t.Error(got)
	}
}

// W32.9: an answer that may count once counts once: the state carries a handle,
// and whoever revokes it first goes on. A replay of the same retry does not.
func TestAnAnswerThatCountsOnce(t *testing.T) {
	once, err := handle.New(handle.Options[string]{Kind: "payment"})
	must(t, err)
	defer once.Close()
	owner := handle.Owner{Bucket: "test"}
	paid := 0
	s := server.New(server.Info{Name: "shop"}, server.Options{})
	must(t, s.AddTool(server.Tool{Name: "pay"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		var h string
		asked, err := c.State(&h)
		if err != nil {
			return nil, err
		}
		if !asked {
			if h, err = once.Put(context.Background(), owner, "10"); err != nil {
				return nil, err
			}
			if err := c.SetState(h); err != nil {
				return nil, err
			}
		}
		if _, err := c.Elicit("sure", nameForm); err != nil {
			return nil, err
		}
		if err := once.Revoke(c, owner, h); err != nil {
			return nil, err
		}
		paid++
		return server.TextResult("paid"), nil
	}))
	p := newRig(t, s).connect(mcp.Revision20260728, allCaps)
	again := retry(t, `{"name":"pay"}`, p.must("tools/call", `{"name":"pay"}`))
	if got := field(p.must("tools/call", again), "content", 0, "text"); got != "paid" {
		t.Fatal(got)
	}
	if result, err := p.call("tools/call", again); err == nil && field(result, "isError") != "true" || paid != 1 {
		t.Errorf("a replay: %s, %v; paid %d times", result, err, paid)
	}
}

// W35.23: tasks/get, tasks/result and tasks/cancel go by their taskId, whatever
// the metadata relates them to.
func TestTheTaskIDOfAMethodCounts(t *testing.T) {
	tasksBubble(t, task.Options{}, func(t *testing.T, r *tasksRig) {
		offers(r)
		a := r.legacy("ann")
		mine, other := a.start("optional"), a.start("optional")
		const params = `{"taskId":%q,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}}`
		a.status(mine, "completed")
		if got := field(a.must("tasks/get", params, mine, other), "taskId"); got != mine {
			t.Errorf("tasks/get: %s", got)
		}
		result := a.must("tasks/result", params, mine, other)
		if got := field(result, "_meta", mcp.MetaRelatedTask, "taskId"); got != mine {
			t.Errorf("tasks/result: %s", result)
		}
	})
}

package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

// W29.3, W29.5, W29.6, W30.4
func TestQuestionsThatAreNotLegalAreNotAsked(t *testing.T) {
	user := func(c ...server.Content) server.SampleMessage {
		return server.SampleMessage{Role: server.RoleUser, Content: c}
	}
	model := func(c ...server.Content) server.SampleMessage {
		return server.SampleMessage{Role: server.RoleAssistant, Content: c}
	}
	hi := server.Say(server.RoleUser, "hi")
	use, result := server.ToolUse("1", "t", json.RawMessage(`{}`)), server.ToolUseResult("1", server.Text("x"))
	for name, c := range map[string]struct {
		ask   func(c *server.Context) server.Input
		legal bool
	}{
		"tokens are required": {func(c *server.Context) server.Input {
			return c.Sampling("k", server.SampleParams{Messages: []server.SampleMessage{hi}})
		}, false},
		"messages are required":          {func(c *server.Context) server.Input { return c.Sampling("k", server.SampleParams{MaxTokens: 1}) }, false},
		"a tool use and its result":      {sampling(hi, model(use), user(result)), true},
		"a tool use without a result":    {sampling(hi, model(use)), false},
		"a tool use and other words":     {sampling(hi, model(use), hi), false},
		"a result and other words":       {sampling(hi, model(use), user(result, server.Text("x"))), false},
		"a result that nobody waits for": {sampling(user(result)), false},
		"a result by the model":          {sampling(hi, model(use), model(result)), false},
		"a nested form":                  {form(`{"type":"object","properties":{"a":{"type":"object"}}}`), false},
		"a list that is no choice":       {form(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`), false},
		"a choice of several":            {form(`{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}}}}`), true},
		"no object":                      {form(`{"type":"string"}`), false},
		"a URL without a host":           {func(c *server.Context) server.Input { in, _ := c.URL("k", "m", "/x"); return in }, false},
		"a URL":                          {func(c *server.Context) server.Input { in, _ := c.URL("k", "m", "https://x/y"); return in }, true},
	} {
		s := server.New(server.Info{Name: "q"}, server.Options{})
		must(t, s.AddTool(server.Tool{Name: "q"}, func(ctx *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
			in := c.ask(ctx)
			err := ctx.Need(in)
			var need *server.NeedInput
			if legal := errors.As(err, &need); legal != c.legal || legal != ctx.MayAsk(in) {
				t.Errorf("%s: %v", name, err)
			}
			return nil, nil
		}))
		newRig(t, s).connect(mcp.Revision20260728, allCaps).must("tools/call", `{"name":"q"}`)
	}
}

func sampling(messages ...server.SampleMessage) func(*server.Context) server.Input {
	return func(c *server.Context) server.Input {
		return c.Sampling("k", server.SampleParams{Messages: messages, MaxTokens: 1})
	}
}

func form(schema string) func(*server.Context) server.Input {
	return func(c *server.Context) server.Input {
		return c.Form("k", server.ElicitParams{Message: "m", Schema: json.RawMessage(schema)})
	}
}

type choice struct {
	Color  string   `json:"color" schema:"enum=r|g,titles=Red|Green,default=g"`
	Sizes  []string `json:"sizes,omitempty" schema:"enum=s|m"`
	Number int      `json:"number,omitempty" schema:"min=1,default=2"`
}

// W30.4: choices are spelt as the revision has them.
func TestFormsAreSpeltAsTheRevisionHasThem(t *testing.T) {
	for revision, want := range map[string]string{
		mcp.Revision20250618: `{"default":"g","enum":["r","g"],"enumNames":["Red","Green"],"type":"string"}`,
		mcp.Revision20251125: `{"default":"g","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}],"type":"string"}`,
	} {
		s := server.New(server.Info{Name: "q"}, server.Options{})
		must(t, server.AddTool(s, server.Tool{Name: "q"}, func(c *server.Context, _ struct{}) (string, error) {
			type one struct {
				Color string `json:"color" schema:"enum=r|g,titles=Red|Green,default=g"`
			}
			got, ok, err := server.ElicitAs[one](c, "k", "which?")
			if err != nil || !ok {
				return "", fmt.Errorf("%v %w", ok, err)
			}
			if _, _, err := server.ElicitAs[choice](c, "several", "which?"); (err == nil) != c.Profile().RichEnums {
				t.Errorf("several on %s: %v", c.Revision(), err)
			}
			return got.Color, nil
		}))
		p := newRig(t, s).connect(revision, `{"elicitation":{}}`)
		asked := 0
		p.answer = func(_ string, params json.RawMessage) string {
			if asked++; asked == 1 {
				if got := field(params, "requestedSchema", "properties", "color"); got != want {
					t.Errorf("%s: %s", revision, got)
				}
			}
			return `"result":{"action":"accept","content":{"color":"r"}}`
		}
		if got := field(p.must("tools/call", `{"name":"q"}`), "content", 0, "text"); got != "r" {
			t.Errorf("%s: %s", revision, got)
		}
	}
}

// A handler may have the user try again, in both eras, without losing what was
// answered before.
func TestAHandlerMayAskAgain(t *testing.T) {
	s := server.New(server.Info{Name: "s"}, server.Options{})
	must(t, s.AddTool(server.Tool{Name: "t"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		if _, err := c.Roots("roots"); err != nil {
			return nil, err
		}
		for {
			r, err := c.Elicit("who", nameForm)
			var bad *server.AnswerError
			if errors.As(err, &bad) && bad.Key == "who" {
				continue
			}
			if err != nil {
				return nil, err
			}
			if r.Action == server.Decline {
				c.Forget("who")
				continue
			}
			return server.TextResult(string(r.Content)), nil
		}
	}))
	replies := []string{`{"action":"accept","content":{"name":""}}`, `{"action":"decline"}`, `{"action":"accept","content":{"name":"Ada"}}`}
	old := newRig(t, s).connect(mcp.Revision20251125, allCaps)
	n, asked := 0, 0
	old.answer = func(method string, _ json.RawMessage) string {
		if method == mcp.MethodRootsList {
			asked++
			return `"result":{"roots":[]}`
		}
		n++
		return `"result":` + replies[n-1]
	}
	if got := field(old.must("tools/call", `{"name":"t"}`), "content", 0, "text"); got != `{"name":"Ada"}` || asked != 1 {
		t.Errorf("2025-11-25: %s, roots asked %d times", got, asked)
	}
	p := newRig(t, s).connect(mcp.Revision20260728, allCaps)
	result := p.must("tools/call", `{"name":"t","inputResponses":{"roots":{"roots":[]}}}`)
	for _, reply := range replies {
		if got := field(result, "inputRequests"); !strings.HasPrefix(got, `{"who":`) {
			t.Fatalf("asked for %s", result)
		}
		result = p.must("tools/call", fmt.Sprintf(`{"name":"t","inputResponses":{"who":%s},"requestState":%q}`, reply, field(result, "requestState")))
	}
	if got := field(result, "content", 0, "text"); got != `{"name":"Ada"}` {
		t.Errorf("2026-07-28: %s", result)
	}
}

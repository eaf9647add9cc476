package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
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

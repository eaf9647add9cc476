package server_test

import (
	"encoding/json"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/server"
)

// W29.8, B14.6: several pieces of a message are several messages where a
// revision has one piece in each.
func TestAQuestionToAModelFitsTheRevision(t *testing.T) {
	s := server.New(server.Info{Name: "s", Version: "1"}, server.Options{})
	err := s.AddTool(server.Tool{Name: "ask"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		_, err := c.Sample("q", server.SampleParams{MaxTokens: 1, Messages: []server.SampleMessage{
			{Role: server.RoleUser, Content: server.Several{server.Text("a"), server.Text("b")}}, server.Say(server.RoleAssistant, "c"),
		}})
		if err != nil {
			return nil, err
		}
		return server.TextResult("done"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, s)
	for revision, want := range map[string]string{
		"2024-11-05": `[{"content":{"text":"a","type":"text"},"role":"user"},{"content":{"text":"b","type":"text"},"role":"user"},{"content":{"text":"c","type":"text"},"role":"assistant"}]`,
		"2025-11-25": `[{"content":[{"text":"a","type":"text"},{"text":"b","type":"text"}],"role":"user"},{"content":{"text":"c","type":"text"},"role":"assistant"}]`,
	} {
		p := r.connect(revision, `{"sampling":{}}`)
		got := ""
		p.answer = func(_ string, params json.RawMessage) string {
			var asked struct{ Messages any }
			if err := json.Unmarshal(params, &asked); err != nil {
				t.Error(err)
			}
			raw, _ := json.Marshal(asked.Messages)
			got = string(raw)
			return `"result":{"role":"assistant","model":"m","content":[{"type":"text","text":"hm"}]}`
		}
		result := p.must("tools/call", `{"name":"ask"}`)
		if got != want || field(result, "content", 0, "text") != "done" {
			t.Errorf("%s: asked %s, came to %s", revision, got, result)
		}
	}
}

package client

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// W29.8, B14.6: a server of before 2025-11-25 gets one block or an error, never
// a list that it cannot read.
func TestAnAnswerFitsTheServersRevision(t *testing.T) {
	const one, two = `[{"type":"text","text":"a"}]`, `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`
	for name, tc := range map[string]struct{ revision, content, want string }{
		"one block in a list":         {mcp.Revision20250618, one, `{"type":"text","text":"a"}`},
		"several blocks":              {mcp.Revision20250618, two, ""},
		"several blocks, readable":    {mcp.Revision20251125, two, two},
		"a list of one, readable too": {mcp.Revision20251125, one, one},
	} {
		t.Run(name, func(t *testing.T) {
			handlers := Handlers{Sample: func(context.Context, SampleRequest) (SampleResult, error) {
				return SampleResult{Model: "m", Content: json.RawMessage(tc.content)}, nil
			}}
			profile, _ := mcp.Lookup(tc.revision)
			c := newClient(Options{Handlers: handlers})
			got, err := c.sample(t.Context(), profile, []byte(`{"messages":[],"maxTokens":1}`))
			if (err != nil) != (tc.want == "") || err == nil && string(member(got, "content")) != tc.want {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}

func TestAResourceInAListIsRead(t *testing.T) {
	c := readContent([]byte(`{"type":"resource","resource":[{"uri":"a","text":"x"}]}`))
	if c.Resource == nil || c.Resource.URI != "a" || c.Resource.Text != "x" {
		t.Errorf("%+v", c)
	}
	if c := readContent([]byte(`{"type":"resource","resource":[]}`)); c.Resource != nil {
		t.Errorf("%+v", c)
	}
}

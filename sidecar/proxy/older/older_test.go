package older

import (
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

func profile(t *testing.T, revision string) mcp.Profile {
	t.Helper()
	p, ok := mcp.Lookup(revision)
	if !ok {
		t.Fatal(revision)
	}
	return p
}

const (
	revA = mcp.Revision20241105
	revB = mcp.Revision20250326
	revC = mcp.Revision20250618
	revD = mcp.Revision20251125
)

func TestResults(t *testing.T) { // B0.3, B14.1, B14.2, B14.3, R8
	const audio = `{"type":"audio","data":"QUJD","mimeType":"audio/wav"}`
	const link = `{"type":"resource_link","name":"n","uri":"a:b","description":"d","x":1.0}`
	for name, tc := range map[string]struct {
		revision, method, in, want string
		wrapped                    bool
	}{
		"audio stays from 2025-03-26 on":      {revB, "tools/call", `{"content":[` + audio + `]}`, `{"content":[` + audio + `]}`, false},
		"audio is words before":               {revA, "tools/call", `{"content":[` + audio + `]}`, `{"content":[{"type":"text","text":"[audio, audio/wav, 3 bytes]"}]}`, false},
		"a link stays from 2025-06-18 on":     {revC, "tools/call", `{"content":[` + link + `]}`, `{"content":[` + link + `]}`, false},
		"a link is words before":              {revB, "tools/call", `{"content":[` + link + `]}`, `{"content":[{"type":"text","text":"n: a:b (d)"}]}`, false},
		"what nobody knows is words":          {revD, "tools/call", `{"content":[{"type":"hologram"},{"type":"text","text":"t","y":1e2}]}`, `{"content":[{"type":"text","text":"[content of type hologram]"},{"type":"text","text":"t","y":1e2}]}`, false},
		"in prompts too":                      {revA, "prompts/get", `{"messages":[{"role":"user","content":` + audio + `}]}`, `{"messages":[{"role":"user","content":{"type":"text","text":"[audio, audio/wav, 3 bytes]"}}]}`, false},
		"structure becomes text":              {revB, "tools/call", `{"content":[],"structuredContent":{"a":1.0}}`, `{"content":[{"type":"text","text":"{\"a\":1.0}"}]}`, false},
		"unless there is a text":              {revB, "tools/call", `{"content":[{"type":"text","text":"t"}],"structuredContent":{"a":1}}`, `{"content":[{"type":"text","text":"t"}]}`, false},
		"an object stays":                     {revD, "tools/call", `{"content":[],"structuredContent":{"a":1.0}}`, `{"content":[],"structuredContent":{"a":1.0}}`, false},
		"a list is wrapped":                   {revD, "tools/call", `{"content":[],"structuredContent":[1.0]}`, `{"content":[{"type":"text","text":"[1.0]"}],"structuredContent":{"result":[1.0]}}`, false},
		"an object of a wrapped tool is too":  {revC, "tools/call", `{"content":[{"type":"text","text":"t"}],"structuredContent":{}}`, `{"content":[{"type":"text","text":"t"}],"structuredContent":{"result":{}}}`, true},
		"a schema of an object stays":         {revD, "tools/list", `{"tools":[{"name":"a","outputSchema":{"type":"object"}}]}`, `{"tools":[{"name":"a","outputSchema":{"type":"object"}}]}`, false},
		"a schema of a list is wrapped":       {revC, "tools/list", `{"tools":[{"name":"a","outputSchema":{"$schema":"s","type":"array","items":{"$ref":"#/$defs/x"},"$defs":{"x":{"properties":{"$ref":{"$ref":"#"}},"enum":[{"$ref":"#/a"}]},"y":{"$ref":"#anchor"}}}}]}`, `{"tools":[{"name":"a","outputSchema":{"type":"object","properties":{"result":{"type":"array","items":{"$ref":"#/properties/result/$defs/x"},"$defs":{"x":{"properties":{"$ref":{"$ref":"#/properties/result"}},"enum":[{"$ref":"#/a"}]},"y":{"$ref":"#anchor"}}}},"required":["result"],"$schema":"s"}}]}`, false},
		"a schema with an address keeps them": {revC, "tools/list", `{"tools":[{"name":"a","outputSchema":{"$id":"i","type":"array","items":{"$ref":"#/x"}}}]}`, `{"tools":[{"name":"a","outputSchema":{"type":"object","properties":{"result":{"$id":"i","type":"array","items":{"$ref":"#/x"}}},"required":["result"]}}]}`, false},
		"older clients have no such schema":   {revB, "tools/list", `{"tools":[{"name":"a","outputSchema":{"type":"object"}},{"name":"b"}]}`, `{"tools":[{"name":"a"},{"name":"b"}]}`, false},
		"other methods stay":                  {revA, "resources/read", `{"contents":[{"type":"new"}]}`, `{"contents":[{"type":"new"}]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := []byte(tc.in)
			if edits := Result(profile(t, tc.revision), tc.method, got, tc.wrapped); len(edits) > 0 {
				var err error
				if got, err = strictjson.Splice(got, edits...); err != nil {
					t.Fatal(err)
				}
			}
			if string(got) != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestQuestions(t *testing.T) { // B8.2, B8.6, B14.4, B14.5, B14.6
	for name, tc := range map[string]struct {
		revision, caps, method, in, want string
		verdict                          Verdict
	}{
		"a form for 2025-11-25 stays":         {revD, `{"elicitation":{}}`, "elicitation/create", `{"mode":"form","message":"m","requestedSchema":{"properties":{"a":{"type":"array"}}}}`, `{"mode":"form","message":"m","requestedSchema":{"properties":{"a":{"type":"array"}}}}`, Asks},
		"an address gets an id":               {revD, `{"elicitation":{"url":{}}}`, "elicitation/create", `{"mode":"url","url":"u"}`, `{"mode":"url","url":"u","elicitationId":"id"}`, Asks},
		"a mode that was not declared":        {revD, `{"elicitation":{"form":{}}}`, "elicitation/create", `{"mode":"url","url":"u"}`, ``, Undeclared},
		"an address for 2025-06-18":           {revC, `{"elicitation":{}}`, "elicitation/create", `{"mode":"url","url":"u"}`, ``, Undeclared},
		"several choices for 2025-06-18":      {revC, `{"elicitation":{}}`, "elicitation/create", `{"requestedSchema":{"properties":{"a":{"type":"array"}}}}`, ``, Cancels},
		"a form for 2025-06-18":               {revC, `{"elicitation":{}}`, "elicitation/create", `{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","default":"x","title":"A"},"b":{"type":"string","oneOf":[{"const":"1","title":"one"},{"const":"2"}]},"c":{"type":"integer","default":1.0}}}}`, `{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","title":"A"},"b":{"type":"string","enum":["1","2"],"enumNames":["one","2"]},"c":{"type":"integer","default":1.0}}}}`, Asks},
		"a choice of nothing, for 2025-06-18": {revC, `{"elicitation":{}}`, "elicitation/create", `{"requestedSchema":{"properties":{"a":{"type":"string","oneOf":[{"title":"none"},{"const":"1"},{"title":"none"}]}}}}`, `{"requestedSchema":{"properties":{"a":{"type":"string","enum":["1"],"enumNames":["1"]}}}}`, Asks},
		"a mode that nobody knows":            {revC, `{"elicitation":{}}`, "elicitation/create", `{"mode":"new"}`, ``, Undeclared},
		"sampling with tools":                 {revD, `{"sampling":{"tools":{}}}`, "sampling/createMessage", `{"tools":[],"includeContext":"all"}`, `{"tools":[]}`, Asks},
		"sampling with tools undeclared":      {revD, `{"sampling":{}}`, "sampling/createMessage", `{"tools":[]}`, ``, Undeclared},
		"sampling with tools, older":          {revC, `{"sampling":{}}`, "sampling/createMessage", `{"tools":[]}`, ``, Undeclared},
		"a list of one block, older":          {revC, `{"sampling":{}}`, "sampling/createMessage", `{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`, `{"messages":[{"role":"user","content":{"type":"text","text":"a"}}]}`, Asks},
		"a list of two blocks, older":         {revA, `{"sampling":{}}`, "sampling/createMessage", `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],"maxTokens":1.0}`, `{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"text","text":"b"}}],"maxTokens":1.0}`, Asks},
		"the use of a tool, older":            {revC, `{"sampling":{}}`, "sampling/createMessage", `{"messages":[{"role":"user","content":[{"type":"tool_result"}]}]}`, ``, Undeclared},
		"nothing to change":                   {revB, `{"sampling":{}}`, "sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":"a"}}],"x":1e1}`, `{"messages":[{"role":"user","content":{"type":"text","text":"a"}}],"x":1e1}`, Asks},
		"roots":                               {revA, `{}`, "roots/list", `{}`, `{}`, Asks},
		"something that cannot be a question": {revD, `{}`, "tools/call", `{}`, ``, Undeclared},
	} {
		t.Run(name, func(t *testing.T) {
			got, verdict := Ask(profile(t, tc.revision), []byte(tc.caps), tc.method, []byte(tc.in), []byte(`"id"`))
			if string(got) != tc.want || verdict != tc.verdict {
				t.Errorf("got  %s %d\nwant %s %d", got, verdict, tc.want, tc.verdict)
			}
		})
	}
}

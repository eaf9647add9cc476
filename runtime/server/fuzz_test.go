package server

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// FuzzForm: what is taken for a form is one, in every revision.
func FuzzForm(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object","properties":{"a":{"type":"string","oneOf":[{"const":"x","title":"X"}]}}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"enum":["x"]}},"b":{"type":"boolean"}}}`, `{"type":"object","properties":{}}`, `{"type":"object","properties":{"a":{"type":"string","oneOf":[{}]}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, revision := range mcp.Revisions() {
			p, _ := mcp.Lookup(revision)
			form, err := fitForm(p, raw)
			if err != nil {
				continue
			}
			if strictjson.Scan(raw, strictjson.FromClient) == nil && !json.Valid(form) {
				t.Errorf("%s: %q becomes %q", revision, raw, form)
			}
			again, err := fitForm(p, form)
			if strictjson.Scan(raw, strictjson.FromClient) == nil && (err != nil || !bytes.Equal(again, form)) {
				t.Errorf("%s: %q becomes %q, then %q, %v", revision, raw, form, again, err)
			}
		}
	})
}

// FuzzServe: whatever the parameters are, there is one answer and it is JSON.
func FuzzServe(f *testing.F) {
	s := New(Info{Name: "f"}, Options{})
	_ = s.AddTool(Tool{Name: "t"}, func(c *Context, _ json.RawMessage) (ToolOutcome, error) {
		_, err := c.Elicit("k", ElicitParams{Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)})
		return nil, err
	})
	_ = s.AddPrompt(Prompt{Name: "p"}, func(*Context, map[string]string) (PromptOutcome, error) { return PromptText("x"), nil })
	_ = s.AddTemplate(Template{URITemplate: "x:{a}"}, func(_ *Context, r ReadRequest) (ResourceOutcome, error) { return TextResource("", r.URI), nil })
	_ = s.AddCompletion(PromptRef("p"), "a", func(*Context, CompleteRequest) (Completion, error) { return Completion{}, nil })
	methods := []string{mcp.MethodToolsCall, mcp.MethodToolsList, mcp.MethodPromptsGet, mcp.MethodResourcesRead, mcp.MethodComplete, mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodListen, mcp.MethodDiscover}
	for i, seed := range []string{`{"name":"t","inputResponses":{"k":{"action":"accept","content":{"a":"b"}}},"requestState":"x"}`, `{"cursor":"x"}`, `{"name":"p","arguments":{"a":"b"}}`,
		`{"uri":"x:1"}`, `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""},"context":{"arguments":{"b":"c"}}}`, `{"level":"info"}`, `{"uri":"x:1"}`, `{"notifications":5}`, `{}`} {
		f.Add(uint8(i), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, which uint8, params []byte) {
		if strictjson.Scan(params, strictjson.FromClient) != nil || !strictjson.IsObject(params) {
			return
		}
		method := methods[int(which)%len(methods)]
		for _, revision := range mcp.Revisions() {
			p, _ := mcp.Lookup(revision)
			if m, has := p.Method(method); !has || m.Listening && bytes.Contains(params, []byte("notifications")) {
				continue // a listen that is right does not end
			}
			msg := &jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: jsonrpc.RawID("1"), Method: method, Params: params}
			x := dispatch.NewExchange(t.Context(), dispatch.Request{Msg: msg, Profile: p, ClientCapabilities: []byte(`{"elicitation":{}}`)})
			o := s.Serve(t.Context(), x)
			if (o.Err == nil) != json.Valid(o.Result) {
				t.Errorf("%s %s on %s: %q %v", method, params, revision, o.Result, o.Err)
			}
		}
	})
}

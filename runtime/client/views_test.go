package client

import (
	"encoding/json"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/google/go-cmp/cmp"
)

// Views read what is there, forgive what servers get wrong, and lose nothing:
// Raw is the server's bytes (D2).
func TestViews(t *testing.T) {
	const (
		tool     = `{"name":"a","title":"A","description":"d","inputSchema":{"type":"object","$ref":"https://nobody.example/x"},"annotations":{"readOnlyHint":true,"destructiveHint":false},"execution":{"taskSupport":"optional"},"x":1.0}`
		bare     = `{"name":"b","outputSchema":null,"annotations":null}`
		prompt   = `{"name":"p","arguments":[{"name":"x","required":true},{"name":"y","description":"d"}],"x":[1]}`
		resource = `{"uri":"u:r","name":"r","mimeType":"text/plain","size":12,"x":{}}`
		unsized  = `{"uri":"u:s","name":"s"}`
		template = `{"uriTemplate":"u:{x}","name":"t","title":"T"}`
	)
	s := modern(func(f *fake, m *jsonrpc.Message) {
		f.result(m, map[string]string{
			mcp.MethodToolsList:     `{"tools":[` + tool + `,` + bare + `]}`,
			mcp.MethodPromptsList:   `{"prompts":[` + prompt + `]}`,
			mcp.MethodResourcesList: `{"resources":[` + resource + `,` + unsized + `]}`,
			mcp.MethodTemplatesList: `{"resourceTemplates":[` + template + `]}`,
			mcp.MethodToolsCall: `{"content":[{"type":"text","text":"one"},{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"resource","resource":{"uri":"u:e","text":"in"}},{"type":"resource_link","uri":"u:l","name":"l"},{"type":"text","text":"two"},{"type":"new","x":1}],
				"structuredContent":{"n":12345678901234567890},"_meta":{"k":1}}`,
			mcp.MethodPromptsGet:    `{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"alone"}}]}`,
			mcp.MethodResourcesRead: `{"contents":{"uri":"u:r","blob":"aGk="}}`,
			mcp.MethodComplete:      `{"completion":{"values":["x","y"],"total":7,"hasMore":true}}`,
		}[m.Method])
	})
	bubble(t, s, Options{}, func(t *testing.T, c *Client) {
		ctx := t.Context()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		tools, err := collect(c.Tools(ctx))
		must(err)
		want := []Tool{
			{Name: "a", Title: "A", Description: "d", InputSchema: member([]byte(tool), "inputSchema"), ReadOnly: true, OpenWorld: true, TaskSupport: "optional", Raw: json.RawMessage(tool)},
			{Name: "b", Destructive: true, OpenWorld: true, Raw: json.RawMessage(bare)},
		}
		if diff := cmp.Diff(want, tools); diff != "" {
			t.Error(diff)
		}
		prompts, err := collect(c.Prompts(ctx))
		must(err)
		if p := prompts[0]; p.Name != "p" || len(p.Arguments) != 2 || !p.Arguments[0].Required || p.Arguments[1].Description != "d" || string(p.Raw) != prompt {
			t.Errorf("%+v", p)
		}
		resources, err := collect(c.Resources(ctx))
		must(err)
		if a, b := resources[0], resources[1]; a.Size != 12 || a.MIMEType != "text/plain" || b.Size != -1 || string(a.Raw) != resource {
			t.Errorf("%+v", resources)
		}
		templates, err := collect(c.Templates(ctx))
		must(err)
		if x := templates[0]; x.URITemplate != "u:{x}" || x.Title != "T" || string(x.Raw) != template {
			t.Errorf("%+v", x)
		}
		r, err := c.CallTool(ctx, "a", nil)
		must(err)
		if r.Text() != "one\ntwo" || len(r.Content) != 6 || r.IsError || string(r.Structured) != `{"n":12345678901234567890}` || string(member(r.Raw, "_meta")) != `{"k":1}` {
			t.Errorf("%+v", r)
		}
		image, err := r.Content[1].Bytes()
		if err != nil || string(image) != "hi" || r.Content[2].Resource.Text != "in" || r.Content[3].URI != "u:l" || string(r.Content[5].Raw) != `{"type":"new","x":1}` {
			t.Errorf("%+v", r.Content)
		}
		p, err := c.GetPrompt(ctx, "p", map[string]string{"x": "1"})
		must(err)
		if p.Messages[0].Role != "user" || p.Messages[0].Content[0].Text != "alone" { // one block is as good as an array
			t.Errorf("%+v", p)
		}
		read, err := c.ReadResource(ctx, "u:r")
		must(err)
		if b, err := read.Contents[0].Bytes(); err != nil || string(b) != "hi" {
			t.Errorf("%+v, %v", read, err)
		}
		done, err := c.Complete(ctx, Ref{Prompt: "p"}, "x", "v", map[string]string{"y": "2"})
		must(err)
		if len(done.Values) != 2 || done.Total != 7 || !done.HasMore {
			t.Errorf("%+v", done)
		}
		if got := params(s.last().sent(mcp.MethodComplete)[0]); got != `{"argument":{"name":"x","value":"v"},"context":{"arguments":{"y":"2"}},"ref":{"type":"ref/prompt","name":"p"}}` {
			t.Error(got)
		}
		for _, bad := range []Ref{{}, {Prompt: "p", Template: "t"}} {
			if _, err := c.Complete(ctx, bad, "x", "v", nil); err == nil {
				t.Errorf("%+v says nothing", bad)
			}
		}
	})
}

// A reader may stop early, and a list that breaks off says so last.
func TestIteratorsStop(t *testing.T) {
	pages := 0
	s := modern(func(f *fake, m *jsonrpc.Message) {
		if pages++; pages == 3 {
			f.fail(m, -32603, "sorry", "")
			return
		}
		f.result(m, `{"tools":[{"name":"t`+string(rune('0'+pages))+`"}],"nextCursor":"`+string(rune('0'+pages))+`"}`)
	})
	bubble(t, s, Options{}, func(t *testing.T, c *Client) {
		for tool, err := range c.Tools(t.Context()) {
			if err != nil || tool.Name != "t1" {
				t.Error(tool, err)
			}
			break
		}
		if pages != 1 {
			t.Errorf("%d pages for one tool", pages)
		}
		var got []string
		for tool, err := range c.Tools(t.Context()) {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, tool.Name)
		}
		if diff := cmp.Diff([]string{"t2", "sorry"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestIsNotFound(t *testing.T) { // W2.6, W26.5, W26.6
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"the older code":                  {&jsonrpc.Error{Code: -32002}, true},
		"the newer one, with the URI":     {&jsonrpc.Error{Code: -32602, Data: []byte(`{"uri":"u:x"}`)}, true},
		"bad params":                      {&jsonrpc.Error{Code: -32602}, false},
		"a number of nobody's (W2.3)":     {&jsonrpc.Error{Code: -32003}, false},
		"no answer at all":                {ErrTimeout, false},
		"nothing wrong":                   {nil, false},
		"some other error of the server ": {&jsonrpc.Error{Code: -32603}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := IsNotFound(tc.err); got != tc.want {
				t.Error(got)
			}
		})
	}
}

// A result that is no object is none, in either era.
func TestResultsThatAreNoObjects(t *testing.T) {
	for _, result := range []string{`null`, `[]`, `"done"`, `7`} {
		for _, make := range []func(func(*fake, *jsonrpc.Message)) *fakes{modern, legacy} {
			s := make(func(f *fake, m *jsonrpc.Message) {
				f.say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":` + result + `}`)
			})
			bubble(t, s, Options{}, func(t *testing.T, c *Client) {
				ctx := t.Context()
				_, tool := c.CallTool(ctx, "a", nil)
				_, prompt := c.GetPrompt(ctx, "a", nil)
				_, resource := c.ReadResource(ctx, "u:a")
				_, completion := c.Complete(ctx, Ref{Prompt: "a"}, "b", "", nil)
				_, tools := c.ListTools(ctx)
				for of, err := range map[string]error{"tool": tool, "prompt": prompt, "resource": resource, "completion": completion, "list": tools} {
					if err == nil {
						t.Errorf("%s is taken for a %s in %s", result, of, s.revision)
					}
				}
			})
		}
	}
}

// Whatever a server says, views never fail and keep it.
func FuzzViews(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","annotations":[],"execution":1}`, `{"content":{"type":"text"},"isError":"yes"}`, `{"messages":{"role":1,"content":[[]]}}`,
		`{"taskId":{},"ttl":1e400,"pollInterval":-5,"ttlMs":"x"}`, `{"arguments":{"name":"x"}}`, `[]`, `null`, `{"a":`,
		`{"type":"object","properties":{"a":{"type":["string"],"default":null}},"required":"a"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, kept := range []json.RawMessage{
			readTool(raw).Raw, readPrompt(raw).Raw, readResource(raw).Raw, readTemplate(raw).Raw,
			readToolResult(raw).Raw, readContent(raw).Raw, readContents(raw).Raw, readTask(raw).Raw,
		} {
			if string(kept) != string(raw) {
				t.Fatalf("%q became %q", raw, kept)
			}
		}
		if d := readTask(raw); d.Poll < 0 || d.TTL < -1 {
			t.Fatalf("%+v", d)
		}
		_ = messages(raw)
		_ = readFilter(raw)
		_ = ElicitRequest{Schema: raw}.Fields()
		_ = toolTurns(messages(raw))
		_ = described(raw, raw)
	})
}

package server_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

type city struct {
	Name string `json:"name" schema:"min=2"`
	Zoom int    `json:"zoom,omitempty" schema:"min=1,max=9,default=5"`
}

func library(t *testing.T) *server.Server {
	s := server.New(server.Info{Name: "lib", Version: "1"}, server.Options{})
	must(t, s.AddResource(server.Resource{URI: "test://text", Name: "text", Title: "T", MIMEType: "text/plain"}, func(*server.Context, server.ReadRequest) (server.ResourceOutcome, error) {
		return server.TextResource("text/plain", "hi"), nil
	}))
	must(t, s.AddResource(server.Resource{URI: "test://blob", Name: "blob"}, func(*server.Context, server.ReadRequest) (server.ResourceOutcome, error) {
		return server.BlobResource("image/png", []byte{0xff, 0}), nil
	}))
	must(t, s.AddResource(server.Resource{URI: "test://empty"}, func(*server.Context, server.ReadRequest) (server.ResourceOutcome, error) {
		return server.BlobResource("", nil), nil
	}))
	must(t, s.AddResource(server.Resource{URI: "test://gone"}, func(*server.Context, server.ReadRequest) (server.ResourceOutcome, error) {
		return nil, fmt.Errorf("reading: %w", server.ErrNotFound)
	}))
	must(t, s.AddResource(server.Resource{URI: "test://nil"}, func(*server.Context, server.ReadRequest) (server.ResourceOutcome, error) {
		return nil, nil
	}))
	must(t, s.AddResource(server.Resource{URI: "test://broken"}, func(*server.Context, server.ReadRequest) (server.ResourceOutcome, error) {
		return nil, errors.New("disk secret")
	}))
	vars := func(_ *server.Context, r server.ReadRequest) (server.ResourceOutcome, error) {
		return server.TextResource("", fmt.Sprint(r.URI, r.Vars)), nil
	}
	must(t, s.AddTemplate(server.Template{URITemplate: "test://t/{id}/data", Name: "data"}, vars))
	must(t, s.AddTemplate(server.Template{URITemplate: "test://t/{id}/{+rest}", Name: "rest"}, vars))
	must(t, s.AddTemplate(server.Template{URITemplate: "file:///w/{+path}", Name: "files"}, vars))
	must(t, server.AddTemplate(s, server.Template{URITemplate: "test://map/{name}{?zoom}", Name: "map"}, func(_ *server.Context, uri string, in city) (server.ResourceOutcome, error) {
		return server.TextResource("", fmt.Sprintf("%s %+v", uri, in)), nil
	}))
	return s
}

// W26.3, W26.4, W26.5, W26.6, W26.10
func TestReadingResources(t *testing.T) {
	each(t, func() *server.Server { return library(t) }, `{}`, func(t *testing.T, p *peer) {
		for uri, want := range map[string]string{
			"test://text":            "hi",
			"test://t/1%202/data":    "test://t/1%202/datamap[id:1 2]",
			"test://t/1/other/x":     "test://t/1/other/xmap[id:1 rest:other/x]",
			"test://map/Oslo":        "test://map/Oslo {Name:Oslo Zoom:5}",
			"test://map/Oslo?zoom=7": "test://map/Oslo?zoom=7 {Name:Oslo Zoom:7}",
			"file:///w/a/b":          "file:///w/a/bmap[path:a/b]",
		} {
			got := p.must("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
			if field(got, "contents", 0, "text") != want || field(got, "contents", 0, "uri") != uri {
				t.Errorf("%s: %s", uri, got)
			}
		}
		if got := p.must("resources/read", `{"uri":"test://blob"}`); field(got, "contents", 0, "blob") != "/wA=" || field(got, "contents", 0, "mimeType") != "image/png" {
			t.Errorf("blob: %s", got)
		}
		if got := p.must("resources/read", `{"uri":"test://empty"}`); field(got, "contents", 0, "blob") != "" {
			t.Errorf("empty: %s", got)
		}
		code := int64(-32002)
		if p.modern {
			code = -32602
		}
		for _, uri := range []string{"test://none", "test://gone", "test://nil", "test://map/O", "test://map/Oslo?zoom=99", "test://map/Oslo?zoom=x", "test://map/Oslo?other=1",
			"test://t/" + strings.Repeat("a", 8<<10) + "/data", "file:///w/../etc/passwd", "file:///w/%2e%2e/etc/passwd", "file:///w/a%2f..%2f..%2fetc", `file:///w/..%5c..%5cx`} {
			if err := p.fails("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)); err.Code != code || field(err.Data, "uri") != uri {
				t.Errorf("%s: %v %s", uri, err, err.Data)
			}
		}
		for _, params := range []string{`{"uri":"relative"}`, `{"uri":":"}`} {
			if err := p.fails("resources/read", params); err.Code != -32602 {
				t.Errorf("%s: %v", params, err)
			}
		}
		if err := p.fails("resources/read", `{"uri":"test://broken"}`); err.Code != -32603 || strings.Contains(err.Message, "secret") {
			t.Error(err)
		}
		if got := fmt.Sprint(pages(t, p, "resources/templates/list", "resourceTemplates")); got != "[[files map data rest]]" {
			t.Error(got)
		}
	})
}

// W26.11
func TestWhatIsNoResourceIsRefused(t *testing.T) {
	s := library(t)
	for _, r := range []server.Resource{{}, {URI: "relative"}, {URI: "test://text"}, {URI: "x:a\n"}} {
		if err := s.AddResource(r, text); err == nil {
			t.Errorf("%q was taken", r.URI)
		}
	}
	for _, template := range []string{"", "x:{", "x:{a}{a}", "test://t/{id}/data"} {
		if err := s.AddTemplate(server.Template{URITemplate: template}, text); err == nil {
			t.Errorf("%q was taken", template)
		}
	}
	s.RemoveResources("test://text")
	s.RemoveTemplates("file:///w/{+path}")
	must(t, s.AddResource(server.Resource{URI: "test://text"}, text))
	must(t, s.AddTemplate(server.Template{URITemplate: "file:///w/{+path}"}, text))
}

type letter struct {
	To    string `json:"to" jsonschema:"who gets it" schema:"title=To"`
	Pages int    `json:"pages,omitempty" schema:"min=1"`
	Rush  bool   `json:"rush,omitempty"`
}

func prompts(t *testing.T) *server.Server {
	s := server.New(server.Info{Name: "p", Version: "1"}, server.Options{})
	must(t, s.AddPrompt(server.Prompt{Name: "plain", Title: "Plain", Arguments: []server.PromptArgument{{Name: "a", Required: true}, {Name: "b"}}}, func(_ *server.Context, args map[string]string) (server.PromptOutcome, error) {
		return &server.PromptResult{Description: "d", Messages: []server.PromptMessage{
			{Role: server.RoleUser, Content: server.Text(args["a"] + args["b"])},
			{Role: server.RoleAssistant, Content: server.Audio([]byte{1}, "audio/wav")},
			{Role: server.RoleUser, Content: server.Link("x:a", "A")},
			{Role: server.RoleUser, Content: server.Embed(server.TextContents("x:b", "text/plain", "B"))},
			{Role: server.RoleUser, Content: server.Image(nil, "image/png")},
		}}, nil
	}))
	must(t, server.AddPrompt(s, server.Prompt{Name: "typed"}, func(_ *server.Context, in letter) (server.PromptOutcome, error) {
		if in.To == "fail" {
			return nil, errors.New("secret")
		}
		if in.To == "refuse" {
			return nil, jsonrpc.Errorf(-31000, "no")
		}
		return server.PromptText(fmt.Sprintf("%+v", in)), nil
	}))
	return s
}

// W27.3, W27.5, W24.10
func TestPrompts(t *testing.T) {
	each(t, func() *server.Server { return prompts(t) }, `{}`, func(t *testing.T, p *peer) {
		profile, _ := mcp.Lookup(p.revision)
		got := p.must("prompts/get", `{"name":"plain","arguments":{"a":"x","c":"ignored"}}`)
		var types []string
		for i := range 5 {
			types = append(types, field(got, "messages", i, "content", "type"))
		}
		want := "[text audio resource_link resource image]"
		switch {
		case !profile.AudioContent:
			want = "[text text text resource image]"
		case !profile.ResourceLinks:
			want = "[text audio text resource image]"
		}
		if fmt.Sprint(types) != want || field(got, "messages", 0, "content", "text") != "x" || field(got, "messages", 4, "content", "data") != "" || field(got, "ttlMs") != "none" {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := field(p.must("prompts/get", `{"name":"typed","arguments":{"to":"Ada","pages":"3","rush":"true"}}`), "messages", 0, "content", "text"); got != "{To:Ada Pages:3 Rush:true}" {
			t.Error(got)
		}
		for _, params := range []string{`{}`, `{"name":"none"}`, `{"name":"plain"}`, `{"name":"plain","arguments":{"b":"x"}}`, `{"name":"plain","arguments":{"a":5}}`, `{"name":"plain","arguments":[]}`,
			`{"name":"typed","arguments":{"to":"A","pages":"0"}}`, `{"name":"typed","arguments":{"to":"A","pages":"many"}}`, `{"name":"typed","arguments":{"to":"A","rush":"perhaps"}}`} {
			if err := p.fails("prompts/get", params); err.Code != -32602 {
				t.Errorf("%s: %v", params, err)
			}
		}
		if err := p.fails("prompts/get", `{"name":"typed","arguments":{"to":"fail"}}`); err.Code != -32603 || strings.Contains(err.Message, "secret") {
			t.Error(err)
		}
		if err := p.fails("prompts/get", `{"name":"typed","arguments":{"to":"refuse"}}`); err.Code != -31000 {
			t.Error(err)
		}
		list := p.must("prompts/list", "")
		if got := field(list, "prompts", 1, "arguments", 0, "description"); got != "who gets it" {
			t.Errorf("list %s", list)
		}
		if field(list, "prompts", 1, "arguments", 0, "required") != "true" || field(list, "prompts", 1, "arguments", 1, "required") != "none" {
			t.Errorf("required: %s", list)
		}
		if got := field(list, "prompts", 1, "arguments", 0, "title") != "none"; got != profile.Titles {
			t.Errorf("title is there: %v", got)
		}
	})
}

// W28.2, W28.3, W28.4, W28.5
func TestCompletion(t *testing.T) {
	each(t, func() *server.Server {
		s := prompts(t)
		must(t, s.AddTemplate(server.Template{URITemplate: "x:{a}"}, text))
		h := func(_ *server.Context, r server.CompleteRequest) (server.Completion, error) {
			if r.Value == "fail" {
				return server.Completion{}, errors.New("secret")
			}
			if r.Value == "many" {
				return server.Completion{Values: make([]string, 150)}, nil
			}
			return server.Completion{Values: []string{r.Argument + r.Value + r.Arguments["b"]}, Total: 9, HasMore: true}, nil
		}
		must(t, s.AddCompletion(server.PromptRef("plain"), "a", h))
		must(t, s.AddCompletion(server.TemplateRef("x:{a}"), "a", h))
		if err := s.AddCompletion(server.PromptRef("plain"), "a", h); !errors.Is(err, server.ErrDuplicate) {
			t.Error(err)
		}
		must(t, s.AddCompletion(server.PromptRef("plain"), "gone", h))
		s.RemoveCompletion(server.PromptRef("plain"), "gone")
		return s
	}, `{}`, func(t *testing.T, p *peer) {
		complete := func(ref, argument string) string {
			return fmt.Sprintf(`{"ref":%s,"argument":%s,"context":{"arguments":{"b":"+"}}}`, ref, argument)
		}
		prompt := `{"type":"ref/prompt","name":"plain"}`
		plus := ""
		if profile, _ := mcp.Lookup(p.revision); profile.CompletionContext {
			plus = "+"
		}
		got := p.must("completion/complete", complete(prompt, `{"name":"a","value":"x"}`))
		if field(got, "completion") != fmt.Sprintf(`{"hasMore":true,"total":9,"values":["ax%s"]}`, plus) {
			t.Errorf("got %s", got)
		}
		if got := p.must("completion/complete", complete(`{"type":"ref/resource","uri":"x:{a}"}`, `{"name":"a","value":""}`)); field(got, "completion", "values", 0) != "a"+plus {
			t.Errorf("got %s", got)
		}
		if got := p.must("completion/complete", complete(prompt, `{"name":"a","value":"many"}`)); field(got, "completion", "values", 99) != "" || field(got, "completion", "values", 100) != "none" || field(got, "completion", "total") != "150" || field(got, "completion", "hasMore") != "true" {
			t.Errorf("got %s", got)
		}
		if got := p.must("completion/complete", complete(prompt, `{"name":"gone","value":"x"}`)); field(got, "completion", "values") != "[]" {
			t.Errorf("got %s", got)
		}
		for _, params := range []string{complete(`{"type":"ref/prompt","name":"none"}`, `{"name":"a","value":"x"}`), complete(`{"type":"ref/resource","uri":"y:{a}"}`, `{"name":"a","value":"x"}`),
			complete(`{"type":"other"}`, `{"name":"a","value":"x"}`), complete(prompt, `{"name":"a"}`), complete(prompt, `5`)} {
			if err := p.fails("completion/complete", params); err.Code != -32602 {
				t.Errorf("%s: %v", params, err)
			}
		}
		if err := p.fails("completion/complete", complete(prompt, `{"name":"a","value":"fail"}`)); err.Code != -32603 || strings.Contains(err.Message, "secret") {
			t.Error(err)
		}
	})
}

// W24.8, W24.10, R8: content that a revision does not have, and none at all.
func TestContentOfToolsFitsTheRevision(t *testing.T) {
	each(t, func() *server.Server {
		s := server.New(server.Info{Name: "s"}, server.Options{})
		must(t, server.AddTool(s, server.Tool{Name: "nothing"}, func(*server.Context, struct{}) (struct{}, error) { return struct{}{}, nil }))
		must(t, server.AddTool(s, server.Tool{Name: "list"}, func(*server.Context, struct{}) ([]int, error) { return nil, nil }))
		must(t, server.AddTool(s, server.Tool{Name: "content"}, func(*server.Context, struct{}) ([]server.Content, error) {
			return []server.Content{server.Link("x:a", "A"), server.Audio(nil, "audio/wav")}, nil
		}))
		must(t, server.AddTool(s, server.Tool{Name: "raw", OutputSchema: []byte(`{"type":"object","required":["a"]}`)}, func(_ *server.Context, in struct {
			Fit bool `json:"fit"`
		}) (*server.ToolResult, error) {
			if in.Fit {
				return &server.ToolResult{Content: []server.Content{server.Text("own")}, Structured: map[string]int{"a": 1}, Meta: []byte(`{"m":1}`)}, nil
			}
			return &server.ToolResult{Structured: map[string]int{"b": 1}}, nil
		}))
		return s
	}, `{}`, func(t *testing.T, p *peer) {
		profile, _ := mcp.Lookup(p.revision)
		if got := p.must("tools/call", `{"name":"nothing"}`); field(got, "content") != "[]" {
			t.Errorf("nothing: %s", got)
		}
		got := p.must("tools/call", `{"name":"list"}`)
		want := "none"
		if profile.AnyOutput {
			want = "[]"
		}
		if field(got, "content", 0, "text") != "[]" || field(got, "structuredContent") != want {
			t.Errorf("list: %s", got)
		}
		got = p.must("tools/call", `{"name":"content"}`)
		kinds := field(got, "content", 0, "type") + " " + field(got, "content", 1, "type")
		if want := map[[2]bool]string{{true, true}: "resource_link audio", {true, false}: "text audio", {false, false}: "text text"}[[2]bool{profile.AudioContent, profile.ResourceLinks}]; kinds != want {
			t.Errorf("content: %s, want %s", kinds, want)
		}
		got = p.must("tools/call", `{"name":"raw","arguments":{"fit":true}}`)
		if field(got, "content", 0, "text") != "own" || field(got, "content", 1) != "none" || field(got, "_meta", "m") != "1" {
			t.Errorf("raw: %s", got)
		}
		if err := p.fails("tools/call", `{"name":"raw","arguments":{"fit":false}}`); err.Code != -32603 {
			t.Errorf("output that does not fit: %v", err)
		}
	})
}

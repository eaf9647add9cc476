package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

func nothing(*server.Context, json.RawMessage) (server.ToolOutcome, error) { return nil, nil }

func many(t *testing.T, o server.Options, names ...string) *server.Server {
	s := server.New(server.Info{Name: "many", Version: "1"}, o)
	for _, name := range names {
		must(t, s.AddTool(server.Tool{Name: name}, nothing))
	}
	return s
}

// pages reads a list to its end.
func pages(t *testing.T, p *peer, method, list string) (names [][]string) {
	t.Helper()
	params := `{}`
	for range 100 {
		result := p.must(method, params)
		var items []struct{ Name, URI, URITemplate string }
		must(t, json.Unmarshal([]byte(field(result, list)), &items))
		var page []string
		for _, it := range items {
			page = append(page, it.Name)
		}
		names = append(names, page)
		next := field(result, "nextCursor")
		if next == "none" {
			return names
		}
		params = fmt.Sprintf(`{"cursor":%q}`, next)
	}
	t.Fatal("the list has no end")
	return nil
}

// W24.3, W22.2, W22.3: the same order every time, pages without gaps.
func TestListsAreOrderedAndPaged(t *testing.T) {
	each(t, func() *server.Server { return many(t, server.Options{PageSize: 2}, "d", "a", "e", "c", "b") }, `{}`, func(t *testing.T, p *peer) {
		if got := fmt.Sprint(pages(t, p, "tools/list", "tools")); got != "[[a b] [c d] [e]]" {
			t.Error(got)
		}
	})
}

func TestItemsMayComeAndGoBetweenPages(t *testing.T) {
	s := many(t, server.Options{PageSize: 2}, "a", "b", "c", "d", strings.Repeat("e", 900)+"1", strings.Repeat("e", 900)+"2", strings.Repeat("e", 900)+"3")
	p := newRig(t, s).connect(mcp.Revision20251125, `{}`)
	first := p.must("tools/list", "")
	s.RemoveTools("b", "c") // the cursor's own item, and the next
	must(t, s.AddTool(server.Tool{Name: "a2"}, nothing))
	second := p.must("tools/list", fmt.Sprintf(`{"cursor":%q}`, field(first, "nextCursor")))
	if got := field(second, "tools", 0, "name"); got != "d" {
		t.Errorf("after b comes %.20s", got)
	}
	// Names that do not fit into a cursor: it names them by digest and prefix.
	third := p.must("tools/list", fmt.Sprintf(`{"cursor":%q}`, field(second, "nextCursor")))
	if got := field(third, "tools", 1, "name"); !strings.HasSuffix(got, "3") {
		t.Errorf("third page %s", third)
	}
	s.RemoveTools(strings.Repeat("e", 900) + "1")
	if err := p.fails("tools/list", fmt.Sprintf(`{"cursor":%q}`, field(second, "nextCursor"))); err.Code != -32602 {
		t.Error(err)
	}
}

// P33.12, W22.2: what is no cursor of this list for this caller.
func TestACursorIsForOneListOfOneServer(t *testing.T) {
	build := func() *server.Server {
		s := many(t, server.Options{PageSize: 1}, "a", "b")
		for _, name := range []string{"a", "b"} {
			must(t, s.AddPrompt(server.Prompt{Name: name}, nil))
		}
		return s
	}
	for _, revision := range mcp.Revisions() {
		p := newRig(t, build()).connect(revision, `{}`)
		cursor := field(p.must("tools/list", ""), "nextCursor")
		other := field(newRig(t, build()).connect(revision, `{}`).must("tools/list", ""), "nextCursor")
		for name, c := range map[string]struct{ method, cursor string }{
			"another list":   {"prompts/list", cursor},
			"another server": {"tools/list", other},
			"empty":          {"tools/list", ""},
			"long":           {"tools/list", strings.Repeat("x", 100<<10)},
			"made up":        {"tools/list", "MQ=="},
		} {
			if err := p.fails(c.method, fmt.Sprintf(`{"cursor":%q}`, c.cursor)); err.Code != -32602 {
				t.Errorf("%s on %s: %v", name, revision, err)
			}
		}
		if err := p.fails("tools/list", `{"cursor":5}`); err.Code != -32602 {
			t.Error(err)
		}
		p.must("tools/list", `{"cursor":null}`)
	}
}

// W34.7, W7.4: who may not see an item is not told that it exists.
func TestItemsShowThemselvesToSome(t *testing.T) {
	samplers := func(c server.Caller) bool { return c.Declares(mcp.CapSampling) }
	build := func() *server.Server {
		s := server.New(server.Info{Name: "s"}, server.Options{PageSize: 1, Visible: func(_ server.Caller, kind server.Kind, name string) bool {
			return kind != server.KindTool || name != "never"
		}})
		for _, name := range []string{"a", "never", "z"} {
			must(t, s.AddTool(server.Tool{Name: name}, nothing))
		}
		must(t, s.AddTool(server.Tool{Name: "m", Visible: samplers}, nothing))
		must(t, s.AddPrompt(server.Prompt{Name: "m", Visible: samplers}, func(*server.Context, map[string]string) (server.PromptOutcome, error) {
			return server.PromptText("x"), nil
		}))
		must(t, s.AddResource(server.Resource{URI: "x:m", Visible: samplers}, text))
		must(t, s.AddTemplate(server.Template{URITemplate: "x:t/{a}", Visible: samplers}, text))
		return s
	}
	for _, revision := range []string{mcp.Revision20251125, mcp.Revision20260728} {
		r := newRig(t, build())
		for caps, want := range map[string]bool{`{}`: false, `{"sampling":{}}`: true} {
			p := r.connect(revision, caps)
			got := slices.Concat(pages(t, p, "tools/list", "tools")...)
			wantNames := []string{"a", "z"}
			if want {
				wantNames = []string{"a", "m", "z"}
			}
			if !slices.Equal(got, wantNames) {
				t.Errorf("%s with %s: %v", revision, caps, got)
			}
			for method, params := range map[string]string{
				"tools/call": `{"name":"m"}`, "prompts/get": `{"name":"m"}`, "resources/read": `{"uri":"x:m"}`,
			} {
				if _, err := p.call(method, params); (err == nil) != want {
					t.Errorf("%s %s with %s: %v", revision, method, caps, err)
				}
			}
			if err := p.fails("tools/call", `{"name":"never"}`); err.Message != "unknown tool: never" {
				t.Error(err)
			}
		}
	}
}

func text(*server.Context, server.ReadRequest) (server.ResourceOutcome, error) {
	return server.TextResource("text/plain", "x"), nil
}

// W24.5, W24.6, W25.2, W25.4, W15.14
func TestWhatIsNoToolIsRefused(t *testing.T) {
	s := server.New(server.Info{Name: "s"}, server.Options{})
	must(t, s.AddTool(server.Tool{Name: "there"}, nothing))
	for name, c := range map[string]struct {
		tool server.Tool
		want error
	}{
		"no name":                  {server.Tool{}, server.ErrName},
		"a name with a line end":   {server.Tool{Name: "a\nb"}, server.ErrName},
		"a name without end":       {server.Tool{Name: strings.Repeat("a", 2000)}, server.ErrName},
		"a name twice":             {server.Tool{Name: "there"}, server.ErrDuplicate},
		"input that is no schema":  {server.Tool{Name: "a", InputSchema: json.RawMessage(`{"type":5}`)}, nil},
		"input that is no JSON":    {server.Tool{Name: "a", InputSchema: json.RawMessage(`{`)}, nil},
		"input that is no object":  {server.Tool{Name: "a", InputSchema: json.RawMessage(`{"type":"string"}`)}, nil},
		"input from elsewhere":     {server.Tool{Name: "a", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"https://example.com/s"}}}`)}, nil},
		"a file as a schema":       {server.Tool{Name: "a", InputSchema: json.RawMessage(`{"type":"object","$ref":"file:///etc/passwd"}`)}, nil},
		"a mirrored number":        {server.Tool{Name: "a", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}`)}, nil},
		"output that is no schema": {server.Tool{Name: "a", OutputSchema: json.RawMessage(`[]`)}, nil},
		"metadata that is no JSON": {server.Tool{Name: "a", Meta: json.RawMessage(`{`)}, nil},
	} {
		if err := s.AddTool(c.tool, nothing); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := server.AddTool(s, server.Tool{Name: "f"}, func(*server.Context, struct{ F func() }) (string, error) { return "", nil }); err == nil {
		t.Error("a func was taken as an argument")
	}
	for _, odd := range []string{"with space", "a,b", "Ü", strings.Repeat("a", 1000)} { // P33.11
		must(t, s.AddTool(server.Tool{Name: odd}, nothing))
	}
}

// W24.17: schemas and metadata reach the client as they are.
func TestSchemasReachTheClientAsTheyAre(t *testing.T) {
	schema := `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"a":{"$anchor":"q","type":"string"}},"properties":{"x":{"$ref":"#q"},"n":{"const":1.50}},"x-own":{"b":[1,2]},"additionalProperties":false}`
	each(t, func() *server.Server {
		s := server.New(server.Info{Name: "s"}, server.Options{})
		must(t, s.AddTool(server.Tool{Name: "a", Title: "A", Icons: []server.Icon{{Src: "data:,x"}}, InputSchema: json.RawMessage(schema), OutputSchema: json.RawMessage(`{"type":"array"}`),
			Annotations: &server.ToolAnnotations{ReadOnlyHint: true}}, nothing))
		must(t, s.AddTool(server.Tool{Name: "o", OutputSchema: json.RawMessage(`{"type":"object"}`)}, nothing))
		return s
	}, `{}`, func(t *testing.T, p *peer) {
		result := p.must("tools/list", "")
		if !strings.Contains(string(result), `"inputSchema":`+schema) {
			t.Errorf("got %s", result)
		}
		profile, _ := mcp.Lookup(p.revision)
		for path, want := range map[string]bool{"title": profile.Titles, "icons": profile.Icons, "annotations": profile.ToolAnnotations, "outputSchema": profile.AnyOutput, "execution": false} {
			if got := field(result, "tools", 0, path) != "none"; got != want {
				t.Errorf("%s is there: %v", path, got)
			}
		}
		if got := field(result, "tools", 1, "outputSchema") != "none"; got != profile.StructuredOutput {
			t.Errorf("outputSchema is there: %v", got)
		}
	})
}

// W34.1, W22.4, W32.16
func TestCachingHints(t *testing.T) {
	build := func() *server.Server {
		s := many(t, server.Options{PageSize: 1, Cache: server.Cache{Hint: server.Hint{TTL: 1000000000}, Methods: map[string]server.Hint{
			"tools/list": {TTL: 5000000000, Scope: server.Public},
		}}}, "a", "b")
		must(t, s.AddResource(server.Resource{URI: "x:a"}, text))
		must(t, s.AddResource(server.Resource{URI: "x:b", Cache: &server.Hint{TTL: -1, Scope: server.Public}}, text))
		must(t, s.AddPrompt(server.Prompt{Name: "p"}, func(*server.Context, map[string]string) (server.PromptOutcome, error) {
			return server.PromptText("x"), nil
		}))
		return s
	}
	p := newRig(t, build()).connect(mcp.Revision20260728, `{}`)
	for name, c := range map[string]struct{ method, params, ttl, scope string }{
		"discover":     {"server/discover", `{}`, "1000", "private"},
		"a list":       {"tools/list", `{}`, "5000", "public"},
		"another page": {"tools/list", fmt.Sprintf(`{"cursor":%q}`, field(p.must("tools/list", ""), "nextCursor")), "5000", "public"},
		"templates":    {"resources/templates/list", `{}`, "1000", "private"},
		"a read":       {"resources/read", `{"uri":"x:a"}`, "1000", "private"},
		"its own":      {"resources/read", `{"uri":"x:b"}`, "0", "public"},
		"with input":   {"resources/read", `{"uri":"x:b","inputResponses":{}}`, "0", "private"},
		"a call":       {"tools/call", `{"name":"a"}`, "none", "none"},
		"a prompt":     {"prompts/get", `{"name":"p"}`, "none", "none"},
	} {
		result := p.must(c.method, c.params)
		if field(result, "ttlMs") != c.ttl || field(result, "cacheScope") != c.scope || field(result, "resultType") != "complete" {
			t.Errorf("%s: %s", name, result)
		}
	}
	old := newRig(t, build()).connect(mcp.Revision20251125, `{}`)
	for _, method := range []string{"tools/list", "resources/list"} {
		if got := old.must(method, ""); strings.Contains(string(got), "ttlMs") || strings.Contains(string(got), "resultType") {
			t.Errorf("2025-11-25: %s", got) // W3.6
		}
	}
}

// W5.6, W24.2, W26.2, W27.2: a capability and its methods are there together,
// and stay.
func TestMethodsWithoutACapabilityAreUnknown(t *testing.T) {
	methods := map[string]string{
		"tools/list": "{}", "tools/call": `{"name":"a"}`, "prompts/list": "{}", "prompts/get": `{"name":"a"}`, "resources/list": "{}", "resources/templates/list": "{}",
		"resources/read": `{"uri":"x:a"}`, "completion/complete": "{}", "no/such": "{}",
	}
	for _, revision := range mcp.Revisions() {
		p := newRig(t, server.New(server.Info{Name: "s"}, server.Options{Offers: server.Offers{NoLogging: true}})).connect(revision, `{}`)
		for method, params := range methods {
			if err := p.fails(method, params); err.Code != -32601 {
				t.Errorf("%s on %s: %v", method, revision, err)
			}
		}
		if p.modern {
			if err := p.fails("subscriptions/listen", `{"notifications":{}}`); err.Code != -32601 {
				t.Error(err) // W33.12
			}
			continue
		}
		for method, params := range map[string]string{"logging/setLevel": `{"level":"info"}`, "resources/subscribe": `{"uri":"x:a"}`} {
			if err := p.fails(method, params); err.Code != -32601 {
				t.Errorf("%s on %s: %v", method, revision, err)
			}
		}
		s := many(t, server.Options{}, "a")
		s.RemoveTools("a", "not there")
		if got := field(newRig(t, s).connect(revision, `{}`).must("tools/list", ""), "tools"); got != "[]" {
			t.Errorf("after the last tool has gone: %s", got)
		}
	}
}

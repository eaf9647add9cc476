package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

// named makes clients of a server that says who is asking by their token.
func named(t *testing.T, s *server.Server) func(name, revision, caps string) *peer {
	r := newRig(t, s)
	r.front.Authenticate = func(req *http.Request) (*auth.Identity, error) {
		name := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
		if name == "" {
			return nil, nil
		}
		return &auth.Identity{Principal: name, Scopes: []string{name + ":read"}}, nil
	}
	return func(name, revision, caps string) *peer {
		as := *r
		as.token = name
		return as.connect(revision, caps)
	}
}

// W30.9, W32.8, W38.21, W7.3, P33.12: a state and a cursor are of no use to
// anybody else.
func TestHandlesAreBoundToTheirPrincipal(t *testing.T) {
	s := asking(t, server.Options{PageSize: 1})
	as := named(t, s)
	ada, eve := as("ada", mcp.Revision20260728, allCaps), as("eve", mcp.Revision20260728, allCaps)
	first := ada.must("tools/call", `{"name":"greet"}`)
	next := retry(t, `{"name":"greet"}`, first)
	if err := eve.fails("tools/call", next); err.Code != -32602 {
		t.Errorf("another's state: %v", err)
	}
	if err := as("", mcp.Revision20260728, allCaps).fails("tools/call", next); err.Code != -32602 {
		t.Errorf("a state for nobody: %v", err)
	}
	ada.must("tools/call", next)
	cursor := field(ada.must("tools/list", ""), "nextCursor")
	if err := eve.fails("tools/list", fmt.Sprintf(`{"cursor":%q}`, cursor)); err.Code != -32602 {
		t.Errorf("another's cursor: %v", err)
	}
	ada.must("tools/list", fmt.Sprintf(`{"cursor":%q}`, cursor))
}

// W38.9: scopes of a tool, a prompt and a resource.
func TestScopesAreAsked(t *testing.T) {
	s := server.New(server.Info{Name: "s"}, server.Options{})
	scopes := []string{"ada:read"}
	must(t, s.AddTool(server.Tool{Name: "t", Scopes: scopes}, nothing))
	must(t, s.AddPrompt(server.Prompt{Name: "p", Scopes: scopes}, func(*server.Context, map[string]string) (server.PromptOutcome, error) {
		return server.PromptText("x"), nil
	}))
	must(t, s.AddResource(server.Resource{URI: "x:r", Scopes: scopes}, text))
	must(t, s.AddTemplate(server.Template{URITemplate: "x:t/{a}", Scopes: scopes}, text))
	as := named(t, s)
	for _, revision := range []string{mcp.Revision20251125, mcp.Revision20260728} {
		for name, granted := range map[string]bool{"ada": true, "eve": false, "": false} {
			p := as(name, revision, `{}`)
			for _, call := range [][2]string{{"resources/subscribe", `{"uri":"x:r"}`}, {"tools/call", `{"name":"t"}`}, {"prompts/get", `{"name":"p"}`}, {"resources/read", `{"uri":"x:r"}`}, {"resources/read", `{"uri":"x:t/1"}`}} {
				if call[0] == "resources/subscribe" && p.modern {
					st, ack := p.listen(`{"resourceSubscriptions":["x:r"]}`)
					st.close()
					if got := field(ack.Params, "notifications", "resourceSubscriptions") != "none"; got != granted {
						t.Errorf("listen as %q: %s", name, ack.Params)
					}
					continue
				}
				if _, err := p.call(call[0], call[1]); (err == nil) != granted || err != nil && field(err.Data, "reason") != "insufficient_scope" {
					t.Errorf("%s as %q on %s: %v", call, name, revision, err)
				}
			}
		}
	}
}

// W5.9, W7.1: what an earlier request declared holds for that one alone.
func TestCapabilitiesAreOfTheRequestAlone(t *testing.T) {
	r := newRig(t, asker(t))
	r.connect(mcp.Revision20260728, allCaps).must("tools/call", `{"name":"greet"}`)
	if err := r.connect(mcp.Revision20260728, `{}`).fails("tools/call", `{"name":"greet"}`); err.Code != -32021 {
		t.Error(err)
	}
}

// W5.11, W5.12, W23.1, W24.1, W26.1, W27.1, W28.1: what is there is declared.
func TestEverythingThatIsThereIsDeclared(t *testing.T) {
	each(t, func() *server.Server {
		s := server.New(server.Info{Name: "s"}, server.Options{
			Extensions: map[string]json.RawMessage{"com.example/x": json.RawMessage(`{"a":1}`)},
			Offers:     server.Offers{Tools: true, Prompts: true, Resources: true, Completions: true},
		})
		return s
	}, `{}`, func(t *testing.T, p *peer) {
		said := p.opened
		if p.modern {
			said = p.must("server/discover", "")
		}
		caps := json.RawMessage(field(said, "capabilities"))
		completions := "{}"
		if p.revision == mcp.Revision20241105 {
			completions = "none"
		}
		for path, want := range map[string]string{
			"tools": `{"listChanged":true}`, "prompts": `{"listChanged":true}`, "resources": `{"listChanged":true,"subscribe":true}`,
			"logging": "{}", "completions": completions, "extensions": `{"com.example/x":{"a":1}}`, "tasks": "none",
		} {
			if got := field(caps, path); got != want {
				t.Errorf("%s: got %s, want %s", path, got, want)
			}
		}
		for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
			p.must(method, "")
		}
	})
}

// W32.5, W29.4
func TestWhatIsAskedIsSpeltAsTheClientTakesIt(t *testing.T) {
	s := server.New(server.Info{Name: "s"}, server.Options{})
	params := server.SampleParams{Messages: []server.SampleMessage{server.Say(server.RoleUser, "x")}, MaxTokens: 1, IncludeContext: "thisServer"}
	must(t, s.AddTool(server.Tool{Name: "context"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		_, err := c.Sample("__proto__", params)
		return nil, err
	}))
	must(t, s.AddTool(server.Tool{Name: "twice"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		return nil, c.Need(c.RootsInput("a"), c.RootsInput("a"))
	}))
	must(t, s.AddTool(server.Tool{Name: "tools"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		p := params
		p.Tools = []server.SampleTool{{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}}
		_, err := c.Sample("s", p)
		return nil, err
	}))
	r := newRig(t, s)
	for caps, want := range map[string]string{`{"sampling":{}}`: "none", `{"sampling":{"context":{}}}`: "thisServer"} {
		got := r.connect(mcp.Revision20260728, caps).must("tools/call", `{"name":"context"}`)
		if field(got, "inputRequests", "__proto__", "params", "includeContext") != want || field(got, "inputRequests", "__proto__", "params", "messages", 0, "content", "type") != "text" {
			t.Errorf("%s: %s", caps, got)
		}
	}
	if err := r.connect(mcp.Revision20260728, `{"roots":{}}`).fails("tools/call", `{"name":"twice"}`); err.Code != -32603 {
		t.Error(err)
	}
	if err := r.connect(mcp.Revision20260728, `{"sampling":{}}`).fails("tools/call", `{"name":"tools"}`); err.Code != -32021 || field(err.Data, "requiredCapabilities", "sampling", "tools") != "{}" {
		t.Error(err) // W29.3
	}
}

// A session is told of what its opener's scopes show.
func TestSessionsHearOfWhatTheirOpenerMaySee(t *testing.T) {
	s := watched(t, server.Options{})
	as := named(t, s)
	ada, eve := as("ada", mcp.Revision20251125, `{}`).get(), as("eve", mcp.Revision20251125, `{}`).get()
	must(t, s.AddTool(server.Tool{Name: "m", Visible: func(c server.Caller) bool { return c.Identity.Has("ada:read") }}, nothing))
	ada.methods(mcp.NotifyToolsChanged)
	must(t, s.AddPrompt(server.Prompt{Name: "last"}, nil))
	if before := eve.methods(mcp.NotifyPromptsChanged); before != nil {
		t.Errorf("eve heard %v", before)
	}
}

// R1: a client that takes JSON only cannot be asked, as if it had declared
// nothing; what cannot be sent to it fails nobody.
func TestAClientThatTakesJSONOnly(t *testing.T) {
	s := asking(t, server.Options{})
	must(t, s.AddTool(server.Tool{Name: "noisy"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		if err := c.Progress(1, 2, ""); err != nil {
			return nil, err
		}
		return server.TextResult("done"), c.Log(server.LevelError, "", "x")
	}))
	r := newRig(t, s)
	r.accept = "application/json"
	p := r.connect(mcp.Revision20251125, allCaps)
	if got := p.must("tools/call", `{"name":"greet"}`); field(got, "isError") != "true" || !strings.Contains(field(got, "content", 0, "text"), "does not support elicitation") {
		t.Errorf("greet: %s", got)
	}
	if got := p.must("tools/call", `{"name":"noisy","_meta":{"progressToken":1}}`); field(got, "content", 0, "text") != "done" {
		t.Errorf("noisy: %s", got)
	}
}

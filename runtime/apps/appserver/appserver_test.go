package appserver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/apps"
	"github.com/fairlead-dev/fairlead/runtime/apps/appserver"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const document = "<!doctype html><title>map</title>"

// weather is a server with a view, a tool that has it, and one for the view
// alone.
func weather(t *testing.T) *server.Server {
	t.Helper()
	var o server.Options
	appserver.Offer(&o)
	s := server.New(server.Info{Name: "weather", Version: "1"}, o)
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	must(appserver.AddView(s, appserver.View{
		URI: "ui://weather/map", Name: "map",
		UI: apps.View{CSP: &apps.CSP{Connect: []string{"https://tiles.example.com"}}},
	}, appserver.Static(document)))
	link := func(*server.Context, json.RawMessage) (server.ToolOutcome, error) {
		return &server.ToolResult{Content: []server.Content{server.Image([]byte{1}, "image/png")}}, nil
	}
	say := func(*server.ToolResult) string { return "It is sunny." }
	shown, err := appserver.Show(s, server.Tool{Name: "forecast", Meta: json.RawMessage(`{"k":1}`)}, apps.Tool{ResourceURI: "ui://weather/map"})
	must(err)
	must(s.AddTool(shown, appserver.WithText(link, say)))
	hidden, err := appserver.Show(s, server.Tool{Name: "refresh"}, apps.Tool{ResourceURI: "ui://weather/map", Visibility: []apps.Audience{apps.App}})
	must(err)
	must(server.AddTool(s, hidden, func(c *server.Context, _ struct{}) (map[string]bool, error) {
		return map[string]bool{"shown": appserver.Shown(c)}, nil
	}))
	return s
}

const hostCaps = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

// session opens one and returns how to ask in it.
func session(t *testing.T, s *server.Server, revision, caps string) func(method, params string) []byte {
	t.Helper()
	raw := mcptest.Stdio(t, s, stdio.Options{})
	id := 1
	ask := func(line string) []byte {
		raw.Say(line)
		return raw.Hear()
	}
	if revision != "2026-07-28" {
		ask(mcptest.Initialize(id, revision, caps))
		raw.Say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return func(method, params string) []byte {
		id++
		if revision == "2026-07-28" {
			params = strings.Replace(mcptest.Modern(strings.Trim(params, "{}")), `clientCapabilities":{}`, `clientCapabilities":`+caps, 1)
		}
		return ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
	}
}

// W37.1, W5.12
func TestWhoSeesWhichTools(t *testing.T) {
	for name, tc := range map[string]struct {
		revision, caps string
		tools          string
		meta           bool
	}{
		"a host of 2026-07-28":                       {"2026-07-28", hostCaps, "forecast refresh", true},
		"a host of 2025-11-25":                       {"2025-11-25", hostCaps, "forecast refresh", true},
		"a host of 2025-06-18":                       {"2025-06-18", hostCaps, "forecast refresh", true},
		"a host that could not tell the tools apart": {"2025-03-26", hostCaps, "forecast", false},
		"a client without views":                     {"2026-07-28", "{}", "forecast", true},
		"a client without views, with a session":     {"2025-11-25", "{}", "forecast", true},
	} {
		t.Run(name, func(t *testing.T) {
			ask := session(t, weather(t), tc.revision, tc.caps)
			list := ask("tools/list", "{}")
			tools, _ := strictjson.GetPath(list, "result", "tools")
			var names []string
			strictjson.Elements(tools, func(tool []byte) bool {
				raw, _ := strictjson.Get(tool, "name")
				one, _ := strictjson.String(raw)
				names = append(names, one)
				meta, _ := strictjson.Get(tool, "_meta")
				ui, ok := apps.ToolOf(meta)
				if ok != tc.meta || ok && ui.ResourceURI != "ui://weather/map" || ok && one == "forecast" && !strings.HasPrefix(string(meta), `{"k":1,`) {
					t.Errorf("%s has %s", one, meta)
				}
				return true
			})
			if got := strings.Join(names, " "); got != tc.tools {
				t.Errorf("got %q of %s", got, list)
			}
			called := ask("tools/call", `{"name":"refresh"}`)
			if reached := strings.Contains(string(called), `"shown":true`); reached != strings.Contains(tc.tools, "refresh") {
				t.Errorf("a tool that is hidden, or should not be: %s", called)
			}
			if said := ask("tools/call", `{"name":"forecast"}`); !strings.Contains(string(said), `[{"type":"text","text":"It is sunny."},{"type":"image"`) {
				t.Errorf("nothing to read in %s", said)
			}
		})
	}
}

func TestAViewIsRead(t *testing.T) {
	ask := session(t, weather(t), "2025-11-25", hostCaps)
	got := ask("resources/read", `{"uri":"ui://weather/map"}`)
	contents, _ := strictjson.GetPath(got, "result", "contents")
	var one struct {
		URI, MIMEType, Text string
		Meta                json.RawMessage `json:"_meta"`
	}
	strictjson.Elements(contents, func(raw []byte) bool {
		if err := json.Unmarshal(raw, &one); err != nil {
			t.Error(err)
		}
		return true
	})
	if one.URI != "ui://weather/map" || !apps.IsView(one.MIMEType) || one.Text != document || fmt.Sprint(apps.ViewOf(one.Meta).CSP.Connect) != "[https://tiles.example.com]" {
		t.Errorf("%+v of %s", one, got)
	}
	if list := string(ask("resources/list", "{}")); !strings.Contains(list, `"mimeType":"text/html;profile=mcp-app"`) || !strings.Contains(list, "tiles.example.com") {
		t.Errorf("in the list: %s", list)
	}
}

func TestTheServerSaysThatItHasViews(t *testing.T) {
	raw := mcptest.Stdio(t, weather(t), stdio.Options{})
	raw.Say(mcptest.Initialize(1, "2025-11-25", hostCaps))
	if got := raw.Hear(); !strings.Contains(string(got), `"extensions":{"io.modelcontextprotocol/ui":{}`) {
		t.Errorf("%s", got)
	}
	o := server.Options{Extensions: map[string]json.RawMessage{"com.example/x": json.RawMessage(`{}`)}}
	before := o.Extensions
	appserver.Offer(&o)
	if len(o.Extensions) != 2 || len(before) != 1 {
		t.Errorf("%v", o.Extensions)
	}
}

func TestWhatCannotBeShown(t *testing.T) {
	s := weather(t)
	if _, err := appserver.Show(s, server.Tool{Name: "x"}, apps.Tool{ResourceURI: "ui://weather/none"}); !errors.Is(err, appserver.ErrNoView) {
		t.Errorf("a tool that points nowhere: %v", err)
	}
	if _, err := appserver.Show(s, server.Tool{Name: "x"}, apps.Tool{ResourceURI: "https://weather"}); !errors.Is(err, apps.ErrURI) {
		t.Errorf("a tool that points to a page: %v", err)
	}
	if err := appserver.AddView(s, appserver.View{URI: "https://weather", Name: "x"}, appserver.Static("")); !errors.Is(err, apps.ErrURI) {
		t.Errorf("a view at a page's address: %v", err)
	}
	if err := appserver.AddView(s, appserver.View{URI: "ui://x", Name: "x", UI: apps.View{CSP: &apps.CSP{Frames: []string{"*"}}}}, appserver.Static("")); err == nil {
		t.Error("a view that frames everything")
	}
	if err := s.AddTemplate(server.Template{URITemplate: "ui://weather/{city}", Name: "cities"}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := appserver.Show(s, server.Tool{Name: "x"}, apps.Tool{ResourceURI: "ui://weather/none"}); err != nil {
		t.Errorf("a view of a template: %v", err)
	}
}

func Example() {
	var o server.Options
	appserver.Offer(&o)
	s := server.New(server.Info{Name: "weather", Version: "1"}, o)
	if err := appserver.AddView(s, appserver.View{URI: "ui://weather/map", Name: "map"}, appserver.Static("<!doctype html>…")); err != nil {
		panic(err)
	}
	tool, err := appserver.Show(s, server.Tool{Name: "forecast"}, apps.Tool{ResourceURI: "ui://weather/map"})
	if err != nil {
		panic(err)
	}
	err = server.AddTool(s, tool, func(_ *server.Context, in struct{ City string }) (string, error) {
		return "Sunny in " + in.City, nil // what hosts without views show
	})
	fmt.Println(string(tool.Meta), err)
	// Output: {"ui":{"resourceUri":"ui://weather/map"}} <nil>
}

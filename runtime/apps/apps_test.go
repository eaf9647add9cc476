package apps_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/apps"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// W37.1, W5.11
func TestWhoShowsViews(t *testing.T) {
	for capabilities, want := range map[string]bool{
		`{"extensions":{"io.modelcontextprotocol/ui":` + string(apps.ClientSettings()) + `}}`:                          true,
		`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/x","TEXT/HTML; Profile=mcp-app"],"more":1}}}`: true,
		`{"extensions":{"io.modelcontextprotocol/ui":` + string(apps.ClientSettings("text/html;profile=other")) + `}}`: false,
		`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":"text/html;profile=mcp-app"}}}`:                      false,
		`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":[1,null]}}}`:                                         false,
		`{"extensions":{"io.modelcontextprotocol/ui":{}}}`:                                                             false,
		`{"extensions":{"io.modelcontextprotocol/ui":null}}`:                                                           false,
		`{"experimental":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`:                  false,
		`{}`: false, ``: false, `null`: false,
	} {
		if got := apps.Shown([]byte(capabilities)); got != want {
			t.Errorf("%s: %v", capabilities, got)
		}
	}
}

func TestWhatAToolSays(t *testing.T) {
	for name, tc := range map[string]struct {
		meta, uri  string
		model, app bool
		ok         bool
	}{
		"nothing":                          {`{}`, "", true, true, false},
		"no _meta":                         {``, "", true, true, false},
		"a view":                           {`{"ui":{"resourceUri":"ui://a/b"}}`, "ui://a/b", true, true, true},
		"a view, as it used to be said":    {`{"ui/resourceUri":"ui://a/b"}`, "ui://a/b", true, true, true},
		"both ways: the new one":           {`{"ui":{"resourceUri":"ui://new"},"ui/resourceUri":"ui://old"}`, "ui://new", true, true, true},
		"for the app":                      {`{"ui":{"visibility":["app"]}}`, "", false, true, true},
		"for the model":                    {`{"ui":{"visibility":["model"]}}`, "", true, false, true},
		"for both":                         {`{"ui":{"visibility":["app","model","other"]}}`, "", true, true, true},
		"for nobody":                       {`{"ui":{"visibility":[]}}`, "", false, false, true},
		"a visibility that cannot be read": {`{"ui":{"visibility":"app"}}`, "", false, false, true},
		"a visibility of null":             {`{"ui":{"visibility":null}}`, "", true, true, true},
		"ui that is no object":             {`{"ui":"x"}`, "", true, true, false},
		"an address that is no text":       {`{"ui":{"resourceUri":7}}`, "", true, true, true},
		"a name in another letter case":    {`{"UI":{"visibility":["app"]}}`, "", true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := apps.ToolOf([]byte(tc.meta))
			if got.ResourceURI != tc.uri || got.For(apps.Model) != tc.model || got.For(apps.App) != tc.app || ok != tc.ok {
				t.Errorf("%+v, %v", got, ok)
			}
		})
	}
}

func TestWhatIsSaidOfATool(t *testing.T) {
	for name, tc := range map[string]struct {
		meta string
		tool apps.Tool
		want string
	}{
		"from nothing":       {"", apps.Tool{ResourceURI: "ui://a/b"}, `{"ui":{"resourceUri":"ui://a/b"}}`},
		"beside the rest":    {`{"x":1.0}`, apps.Tool{ResourceURI: "ui://a", Visibility: []apps.Audience{apps.App}}, `{"x":1.0,"ui":{"resourceUri":"ui://a","visibility":["app"]}}`},
		"in place":           {`{"ui":{"old":1},"x":2}`, apps.Tool{}, `{"ui":{},"x":2}`},
		"_meta that is none": {`[]`, apps.Tool{}, "!apps: _meta"},
		"another address":    {"", apps.Tool{ResourceURI: "https://a"}, "!" + apps.ErrURI.Error()},
		"no address":         {"", apps.Tool{ResourceURI: "ui://"}, "!" + apps.ErrURI.Error()},
		"with a blank":       {"", apps.Tool{ResourceURI: "ui://a b"}, "!" + apps.ErrURI.Error()},
		"for nobody":         {"", apps.Tool{Visibility: []apps.Audience{}}, "!" + apps.ErrVisibility.Error()},
		"for somebody else":  {"", apps.Tool{Visibility: []apps.Audience{"all"}}, "!" + apps.ErrVisibility.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.tool.Put(json.RawMessage(tc.meta))
			text := string(got)
			if err != nil {
				text = "!" + err.Error()
			}
			if text != tc.want && !(err != nil && strings.HasPrefix(text, tc.want)) {
				t.Errorf("got %s, want %s", text, tc.want)
			}
		})
	}
}

func TestAHostHidesWhatIsNotForTheModel(t *testing.T) {
	tools := []json.RawMessage{
		json.RawMessage(`{"name":"both"}`),
		json.RawMessage(`{"name":"app","_meta":{"ui":{"resourceUri":"ui://gone","visibility":["app"]}}}`),
		json.RawMessage(`{"name":"model","_meta":{"ui":{"resourceUri":"ui://there","visibility":["model"]}}}`),
	}
	var names []string
	for _, tool := range apps.ForModel(tools) {
		raw, _ := strictjson.Get(tool, "name")
		names = append(names, string(raw))
	}
	if diff := cmp.Diff([]string{`"both"`, `"model"`}, names); diff != "" || len(tools) != 3 {
		t.Error(diff)
	}
	if apps.MayCall(tools[2], apps.App) || !apps.MayCall(tools[1], apps.App) || !apps.MayCall(tools[0], apps.App) {
		t.Error("what an app may call")
	}
	if diff := cmp.Diff([]string{"app"}, apps.Dangling(tools, func(uri string) bool { return uri == "ui://there" })); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAViewWantsAndMayHave(t *testing.T) {
	yes := true
	full := apps.View{
		CSP: &apps.CSP{
			Connect: []string{"https://api.example.com", "wss://live.example.com:8443"}, Resources: []string{"https://*.cdn.example.com"},
			Frames: []string{"https://www.example.com"}, BaseURIs: []string{"https://base.example.com"},
		},
		Permissions: apps.Permissions{Camera: true, ClipboardWrite: true}, Domain: "x.example.com", PrefersBorder: &yes,
	}
	raw, err := full.Put(json.RawMessage(`{"k":1}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"k":1,"ui":{"csp":{"connectDomains":["https://api.example.com","wss://live.example.com:8443"],"resourceDomains":["https://*.cdn.example.com"],"frameDomains":["https://www.example.com"],"baseUriDomains":["https://base.example.com"]},"permissions":{"camera":{},"clipboardWrite":{}},"domain":"x.example.com","prefersBorder":true}}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
	if diff := cmp.Diff(full, apps.ViewOf(raw)); diff != "" {
		t.Error(diff)
	}
	for name, tc := range map[string]struct {
		view apps.View
		want string
	}{
		"everything": {full, "default-src 'none'; script-src 'self' 'unsafe-inline' https://*.cdn.example.com; style-src 'self' 'unsafe-inline' https://*.cdn.example.com; img-src 'self' data: https://*.cdn.example.com; media-src 'self' data: https://*.cdn.example.com; font-src 'self' https://*.cdn.example.com; connect-src 'self' https://api.example.com wss://live.example.com:8443; frame-src https://www.example.com; object-src 'none'; base-uri https://base.example.com"},
		"nothing":    {apps.View{}, "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'"},
	} {
		if got := tc.view.Policy(); got != tc.want {
			t.Errorf("%s: got %s", name, got)
		}
	}
	if got := full.Permissions.Allow(); got != "camera; clipboard-write" {
		t.Errorf("allow=%q", got)
	}
}

// A view must not write its own policy.
func TestWhatIsNoOriginIsLeftOut(t *testing.T) {
	for _, evil := range []string{"*", "'unsafe-eval'", "https://a.example; script-src *", "https://a.example/path", "https://a.example?x", "https://u@a.example", "javascript:alert(1)", "data:", "a.example", "https://", "https://*", "https://a.*.example", "https://a example", "https://a.example\n", "https://a.example#", "https://a,b", ""} {
		encoded, _ := json.Marshal(map[string]any{"ui": map[string]any{"csp": map[string]any{"connectDomains": []any{evil, 1, "https://ok.example"}}}})
		v := apps.ViewOf(encoded)
		if got := fmt.Sprint(v.CSP.Connect); got != "[https://ok.example]" {
			t.Errorf("%q: %s", evil, got)
		}
		if _, err := (apps.View{CSP: &apps.CSP{Frames: []string{evil}}}).Put(nil); err == nil {
			t.Errorf("%q was written", evil)
		}
	}
}

// A view without end of wishes gets so many of each.
func TestOriginsOfAViewAreBounded(t *testing.T) {
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprintf("https://h%d.example", i)
	}
	encoded, _ := json.Marshal(map[string]any{"ui": map[string]any{"csp": map[string]any{"connectDomains": many, "frameDomains": many}}})
	if v := apps.ViewOf(encoded); len(v.CSP.Connect) != 64 || len(v.CSP.Frames) != 64 || v.CSP.Connect[63] != many[63] {
		t.Errorf("%d and %d origins", len(v.CSP.Connect), len(v.CSP.Frames))
	}
}

func TestAViewThatCannotBeReadWantsNothing(t *testing.T) {
	for _, meta := range []string{``, `null`, `{"ui":1}`, `{"ui":{"csp":[],"permissions":{"camera":true},"prefersBorder":"yes","domain":1}}`} {
		if diff := cmp.Diff(apps.View{}, apps.ViewOf([]byte(meta))); diff != "" {
			t.Errorf("%s: %s", meta, diff)
		}
	}
}

func FuzzViewOf(f *testing.F) {
	f.Add(`{"ui":{"csp":{"connectDomains":["https://a.example"],"resourceDomains":["https://*.b"]},"permissions":{"camera":{}}}}`)
	f.Add(`{"ui":{"csp":{"frameDomains":["https://a;b"]}}}`)
	f.Fuzz(func(t *testing.T, meta string) {
		v := apps.ViewOf([]byte(meta))
		if directives := strings.Count(v.Policy(), ";"); directives > 9 || strings.ContainsAny(v.Policy(), "\r\n,\"") {
			t.Errorf("a policy of its own: %s", v.Policy())
		}
		if _, err := v.Put(nil); err != nil && !strings.Contains(err.Error(), "encod") {
			t.Errorf("what was read cannot be written: %v", err)
		}
		tool, _ := apps.ToolOf([]byte(meta))
		_ = tool.For(apps.Model)
	})
}

func ExampleForModel() {
	tools := []json.RawMessage{
		json.RawMessage(`{"name":"get_weather","_meta":{"ui":{"resourceUri":"ui://weather/map"}}}`),
		json.RawMessage(`{"name":"refresh","_meta":{"ui":{"visibility":["app"]}}}`),
	}
	for _, tool := range apps.ForModel(tools) {
		fmt.Println(string(tool))
	}
	// Output: {"name":"get_weather","_meta":{"ui":{"resourceUri":"ui://weather/map"}}}
}

package lint

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
	"github.com/fairlead-dev/fairlead/sidecar/inspect"
)

var update = flag.Bool("update", false, "write docs/reference/lint.md")

func TestPageOfRulesIsMadeFromThem(t *testing.T) {
	const page = "../../docs/reference/lint.md"
	if *update {
		if err := os.WriteFile(page, []byte(Page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != Page() {
		t.Errorf("run go test ./sidecar/lint -update: %v", err)
	}
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] || r.What == "" {
			t.Errorf("rule %q is there twice or says nothing", r.ID)
		}
		seen[r.ID] = true
	}
}

// Our own server, with a tool that is described well, breaks no rule of any
// level but those about words.
func TestAGoodServerBreaksNoRule(t *testing.T) {
	s := server.New(server.Info{Name: "shop", Version: "1"}, server.Options{})
	t.Cleanup(s.Close)
	type in struct {
		Item string `json:"item" jsonschema:"What to look for"`
	}
	type out struct {
		Price int `json:"price" jsonschema:"In cents"`
	}
	description := "Tells the price of an item. Use it before an order; not for stock. Gives the price in cents, or an error."
	tool := server.Tool{Name: "item_price", Description: description, Annotations: &server.ToolAnnotations{ReadOnlyHint: true}}
	if err := server.AddTool(s, tool, func(*server.Context, in) (out, error) { return out{5}, nil }); err != nil {
		t.Fatal(err)
	}
	ring := &seal.Keyring{Server: "x"}
	if err := ring.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	front := &streamable.Server{Handler: s, Keys: ring}
	web := httptest.NewServer(front)
	t.Cleanup(func() { _ = front.Shutdown(context.Background(), nil); web.Close() })
	for _, revision := range []string{"", "2025-11-25", "2025-06-18", "2025-03-26"} {
		found, err := Run(t.Context(), inspect.Target{URL: web.URL + "/mcp", Revision: revision})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if f.Level != Note {
				t.Errorf("revision %q: %+v", revision, f)
			}
		}
	}
}

// bad answers as a server of 2026-07-28 that does everything wrong.
type bad struct{ asked atomic.Int64 }

const (
	badTools = `{"name":"search","description":"","inputSchema":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]},"annotations":{"readOnlyHint":true}},
		{"name":"search","description":"Looks","inputSchema":{"type":"array"}},
		{"name":"bad name","description":"Looks","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}},
		{"name":"now","description":"Tells the time","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["t"]},"annotations":{"readOnlyHint":true}},
		{"name":"out","description":"Looks","inputSchema":{"type":"object"},"outputSchema":{"type":7}}`
	badPrompts = `{"name":"p","arguments":[{"name":"a"}]}`
)

func (b *bad) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		fmt.Fprint(w, "hello")
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name string }
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, b.answer(r, m.Method, m.Params.Name))
}

func (b *bad) answer(r *http.Request, method, name string) string {
	n := b.asked.Add(1)
	switch method {
	case "server/discover":
		return `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"prompts":{},"resources":{}},"ttlMs":0,"cacheScope":"private"}`
	case "tools/list":
		tools := badTools
		if r.Header.Get("Authorization") == "" {
			tools = `{"name":"search","inputSchema":{"type":"object"}}`
		}
		return `"result":{"resultType":"complete","tools":[` + tools + `],"cacheScope":"public"}`
	case "prompts/list":
		return `"result":{"resultType":"complete","prompts":[` + badPrompts + `],"nextCursor":"again","ttlMs":1,"cacheScope":"private"}`
	case "resources/list":
		return fmt.Sprintf(`"result":{"resultType":"complete","resources":[{"uri":"x://%d","name":"x"}],"ttlMs":1,"cacheScope":"private"}`, n)
	case "resources/templates/list":
		return `"result":{"resultType":"complete","resourceTemplates":[{"uriTemplate":"x://{","name":"t"}],"ttlMs":1,"cacheScope":"private"}`
	case "resources/read":
		return `"result":{"resultType":"complete","contents":[],"ttlMs":1,"cacheScope":"private"}`
	case "prompts/get":
		return `"result":{"resultType":"complete","messages":[]}`
	case "tools/call":
		if name == "search" {
			return `"error":{"code":-32603,"message":"KeyError"}`
		}
		return `"result":{"resultType":"complete","content":[]}`
	}
	return `"result":{"resultType":"complete"}`
}

// Every rule that a server can be seen to break finds this one. P35: what is
// judgement is never more than a note.
func TestABadServerBreaksTheRules(t *testing.T) {
	web := httptest.NewServer(&bad{})
	t.Cleanup(web.Close)
	found, err := Run(t.Context(), inspect.Target{URL: web.URL, Header: http.Header{"Authorization": {"Bearer x"}}})
	if err != nil {
		t.Fatal(err)
	}
	broken := map[string]bool{}
	for _, f := range found {
		broken[f.Rule] = true
		if f.Place == "" || f.Message == "" {
			t.Errorf("%+v tells nothing", f)
		}
	}
	// Not by this server: too many tools or resources, and hints, which it has.
	cannot := []string{toolCount.ID, resourceMany.ID, toolHints.ID}
	for _, r := range Rules() {
		if !broken[r.ID] && !slices.Contains(cannot, r.ID) {
			t.Errorf("%s (%s) is not found", r.ID, r.What)
		}
	}
	if !Failed(found) {
		t.Error("there is no failure")
	}
	var out strings.Builder
	if err := Text(&out, found); err != nil || !strings.HasPrefix(out.String(), "failure ") || !strings.Contains(out.String(), " failures, ") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

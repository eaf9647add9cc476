package mcp_test

import (
	"slices"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// W4.3, D1: initialize is never answered with a revision without handshake.
func TestNegotiate(t *testing.T) {
	for requested, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "2027-03-01": "2025-11-25", "1999-01-01": "2025-11-25", "": "2025-11-25", "latest": "2025-11-25",
	} {
		if got := mcp.Negotiate(requested); got.Revision != want || !got.Handshake {
			t.Errorf("%q: got %s", requested, got.Revision)
		}
	}
}

func TestRevisionLists(t *testing.T) {
	if got := mcp.Revisions(); !slices.Equal(got, []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
		t.Error(got)
	}
	if got := mcp.Modern(); !slices.Equal(got, []string{"2026-07-28"}) {
		t.Error(got)
	}
	if got := mcp.Legacy(); len(got) != 4 || slices.Contains(got, "2026-07-28") {
		t.Error(got)
	}
	if _, ok := mcp.Lookup("2025-06-19"); ok {
		t.Error("an unknown revision was found")
	}
}

func TestClaimsModern(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "2025-11-25": false, "2026-07-28": true, "2027-03-01": true, "2026-07-27": false, "v999": false, "9": false, "2026-13-99x": false, "20260728ab": false,
	} {
		if got := mcp.ClaimsModern(header); got != want {
			t.Errorf("%q: got %v", header, got)
		}
	}
}

// Appendix 1 of the wire rules: which revision has which method.
func TestMethodTable(t *testing.T) {
	all := []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
	legacy, tasks1, modern := all[:4], all[3:4], all[4:]
	for method, revisions := range map[string][]string{
		"initialize": legacy, "ping": legacy, "server/discover": modern,
		"tools/list": all, "tools/call": all, "prompts/list": all, "prompts/get": all,
		"resources/list": all, "resources/templates/list": all, "resources/read": all,
		"resources/subscribe": legacy, "resources/unsubscribe": legacy, "subscriptions/listen": modern,
		"completion/complete": all, "logging/setLevel": legacy,
		"tasks/get": {all[3], all[4]}, "tasks/cancel": {all[3], all[4]}, "tasks/result": tasks1, "tasks/list": tasks1, "tasks/update": modern,
		"sampling/createMessage": nil, "elicitation/create": nil, "roots/list": nil, "no/such": nil,
	} {
		for _, revision := range all {
			p, _ := mcp.Lookup(revision)
			m, got := p.Method(method)
			if want := slices.Contains(revisions, revision); got != want || got && m.Name != method {
				t.Errorf("%s in %s: got %v", method, revision, got)
			}
		}
	}
	for method, revisions := range map[string][]string{"sampling/createMessage": legacy, "roots/list": legacy, "elicitation/create": all[2:4], "tools/call": nil} {
		for _, revision := range all {
			p, _ := mcp.Lookup(revision)
			if _, got := p.Reverse(method); got != slices.Contains(revisions, revision) {
				t.Errorf("%s from the server in %s: got %v", method, revision, got)
			}
		}
	}
}

// W15 table, W32.2, W34.1
func TestMethodTraits(t *testing.T) {
	p, _ := mcp.Lookup("2026-07-28")
	for method, want := range map[string]mcp.Method{
		"tools/call":      {Needs: "tools", NameParam: "name", InputRequired: true, Attributable: true},
		"prompts/get":     {Needs: "prompts", NameParam: "name", InputRequired: true, Attributable: true},
		"resources/read":  {Needs: "resources", NameParam: "uri", InputRequired: true, Attributable: true, Cached: true},
		"tools/list":      {Needs: "tools", Cached: true},
		"server/discover": {Cached: true},
		"tasks/get":       {NameParam: "taskId", Extension: "io.modelcontextprotocol/tasks"},
	} {
		want.Name = method
		if got, _ := p.Method(method); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	cached := 0
	for _, name := range []string{"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "tools/call", "prompts/get", "completion/complete"} {
		if m, _ := p.Method(name); m.Cached {
			cached++
		}
	}
	if cached != 6 {
		t.Errorf("%d methods carry caching hints", cached)
	}
	for name, want := range map[string]bool{"subscriptions/listen": true, "tasks/get": true, "tasks/update": true, "vendor/own": true, "tasks/list": false, "ping": false, "roots/list": false} {
		if got := p.Serves(name); got != want {
			t.Errorf("%s is served: %v", name, got)
		}
	}
	a, _ := mcp.Lookup("2024-11-05")
	if m, _ := a.Method("completion/complete"); m.Needs != "" {
		t.Error("2024-11-05 has no completions capability") // W28.1
	}
	if !mcp.KnownMethod("notifications/progress") || !mcp.KnownMethod("roots/list") || mcp.KnownMethod("x") {
		t.Error("KnownMethod")
	}
}

// P17: revision and binding are two axes.
func TestWires(t *testing.T) {
	for _, revision := range mcp.Revisions() {
		p, _ := mcp.Lookup(revision)
		streamable, sse := p.On(mcp.Streamable), p.On(mcp.HTTPSSE)
		if !streamable.Served || !p.On(mcp.Stdio).Served {
			t.Errorf("%s is not served", revision)
		}
		if sse.Served != p.Handshake || sse.EventIDs {
			t.Errorf("%s on HTTP+SSE: %+v", revision, sse)
		}
		if streamable.EventIDs != p.Handshake || streamable.PinnedStatus == p.Handshake || streamable.DisconnectCancels == p.Handshake {
			t.Errorf("%s on streamable HTTP: %+v", revision, streamable)
		}
		if w := p.On(mcp.Stdio); w.EventIDs || w.MirrorHeaders || w.DisconnectCancels {
			t.Errorf("%s on stdio: %+v", revision, w)
		}
	}
	for revision, want := range map[string]mcp.Priming{
		"2024-11-05": mcp.PrimeNamed, "2025-03-26": mcp.PrimeNamed, "2025-06-18": mcp.PrimeNamed, "2025-11-25": mcp.PrimeEmpty, "2026-07-28": mcp.PrimeNone,
	} {
		p, _ := mcp.Lookup(revision)
		if got := p.On(mcp.Streamable).Priming; got != want {
			t.Errorf("%s: priming %d, want %d", revision, got, want) // P3
		}
	}
}

func TestCapabilities(t *testing.T) {
	caps := []byte(`{"tools":{},"resources":{"subscribe":true},"prompts":null,"logging":false,"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
	for c, want := range map[mcp.Capability]bool{
		mcp.CapTools: true, mcp.CapResources: true, mcp.CapSubscribe: true, mcp.CapPrompts: false, mcp.CapLogging: false, mcp.CapCompletions: false, "": true,
	} {
		if got := c.Declared(caps); got != want {
			t.Errorf("%q: got %v", c, got)
		}
	}
	if !mcp.DeclaresExtension(caps, mcp.ExtensionTasks) || mcp.DeclaresExtension(caps, "x") {
		t.Error("extensions")
	}
	if mcp.CapSubscribe.Declared([]byte(`{"resources":{"subscribe":false}}`)) {
		t.Error("subscribe: false is declared")
	}
}

// W30.1
func TestElicitationModes(t *testing.T) {
	for caps, want := range map[string][3]bool{ // "", form, url
		`{}`:                                   {},
		`{"elicitation":{}}`:                   {true, true, false},
		`{"elicitation":{"form":{}}}`:          {true, true, false},
		`{"elicitation":{"url":{}}}`:           {false, false, true},
		`{"elicitation":{"form":{},"url":{}}}`: {true, true, true},
		`{"elicitation":null}`:                 {},
	} {
		for i, mode := range []string{"", "form", "url"} {
			if got := mcp.ElicitationMode([]byte(caps), mode); got != want[i] {
				t.Errorf("%s mode %q: got %v", caps, mode, got)
			}
		}
	}
}

// P14
func TestStripClientMeta(t *testing.T) {
	raw := `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1.0,"_meta":{"dev.fairlead/user":"root","io.modelcontextprotocol/subscriptionId":1,"io.modelcontextprotocol/related-task":{},"io.modelcontextprotocol/serverInfo":{},"traceparent":"t","com.example/x":1}}}`
	meta := raw[len(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1.0,"_meta":`) : len(raw)-2]
	got, err := mcp.StripClientMeta([]byte(raw), []byte(meta))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1.0,"_meta":{"traceparent":"t","com.example/x":1}}}`; string(got) != want {
		t.Errorf("got %s", got)
	}
	if mcp.VendorPrefix != "dev.fairlead/" {
		t.Error(mcp.VendorPrefix)
	}
	same := []byte(`{"params":{"_meta":{"traceparent":"t"}}}`)
	if got, _ := mcp.StripClientMeta(same, []byte(`{"traceparent":"t"}`)); &got[0] != &same[0] {
		t.Error("an untouched message was copied")
	}
}

func TestLogLevels(t *testing.T) {
	if mcp.LogSeverity("debug") != 1 || mcp.LogSeverity("emergency") != 8 || mcp.LogLevel("verbose") || mcp.LogLevel("") {
		t.Error("levels") // W23.10
	}
}

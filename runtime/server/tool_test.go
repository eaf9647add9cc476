package server_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type weatherIn struct {
	City string `json:"city" jsonschema:"name of the city"`
	Days int    `json:"days,omitempty" schema:"min=1,max=7,default=3"`
	Unit string `json:"unit,omitempty" schema:"enum=C|F,default=C"`
}

type weatherOut struct {
	City  string    `json:"city"`
	Temps []float64 `json:"temps"`
}

func weather(t *testing.T) *server.Server {
	s := server.New(server.Info{Name: "weather", Version: "1.2", Title: "Weather", Instructions: "Ask."}, server.Options{})
	must(t, server.AddTool(s, server.Tool{Name: "forecast", Title: "Forecast", Description: "what comes"}, func(_ *server.Context, in weatherIn) (weatherOut, error) {
		if in.City == "nowhere" {
			return weatherOut{}, errors.New("no such city")
		}
		if in.City == "forbidden" {
			return weatherOut{}, jsonrpc.Errorf(-31000, "not for you")
		}
		if in.City == "panic" {
			panic("boom")
		}
		return weatherOut{City: in.City + in.Unit, Temps: make([]float64, in.Days)}, nil
	}))
	must(t, s.AddTool(server.Tool{Name: "echo"}, func(_ *server.Context, args json.RawMessage) (server.ToolOutcome, error) {
		return server.TextResult(string(args)), nil
	}))
	return s
}

// W4.5, W5.4, W5.5, W5.6: what initialize and server/discover say.
func TestTheServerDescribesItselfInEveryRevision(t *testing.T) {
	each(t, func() *server.Server { return weather(t) }, `{}`, func(t *testing.T, p *peer) {
		said := p.opened
		if p.modern {
			said = p.must("server/discover", "")
		}
		if got := field(said, "instructions"); got != "Ask." {
			t.Errorf("instructions: %s", got)
		}
		if got := field(said, "capabilities", "tools", "listChanged"); got != "true" {
			t.Errorf("tools: %s", got)
		}
		for _, absent := range []string{"prompts", "resources", "completions", "tasks"} {
			if got := field(said, "capabilities", absent); got != "none" {
				t.Errorf("%s: %s, but nothing is registered", absent, got)
			}
		}
		info := json.RawMessage(field(said, "serverInfo"))
		if p.modern {
			if string(info) != "none" {
				t.Errorf("serverInfo stands at the top: %s", info)
			}
			info = json.RawMessage(field(said, "_meta", mcp.MetaServerInfo))
			if got := field(said, "supportedVersions", 0); got != p.revision {
				t.Errorf("supportedVersions: %s", got)
			}
		}
		wantTitle := "Weather"
		if profile, _ := mcp.Lookup(p.revision); !profile.Titles {
			wantTitle = "none"
		}
		if got := field(info, "title"); got != wantTitle || field(info, "name") != "weather" {
			t.Errorf("serverInfo %s, want title %s", info, wantTitle)
		}
	})
}

// W24.7, W24.8, W3.1, W3.2, W3.4
func TestATypedToolAnswersInEveryRevision(t *testing.T) {
	each(t, func() *server.Server { return weather(t) }, `{}`, func(t *testing.T, p *peer) {
		result := p.must("tools/call", `{"name":"forecast","arguments":{"city":"Oslo","days":2}}`)
		profile, _ := mcp.Lookup(p.revision)
		want := `{"city":"OsloC","temps":[0,0]}`
		if got := field(result, "content", 0, "text"); got != want {
			t.Errorf("text %s", got)
		}
		if !profile.StructuredOutput {
			want = "none"
		}
		if got := field(result, "structuredContent"); got != want {
			t.Errorf("structured %s, want %s", got, want)
		}
		kind, name := "none", "none"
		if p.modern {
			kind, name = "complete", "weather"
		}
		if field(result, "resultType") != kind || field(result, "_meta", mcp.MetaServerInfo, "name") != name {
			t.Errorf("envelope of %s", result)
		}
	})
}

// W24.11, W24.12
func TestArgumentsThatDoNotFitAreToldAsTheRevisionWantsIt(t *testing.T) {
	each(t, func() *server.Server { return weather(t) }, `{}`, func(t *testing.T, p *peer) {
		profile, _ := mcp.Lookup(p.revision)
		for _, args := range []string{`{"city":5}`, `{}`, `{"city":"x","days":8}`, `{"city":"x","unit":"K"}`, `{"city":"x","more":1}`, `{"City":"x"}`} {
			result, err := p.call("tools/call", `{"name":"forecast","arguments":`+args+`}`)
			switch {
			case profile.InputErrorsInResult && (err != nil || field(result, "isError") != "true"):
				t.Errorf("%s: got %s %v, want a result with isError", args, result, err)
			case !profile.InputErrorsInResult && (err == nil || err.Code != -32602):
				t.Errorf("%s: got %s %v, want -32602", args, result, err)
			}
		}
		if err := p.fails("tools/call", `{"name":"nope"}`); err.Code != -32602 {
			t.Errorf("unknown tool: %v", err)
		}
		if err := p.fails("tools/call", `{"name":"echo","arguments":[]}`); err.Code != -32602 {
			t.Errorf("arguments of the wrong kind: %v", err)
		}
	})
}

func TestErrorsOfAHandler(t *testing.T) {
	each(t, func() *server.Server { return weather(t) }, `{}`, func(t *testing.T, p *peer) {
		result := p.must("tools/call", `{"name":"forecast","arguments":{"city":"nowhere"}}`)
		if field(result, "isError") != "true" || field(result, "content", 0, "text") != "no such city" {
			t.Errorf("tool error: %s", result)
		}
		if err := p.fails("tools/call", `{"name":"forecast","arguments":{"city":"forbidden"}}`); err.Code != -31000 {
			t.Errorf("protocol error: %v", err)
		}
		if err := p.fails("tools/call", `{"name":"forecast","arguments":{"city":"panic"}}`); err.Code != -32603 || strings.Contains(err.Message, "boom") {
			t.Errorf("panic: %v", err)
		}
		if got := field(p.must("tools/call", `{"name":"echo","arguments":null}`), "content", 0, "text"); got != "{}" {
			t.Errorf("null arguments: %s", got) // R7
		}
	})
}

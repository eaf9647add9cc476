package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

// allSorts is a server with something of everything.
func allSorts(t *testing.T) *server.Server {
	t.Helper()
	s := server.New(server.Info{Name: "sorts", Version: "1"}, server.Options{PageSize: 2})
	type in struct {
		N int `json:"n"`
	}
	type out struct {
		Twice int `json:"twice"`
	}
	for _, err := range []error{
		server.AddTool(s, server.Tool{Name: "double"}, func(_ *server.Context, in in) (out, error) { return out{2 * in.N}, nil }),
		server.AddTool(s, server.Tool{Name: "steps"}, func(c *server.Context, in in) (string, error) {
			for i := range in.N {
				if err := c.Progress(float64(i+1), float64(in.N), "step"); err != nil {
					return "", err
				}
			}
			return "done", c.Log(server.LevelInfo, "steps", map[string]int{"n": in.N})
		}),
		server.AddTool(s, server.Tool{Name: "fail"}, func(*server.Context, in) (string, error) { return "", errors.New("no luck") }),
		server.AddTool(s, server.Tool{Name: "panic"}, func(*server.Context, in) (string, error) { panic("as wanted") }),
		server.AddTool(s, server.Tool{Name: "wait"}, func(c *server.Context, _ struct{}) (string, error) {
			<-c.Done()
			return "", c.Err()
		}),
		server.AddTool(s, server.Tool{Name: "ask"}, func(c *server.Context, _ struct{}) (string, error) {
			r, err := c.Elicit("q", server.ElicitParams{Message: "name?", Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
			if err != nil {
				return "", err
			}
			return string(r.Action) + " " + string(r.Content), nil
		}),
		s.AddPrompt(server.Prompt{Name: "greet", Arguments: []server.PromptArgument{{Name: "who", Required: true}}}, func(_ *server.Context, args map[string]string) (server.PromptOutcome, error) {
			return server.PromptText("hello " + args["who"]), nil
		}),
		s.AddResource(server.Resource{URI: "test://a", Name: "a"}, func(*server.Context, server.ReadRequest) (server.ResourceOutcome, error) {
			return server.TextResource("text/plain", "line\r\nline\u2028end"), nil
		}),
		s.AddTemplate(server.Template{URITemplate: "test://t/{x}", Name: "t"}, func(_ *server.Context, r server.ReadRequest) (server.ResourceOutcome, error) {
			return server.BlobResource("application/octet-stream", []byte(r.Vars["x"])), nil
		}),
		s.AddCompletion(server.PromptRef("greet"), "who", func(_ *server.Context, r server.CompleteRequest) (server.Completion, error) {
			return server.Completion{Values: []string{r.Value + "a", r.Value + "b"}}, nil
		}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// cursors are sealed with a key of each server's own.
var cursors = regexp.MustCompile(`"nextCursor":"[^"]*"`)

func withoutCursor(answer string) string {
	return cursors.ReplaceAllString(answer, `"nextCursor":"…"`)
}

// The same server answers the same over every transport. P35, P17
func TestParity(t *testing.T) {
	mcptest.Parity(t, func() dispatch.Server { return allSorts(t) }, client.Options{
		Handlers: client.Handlers{Elicit: func(context.Context, client.ElicitRequest) (client.ElicitResult, error) {
			return client.ElicitResult{Action: client.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}, nil
		}},
	}, nil, []mcptest.Ask{
		{Method: "tools/list", Scrub: withoutCursor},
		{Method: "tools/list", Params: `{"cursor":"nonsense"}`},
		{Method: "tools/call", Params: `{"name":"double","arguments":{"n":21}}`},
		{Method: "tools/call", Params: `{"name":"double","arguments":{"n":"x"}}`},
		{Method: "tools/call", Params: `{"name":"double"}`},
		{Method: "tools/call", Params: `{"name":"steps","arguments":{"n":5}}`, Progress: true, Log: "debug"},
		{Method: "tools/call", Params: `{"name":"steps","arguments":{"n":1}}`},
		{Method: "tools/call", Params: `{"name":"fail","arguments":{"n":1}}`},
		{Method: "tools/call", Params: `{"name":"panic","arguments":{"n":1}}`},
		{Method: "tools/call", Params: `{"name":"none"}`},
		{Method: "tools/call", Params: `{"name":"ask","arguments":{}}`},
		{Method: "prompts/list"},
		{Method: "prompts/get", Params: `{"name":"greet","arguments":{"who":"\ud83d\ude00\u0000"}}`},
		{Method: "prompts/get", Params: `{"name":"greet"}`},
		{Method: "resources/list"},
		{Method: "resources/templates/list"},
		{Method: "resources/read", Params: `{"uri":"test://a"}`},
		{Method: "resources/read", Params: `{"uri":"test://t/%C3%A9"}`},
		{Method: "resources/read", Params: `{"uri":"test://none"}`},
		{Method: "completion/complete", Params: `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"x"}}`},
		{Method: "no/such"},
		{Method: "ping"},
	})
}

// A parity run that compares nothing would prove nothing.
func TestParityNotices(t *testing.T) {
	odd := 0
	server := func() dispatch.Server {
		odd++
		n := odd
		return &mcptest.Stub{OnServe: func(context.Context, *dispatch.Exchange) dispatch.Outcome {
			return jsonrpc.Result([]byte(`{"n":` + string(rune('0'+n)) + `}`))
		}}
	}
	var got []string
	for _, way := range []mcptest.Way{mcptest.WayMemory, mcptest.WayStdio} {
		c := mcptest.Connect(t, server(), way, client.Options{Revision: "2025-06-18"})
		raw, err := c.Call(t.Context(), "x/y", nil)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(raw))
	}
	if got[0] == got[1] {
		t.Errorf("two servers are one: %v", got)
	}
}

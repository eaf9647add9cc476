package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/google/go-cmp/cmp"
)

// asks are Handlers that answer everything.
func asks() Handlers {
	return Handlers{
		Sample: func(_ context.Context, r SampleRequest) (SampleResult, error) {
			return SampleResult{Model: "m", Text: joined(r.Messages[0].Content), StopReason: "endTurn"}, nil
		},
		SampleTools: true,
		Elicit: func(_ context.Context, r ElicitRequest) (ElicitResult, error) {
			return ElicitResult{Action: Accept, Content: map[string]any{"name": r.Message}}, nil
		},
		ElicitURL: func(_ context.Context, r ElicitURLRequest) (Action, error) {
			if strings.HasPrefix(r.URL, "https://no") {
				return Decline, nil
			}
			return Accept, nil
		},
		Roots: func(context.Context) ([]Root, error) { return []Root{{URI: "file:///w", Name: "w"}}, nil },
	}
}

const (
	askSample = `{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":10}}`
	askForm   = `{"method":"elicitation/create","params":{"message":"who","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`
	askURL    = `{"method":"elicitation/create","params":{"mode":"url","message":"go","url":"https://x"}}`
	askRoots  = `{"method":"roots/list"}`
)

const (
	saidSample = `{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m","stopReason":"endTurn"}`
	saidForm   = `{"action":"accept","content":{"name":"who"}}`
	saidURL    = `{"action":"accept"}`
	saidRoots  = `{"roots":[{"uri":"file:///w","name":"w"}]}`
)

func input(state string, questions ...string) string {
	out := `{"resultType":"input_required"`
	if len(questions) > 0 {
		out += `,"inputRequests":{` + strings.Join(questions, ",") + `}`
	}
	if state != "" {
		out += `,"requestState":` + state
	}
	return out + `}`
}

// params is the part of a request that a script looks at, without the envelope.
func params(raw string) string {
	var m struct {
		Params map[string]json.RawMessage
	}
	_ = json.Unmarshal([]byte(raw), &m)
	delete(m.Params, "_meta")
	out, _ := json.Marshal(m.Params)
	return string(out)
}

// W32.14, W32.15, W1.13: the retry has the same method and params, this round's
// answers under their keys, the state byte by byte, a new id, and nothing is
// ever sent as a response. W18.4.
func TestRoundsOfQuestions(t *testing.T) {
	rounds := []string{
		input(`"s\u0031"`, `"a b":`+askSample, `"":`+askForm, `"__proto__":`+askURL),
		input(`"s2"`, `"r":`+askRoots),
		input(`"s3"`),
		input("", `"r":`+askRoots),
		`{"resultType":"complete","content":[{"type":"text","text":"done"}]}`,
	}
	want := []string{
		`{"arguments":{"n":1.0},"name":"t"}`,
		`{"arguments":{"n":1.0},"inputResponses":{"a b":` + saidSample + `,"":` + saidForm + `,"__proto__":` + saidURL + `},"name":"t","requestState":"s\u0031"}`,
		`{"arguments":{"n":1.0},"inputResponses":{"r":` + saidRoots + `},"name":"t","requestState":"s2"}`,
		`{"arguments":{"n":1.0},"name":"t","requestState":"s3"}`,
		`{"arguments":{"n":1.0},"inputResponses":{"r":` + saidRoots + `},"name":"t"}`,
	}
	n := 0
	s := modern(func(f *fake, m *jsonrpc.Message) {
		n++
		f.result(m, rounds[n-1])
	})
	bubble(t, s, Options{Handlers: asks()}, func(t *testing.T, c *Client) {
		r, err := c.CallTool(t.Context(), "t", json.RawMessage(`{"n":1.0}`))
		if err != nil || r.Text() != "done" {
			t.Fatal(r, err)
		}
		var got []string
		ids := map[string]bool{}
		for _, raw := range s.last().sent(mcp.MethodToolsCall) {
			got = append(got, params(raw))
			ids[string(member([]byte(raw), "id"))] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if len(ids) != len(rounds) {
			t.Errorf("ids %v", ids)
		}
		if said := s.last().answers(); len(said) != 0 {
			t.Error(said)
		}
	})
}

func TestQuestionsThatAreNotAnswered(t *testing.T) { // W29.9, W32.2, W32.4
	many := make([]string, maxQuestions+1)
	for i := range many {
		many[i] = fmt.Sprintf(`"%d":%s`, i, askRoots)
	}
	for name, tc := range map[string]struct {
		handlers Handlers
		method   string
		result   string
		want     error
		calls    int
	}{
		"nobody answers forms":             {Handlers{Roots: asks().Roots}, mcp.MethodToolsCall, input("", `"q":`+askForm), errUnasked, 1},
		"nobody answers at all":            {Handlers{}, mcp.MethodPromptsGet, input("", `"q":`+askRoots), ErrInputRequired, 1},
		"the user refuses":                 {Handlers{Sample: func(context.Context, SampleRequest) (SampleResult, error) { return SampleResult{}, ErrRejected }}, mcp.MethodToolsCall, input("", `"q":`+askSample), ErrRejected, 1},
		"a kind that does not exist":       {asks(), mcp.MethodToolsCall, input("", `"q":{"method":"ping"}`), errUnasked, 1},
		"neither questions nor a state":    {asks(), mcp.MethodToolsCall, `{"resultType":"input_required"}`, ErrInputRequired, 1},
		"a method that may not ask":        {asks(), mcp.MethodToolsList, input("", `"q":`+askRoots), ErrResultType, 1},
		"without end":                      {asks(), mcp.MethodResourcesRead, input(`"s"`, `"q":`+askRoots), ErrInputRequired, DefaultMaxRounds},
		"come back later, without end":     {asks(), mcp.MethodToolsCall, input(`"s"`), ErrInputRequired, maxEmpty + 1},
		"too many at once":                 {asks(), mcp.MethodToolsCall, input("", many...), ErrInputRequired, 1},
		"an unknown kind of result (W3.3)": {asks(), mcp.MethodToolsCall, `{"resultType":"mystery"}`, ErrResultType, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := modern(func(f *fake, m *jsonrpc.Message) { f.result(m, tc.result) })
			bubble(t, s, Options{Handlers: tc.handlers}, func(t *testing.T, c *Client) {
				_, err := c.Call(t.Context(), tc.method, map[string]any{"name": "x", "uri": "u:x"})
				if !errors.Is(err, tc.want) {
					t.Errorf("%v, want %v", err, tc.want)
				}
				var in *InputError
				if errors.As(err, &in) && (in.Key != "q" || !errors.Is(err, ErrInputRequired)) {
					t.Errorf("%+v", in)
				}
				if n := len(s.last().sent(tc.method)); n != tc.calls {
					t.Errorf("%d requests, want %d", n, tc.calls)
				}
			})
		})
	}
}

// The same Handlers serve the requests of a server with a session (B6, W1.11).
func TestReverseCallsHaveTheSameAnswers(t *testing.T) {
	asked := map[string]string{`"a"`: askSample, `2`: askForm, `"u"`: askURL, `9007199254740993`: askRoots}
	s := legacy(func(f *fake, m *jsonrpc.Message) {
		for id, ask := range asked {
			f.say(`{"jsonrpc":"2.0","id":` + id + `,` + ask[1:])
		}
		f.wg.Go(func() {
			for len(f.answers()) < len(asked) {
				sleepFor(1)
			}
			f.result(m, `{"content":[]}`)
		})
	})
	bubble(t, s, Options{Handlers: asks()}, func(t *testing.T, c *Client) {
		if _, err := c.CallTool(t.Context(), "t", nil); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, raw := range s.last().answers() {
			got[string(member([]byte(raw), "id"))] = string(member([]byte(raw), "result"))
		}
		want := map[string]string{`"a"`: saidSample, `2`: saidForm, `"u"`: saidURL, `9007199254740993`: saidRoots}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRefusedReverseCalls(t *testing.T) {
	two := `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"x","input":{}}]},{"role":"user","content":[%s]}],"maxTokens":1}`
	for name, tc := range map[string]struct {
		handlers Handlers
		method   string
		params   string
		code     int64
	}{
		"nobody samples":                       {Handlers{Roots: asks().Roots}, mcp.MethodCreateMessage, `{"messages":[],"maxTokens":1}`, -32601},
		"nobody lists roots (W31.4)":           {Handlers{Sample: asks().Sample}, mcp.MethodRootsList, `{}`, -32601},
		"nobody elicits":                       {Handlers{Sample: asks().Sample}, mcp.MethodElicit, `{}`, -32601},
		"the user refuses sampling (W29.7)":    {Handlers{Sample: func(context.Context, SampleRequest) (SampleResult, error) { return SampleResult{}, ErrRejected }}, mcp.MethodCreateMessage, `{"messages":[],"maxTokens":1}`, -1},
		"sampling without maxTokens (W29.5)":   {asks(), mcp.MethodCreateMessage, `{"messages":[]}`, -32602},
		"tools that were not declared (W29.3)": {Handlers{Sample: asks().Sample}, mcp.MethodCreateMessage, `{"messages":[],"maxTokens":1,"tools":[]}`, -32602},
		"a mode not declared (W30.15)":         {Handlers{Elicit: asks().Elicit}, mcp.MethodElicit, `{"mode":"url","url":"https://x","message":"m"}`, -32602},
		"forms were not declared":              {Handlers{ElicitURL: asks().ElicitURL}, mcp.MethodElicit, `{"message":"m"}`, -32602},
		"a tool_use without a result (W29.6)":  {asks(), mcp.MethodCreateMessage, fmt.Sprintf(two, `{"type":"text","text":"t"}`), -32602},
		"a result beside a text (W29.6)":       {asks(), mcp.MethodCreateMessage, fmt.Sprintf(two, `{"type":"tool_result","toolUseId":"1"},{"type":"text","text":"t"}`), -32602},
		"a result of something else":           {asks(), mcp.MethodCreateMessage, fmt.Sprintf(two, `{"type":"tool_result","toolUseId":"2"}`), -32602},
		"a tool_use at the end":                {asks(), mcp.MethodCreateMessage, `{"messages":[{"role":"assistant","content":{"type":"tool_use","id":"1"}}],"maxTokens":1}`, -32602},
		"a root that is no file (W31.3)":       {Handlers{Roots: func(context.Context) ([]Root, error) { return []Root{{URI: "http://x"}}, nil }}, mcp.MethodRootsList, `{}`, -32603},
		"a method that only vendors know":      {asks(), "vendor/x", `{}`, -32601},
		"a code of the handler's": {Handlers{Request: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			return nil, jsonrpc.Errorf(7, "x")
		}}, "vendor/x", `{}`, 7},
		"a form filled in with a wrong type":    {Handlers{Elicit: accept(map[string]any{"n": "x"})}, mcp.MethodElicit, `{"message":"m","requestedSchema":{"properties":{"n":{"type":"integer"}}}}`, -32603},
		"a form without what it requires":       {Handlers{Elicit: accept(nil)}, mcp.MethodElicit, `{"message":"m","requestedSchema":{"properties":{"n":{"type":"integer"}},"required":["n"]}}`, -32603},
		"a choice that is none (W30.8)":         {Handlers{Elicit: accept(map[string]any{"n": "c"})}, mcp.MethodElicit, `{"message":"m","requestedSchema":{"properties":{"n":{"type":"string","enum":["a","b"]}}}}`, -32603},
		"an action that does not exist (W30.6)": {Handlers{Elicit: func(context.Context, ElicitRequest) (ElicitResult, error) { return ElicitResult{Action: "maybe"}, nil }}, mcp.MethodElicit, `{"message":"m"}`, -32603},
	} {
		t.Run(name, func(t *testing.T) {
			s := legacy(nil)
			bubble(t, s, Options{Handlers: tc.handlers}, func(t *testing.T, _ *Client) {
				s.last().say(`{"jsonrpc":"2.0","id":1,"method":"` + tc.method + `","params":` + tc.params + `}`)
				sleepFor(1)
				said := s.last().answers()
				if len(said) != 1 {
					t.Fatal(said)
				}
				if code, _ := number([]byte(said[0]), "error", "code"); int64(code) != tc.code {
					t.Error(said[0])
				}
			})
		})
	}
}

func accept(content any) func(context.Context, ElicitRequest) (ElicitResult, error) {
	return func(context.Context, ElicitRequest) (ElicitResult, error) {
		return ElicitResult{Action: Accept, Content: content}, nil
	}
}

func TestDefaultsOfAForm(t *testing.T) { // SEP-1034
	const form = `{"message":"m","requestedSchema":{"type":"object","properties":{
		"s":{"type":"string","default":"x"},"n":{"type":"number","default":1.50},"b":{"type":"boolean","default":false},
		"e":{"type":"string","enum":["a","b"],"default":"b"},"m":{"type":"array","items":{"enum":["p"]},"default":["p"]},"o":{"type":"string"}},"required":["s","n"]}}`
	for name, tc := range map[string]struct {
		filled any
		want   string
	}{
		"nothing filled in":    {nil, `{"action":"accept","content":{"s":"x","n":1.50,"b":false,"e":"b","m":["p"]}}`},
		"what is there stands": {map[string]any{"s": "y", "b": true}, `{"action":"accept","content":{"b":true,"s":"y","n":1.50,"e":"b","m":["p"]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(Options{Handlers: Handlers{Elicit: accept(tc.filled)}})
			got, err := c.elicit(t.Context(), []byte(form))
			if err != nil || string(got) != tc.want {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
	c := newClient(Options{Handlers: Handlers{Elicit: func(context.Context, ElicitRequest) (ElicitResult, error) {
		return ElicitResult{Action: Decline, Content: 1}, nil
	}}})
	if got, err := c.elicit(t.Context(), []byte(form)); err != nil || string(got) != `{"action":"decline"}` {
		t.Errorf("%s, %v", got, err)
	}
}

// W29.1, W30.1, W31.1, W4.12: what is declared follows from the Handlers and
// the revision.
func TestCapabilitiesFollowFromHandlers(t *testing.T) {
	all := asks()
	all.SampleContext = true
	for name, tc := range map[string]struct {
		handlers Handlers
		revision string
		want     string
	}{
		"nothing":                        {Handlers{}, mcp.Revision20260728, `{}`},
		"everything, 2024-11-05":         {all, mcp.Revision20241105, `{"roots":{"listChanged":true},"sampling":{}}`},
		"everything, 2025-06-18":         {all, mcp.Revision20250618, `{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}`},
		"everything, 2025-11-25":         {all, mcp.Revision20251125, `{"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}}}`},
		"everything, 2026-07-28":         {all, mcp.Revision20260728, `{"roots":{},"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}}}`},
		"addresses only, 2025-06-18":     {Handlers{ElicitURL: all.ElicitURL}, mcp.Revision20250618, `{}`},
		"addresses only, 2025-11-25":     {Handlers{ElicitURL: all.ElicitURL}, mcp.Revision20251125, `{"elicitation":{"url":{}}}`},
		"requests of vendors, any other": {Handlers{Request: func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return nil, nil }}, mcp.Revision20251125, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := mcp.Lookup(tc.revision)
			if got := string(newClient(Options{Handlers: tc.handlers}).capabilities(p, nil)); got != tc.want {
				t.Error(got)
			}
		})
	}
	p, _ := mcp.Lookup(mcp.Revision20260728)
	c := newClient(Options{})
	if got := string(c.capabilities(p, map[string]json.RawMessage{"com.x/b": json.RawMessage(`{}`), "com.x/a": json.RawMessage(`{"k":1}`)})); got != `{"extensions":{"com.x/a":{"k":1},"com.x/b":{}}}` { // W5.11
		t.Error(got)
	}
}

func TestAddressesToVisitFirst(t *testing.T) { // W30.14, P28
	for name, tc := range map[string]struct {
		url   string
		fails int // how often the server refuses
		want  string
		calls int
	}{
		"visited, then served":        {"https://x", 1, "", 2},
		"given a moment, then served": {"https://x", 2, "", 3},
		"never done":                  {"https://x", 9, "visit first", 3},
		"declined":                    {"https://no", 9, "rejected by the user", 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			s := legacy(func(f *fake, m *jsonrpc.Message) {
				if n++; n <= tc.fails {
					f.fail(m, mcp.CodeURLElicitation, "visit first", `{"elicitations":[{"mode":"url","elicitationId":"e","url":"`+tc.url+`","message":"m"}]}`)
					return
				}
				f.result(m, `{"content":[]}`)
			})
			bubble(t, s, Options{Handlers: asks()}, func(t *testing.T, c *Client) {
				_, err := c.CallTool(t.Context(), "t", nil)
				if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
					t.Error(err)
				}
				if n != tc.calls {
					t.Errorf("%d calls", n)
				}
			})
		})
	}
}

// P18: of many questions so many are answered at a time.
func TestSomeQuestionsAreAnsweredAtATime(t *testing.T) {
	const asked = 3 * maxParallel
	var questions []string
	for i := range asked {
		questions = append(questions, fmt.Sprintf(`"q%d":%s`, i, askRoots))
	}
	s := modern(func(f *fake, m *jsonrpc.Message) {
		if member(m.Params, "inputResponses") == nil {
			f.result(m, input("", questions...))
			return
		}
		f.result(m, `{"content":[]}`)
	})
	var now, most, all atomic.Int64
	roots := func(context.Context) ([]Root, error) {
		most.Store(max(most.Load(), now.Add(1)))
		all.Add(1)
		sleepFor(1)
		now.Add(-1)
		return nil, nil
	}
	bubble(t, s, Options{Handlers: Handlers{Roots: roots}}, func(t *testing.T, c *Client) {
		if _, err := c.CallTool(t.Context(), "x", nil); err != nil || all.Load() != asked || most.Load() > maxParallel {
			t.Errorf("%v after %d answers, %d at a time", err, all.Load(), most.Load())
		}
	})
}

// A handler that panics costs the call whose question it was to answer.
func TestAPanicOfAHandlerEndsItsCall(t *testing.T) {
	panics := make(chan any, 1)
	h := asks()
	h.Roots = func(context.Context) ([]Root, error) { panic("roots") }
	first := true
	s := modern(func(f *fake, m *jsonrpc.Message) {
		if first {
			first = false
			f.result(m, input(`"s"`, `"r":`+askRoots))
			return
		}
		f.result(m, `{"resultType":"complete","content":[]}`)
	})
	bubble(t, s, Options{Handlers: h, Observer: Observer{Panicked: func(v any, _ []byte) { panics <- v }}}, func(t *testing.T, c *Client) {
		var in *InputError
		if _, err := c.CallTool(t.Context(), "t", nil); !errors.As(err, &in) || in.Key != "r" || !errors.Is(err, errPanicked) {
			t.Errorf("got %v", err)
		}
		if v := <-panics; v != "roots" {
			t.Errorf("%v", v)
		}
		if _, err := c.CallTool(t.Context(), "t", nil); err != nil {
			t.Errorf("the next call: %v", err)
		}
	})
}

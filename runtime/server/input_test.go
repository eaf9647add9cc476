package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

const allCaps = `{"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"roots":{}}`

var nameForm = server.ElicitParams{Message: "your name?", Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","minLength":1},"mail":{"type":"string","format":"email"}},"required":["name"]}`)}

// asking has tools that want input of every kind. The same handlers serve both
// eras.
func asking(t *testing.T, o server.Options) *server.Server {
	s := server.New(server.Info{Name: "asking", Version: "1"}, o)
	add := func(name string, h server.ToolHandler) { must(t, s.AddTool(server.Tool{Name: name}, h)) }
	add("greet", func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		r, err := c.Elicit("who", nameForm)
		if err != nil {
			return nil, fmt.Errorf("asking: %w", err) // it may be wrapped
		}
		if !r.Accepted() {
			return server.TextResult(string(r.Action)), nil
		}
		var form struct {
			Name string `json:"name"`
		}
		if err := r.Into(&form); err != nil {
			return nil, err
		}
		return server.TextResult("hello " + form.Name), nil
	})
	add("chain", func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		var seen []string
		if _, err := c.State(&seen); err != nil {
			return nil, err
		}
		seen = append(seen, fmt.Sprint(len(seen)))
		if err := c.SetState(seen); err != nil {
			return nil, err
		}
		r, err := c.Elicit("who", nameForm)
		if err != nil {
			return nil, err
		}
		said, err := c.Sample("model", server.SampleParams{Messages: []server.SampleMessage{server.Say(server.RoleUser, "hi "+string(r.Content))}, MaxTokens: 10})
		if err != nil {
			return nil, err
		}
		roots, err := c.Roots("roots")
		if err != nil {
			return nil, err
		}
		return server.TextResult(fmt.Sprintf("%s|%s|%d|%s", r.Content, said.Text(), len(roots), strings.Join(seen, ""))), nil
	})
	add("together", func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		var wanted []server.Input
		for _, in := range []server.Input{c.Form("a", nameForm), c.Sampling("b", server.SampleParams{Messages: []server.SampleMessage{server.Say(server.RoleUser, "x")}, MaxTokens: 1}), c.RootsInput("c")} {
			if c.MayAsk(in) {
				wanted = append(wanted, in)
			}
		}
		if err := c.Need(wanted...); err != nil {
			return nil, err
		}
		var got []string
		for _, in := range wanted {
			_, ok := c.Answer(in.Key)
			got = append(got, fmt.Sprint(in.Key, ok))
		}
		return server.TextResult(strings.Join(got, " ")), nil
	})
	add("direct", func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		if raw, ok := c.Answer("q"); ok {
			return server.TextResult(string(raw)), nil
		}
		return &server.InputRequired{Requests: []server.Input{c.Form("q", nameForm)}}, nil
	})
	add("forever", func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		return &server.InputRequired{Requests: []server.Input{c.Form("q", nameForm)}}, nil
	})
	add("visit", func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		r, id, err := c.ElicitURL("go", "look", "https://example.com/x")
		if err != nil {
			return nil, err
		}
		if err := c.ElicitationComplete(id); err != nil {
			return nil, err
		}
		return server.TextResult(string(r.Action)), nil
	})
	add("gate", func(*server.Context, json.RawMessage) (server.ToolOutcome, error) {
		return nil, &server.URLRequired{Elicitations: []server.URLElicitation{{Message: "sign in", URL: "https://example.com/in"}}}
	})
	must(t, s.AddPrompt(server.Prompt{Name: "ask"}, func(c *server.Context, _ map[string]string) (server.PromptOutcome, error) {
		r, err := c.Elicit("who", nameForm)
		if err != nil {
			return nil, err
		}
		return server.PromptText(string(r.Content)), nil
	}))
	must(t, s.AddResource(server.Resource{URI: "test://ask", Name: "ask"}, func(c *server.Context, _ server.ReadRequest) (server.ResourceOutcome, error) {
		r, err := c.Elicit("who", nameForm)
		if err != nil {
			return nil, err
		}
		return server.TextResource("text/plain", string(r.Content)), nil
	}))
	must(t, s.AddCompletion(server.PromptRef("ask"), "x", func(c *server.Context, _ server.CompleteRequest) (server.Completion, error) {
		_, err := c.Elicit("who", nameForm)
		return server.Completion{}, err
	}))
	return s
}

func asker(t *testing.T) *server.Server { return asking(t, server.Options{}) }

// answers answers as a client with a user, a model and roots.
func answers(method string, params json.RawMessage) string {
	switch {
	case method == "roots/list":
		return `"result":{"roots":[{"uri":"file:///w","name":"w"}]}`
	case method == "sampling/createMessage":
		return `"result":{"role":"assistant","model":"m","content":{"type":"text","text":"hm"}}`
	case field(params, "mode") == "url":
		return `"result":{"action":"accept"}`
	}
	return `"result":{"action":"accept","content":{"name":"Ada"}}`
}

// drive makes a call to its end, round after round, and returns the text.
func drive(t *testing.T, p *peer, method, params string) (string, int) {
	t.Helper()
	p.answer = answers
	base := params
	for round := 0; ; round++ {
		result := p.must(method, params)
		if field(result, "resultType") != "input_required" {
			for _, path := range [][]any{{"content", 0, "text"}, {"messages", 0, "content", "text"}, {"contents", 0, "text"}} {
				if got := field(result, path...); got != "none" {
					return got, round
				}
			}
			t.Fatalf("no text in %s", result)
		}
		if round > 20 {
			t.Fatal("no end")
		}
		params = retry(t, base, result)
	}
}

// retry makes the next request of a call: the same parameters, the state, and
// this round's answers (W32.14).
func retry(t *testing.T, params string, result json.RawMessage) string {
	t.Helper()
	var next map[string]json.RawMessage
	must(t, json.Unmarshal([]byte(params), &next))
	var requests map[string]struct {
		Method string
		Params json.RawMessage
	}
	if raw := field(result, "inputRequests"); raw != "none" {
		must(t, json.Unmarshal([]byte(raw), &requests))
	}
	responses := map[string]json.RawMessage{}
	for key, r := range requests {
		responses[key] = json.RawMessage(strings.TrimPrefix(answers(r.Method, r.Params), `"result":`))
	}
	next["inputResponses"], _ = json.Marshal(responses)
	next["requestState"], _ = json.Marshal(field(result, "requestState"))
	out, _ := json.Marshal(next)
	return string(out)
}

// W32.1, W32.4, W24.13, W26.7, W27.4: one handler, both eras. W1.15. W39.1.
func TestHandlersAskInBothErasAlike(t *testing.T) {
	for name, c := range map[string]struct {
		method, params, want string
		rounds               int // on 2026-07-28
	}{
		"a form":                   {"tools/call", `{"name":"greet"}`, "hello Ada", 1},
		"one after the other":      {"tools/call", `{"name":"chain","arguments":{}}`, `{"name":"Ada"}|hm|1|`, 3},
		"several at once":          {"tools/call", `{"name":"together"}`, "atrue btrue ctrue", 1},
		"an outcome says it":       {"tools/call", `{"name":"direct"}`, `{"action":"accept","content":{"name":"Ada"}}`, 1},
		"a prompt that asks":       {"prompts/get", `{"name":"ask"}`, `{"name":"Ada"}`, 1},
		"a resource that asks":     {"resources/read", `{"uri":"test://ask"}`, `{"name":"Ada"}`, 1},
		"a URL, with consent only": {"tools/call", `{"name":"visit"}`, "accept", 1},
	} {
		for _, revision := range []string{mcp.Revision20251125, mcp.Revision20260728} {
			t.Run(name+" on "+revision, func(t *testing.T) {
				p := newRig(t, asker(t)).connect(revision, allCaps)
				got, rounds := drive(t, p, c.method, c.params)
				want := c.want
				if strings.HasSuffix(want, "|") { // the handler ran once, or once a round
					want += map[bool]string{true: "0123", false: "0"}[p.modern]
				}
				if got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				if p.modern && rounds != c.rounds {
					t.Errorf("%d rounds, want %d", rounds, c.rounds)
				}
			})
		}
	}
}

// W32.7, W32.8: a state is good for its principal, method and parameters, whole
// and in time; otherwise the request fails, and nothing is asked anew. W30.9.
func TestAStateThatIsNotThisRequestsIsRefused(t *testing.T) {
	p := newRig(t, asker(t)).connect(mcp.Revision20260728, allCaps)
	first := p.must("tools/call", `{"name":"greet","arguments":{"a":1,"b":"\u0041"}}`)
	state := field(first, "requestState")
	if state == "none" || field(first, "ttlMs") != "none" {
		t.Fatalf("first round: %s", first) // W32.17
	}
	good := `"inputResponses":{"who":{"action":"accept","content":{"name":"Ada"}}}`
	call := func(params string) string { return fmt.Sprintf(params, good, state) }
	for name, params := range map[string]string{
		"another argument": call(`{"name":"greet","arguments":{"a":2,"b":"A"},%s,"requestState":%q}`),
		"another tool":     call(`{"name":"chain","arguments":{"a":1,"b":"A"},%s,"requestState":%q}`),
		"a changed state":  fmt.Sprintf(`{"name":"greet","arguments":{"a":1,"b":"A"},%s,"requestState":%q}`, good, state[:len(state)-4]+"AAAA"),
		"no state at all":  fmt.Sprintf(`{"name":"greet","arguments":{"a":1,"b":"A"},%s,"requestState":%q}`, good, "x"),
		"no text":          fmt.Sprintf(`{"name":"greet","arguments":{"a":1,"b":"A"},%s,"requestState":%d}`, good, 7),
	} {
		if err := p.fails("tools/call", params); err.Code != -32602 {
			t.Errorf("%s: %v", name, err)
		}
	}
	// P23: another spelling of the same parameters is the same request.
	result := p.must("tools/call", call(`{"arguments":{"b":"A", "a":1},%s,"requestState":%q,"name":"greet"}`))
	if got := field(result, "content", 0, "text"); got != "hello Ada" {
		t.Errorf("respelt: %s", result)
	}
}

func TestAStateIsGoodForATime(t *testing.T) {
	p := newRig(t, asking(t, server.Options{InputTTL: time.Nanosecond})).connect(mcp.Revision20260728, allCaps)
	first := p.must("tools/call", `{"name":"greet"}`)
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) { // ages are counted in milliseconds
		if _, err := p.call("tools/call", retry(t, `{"name":"greet"}`, first)); err != nil {
			if err.Code != -32602 {
				t.Error(err)
			}
			return
		}
	}
	t.Error("an old state was taken")
}

// W32.11, W32.12, W32.13, P21
func TestAnswersAreHeldAgainstTheirQuestions(t *testing.T) {
	p := newRig(t, asker(t)).connect(mcp.Revision20260728, allCaps)
	for name, c := range map[string]struct{ responses, want string }{
		"a number":                     {`{"who":12345}`, "-32602"},
		"null":                         {`{"who":null}`, "-32602"},
		"no object at all":             {`[1]`, "-32602"},
		"an action that is none":       {`{"who":{"action":"maybe"}}`, "-32602"},
		"content that does not fit":    {`{"who":{"action":"accept","content":{"name":""}}}`, "-32602"},
		"a mail address that is none":  {`{"who":{"action":"accept","content":{"name":"A","mail":"x"}}}`, "-32602"},
		"accepted without content":     {`{"who":{"action":"accept"}}`, "-32602"},
		"declined":                     {`{"who":{"action":"decline"}}`, "decline"},
		"cancelled":                    {`{"who":{"action":"cancel"}}`, "cancel"},
		"the answer without a state":   {`{"who":{"action":"accept","content":{"name":"Ada"}},"else":{}}`, "hello Ada"},
		"only a key that nobody asked": {`{"other":{"action":"accept","content":{}}}`, "input_required"},
	} {
		result, err := p.call("tools/call", `{"name":"greet","inputResponses":`+c.responses+`}`)
		got := field(result, "content", 0, "text")
		switch {
		case err != nil:
			got = fmt.Sprint(err.Code)
		case field(result, "resultType") == "input_required":
			got = "input_required"
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	// A retry without the answer is asked again (W32.13).
	first := p.must("tools/call", `{"name":"greet"}`)
	again := p.must("tools/call", fmt.Sprintf(`{"name":"greet","inputResponses":{},"requestState":%q}`, field(first, "requestState")))
	if field(again, "resultType") != "input_required" || field(again, "requestState") == field(first, "requestState") {
		t.Errorf("got %s", again)
	}
	// Of a state's answers only those count that were asked for.
	result := p.must("tools/call", fmt.Sprintf(`{"name":"greet","inputResponses":{"model":{}, "who":{"action":"cancel"}},"requestState":%q}`, field(first, "requestState")))
	if got := field(result, "content", 0, "text"); got != "cancel" {
		t.Errorf("got %s", result)
	}
}

// W5.10, W32.6, W29.2, W30.2: nothing is asked that was not declared. W31.5.
func TestNothingIsAskedThatTheClientDidNotDeclare(t *testing.T) {
	for name, c := range map[string]struct{ caps, tool, missing string }{
		"no elicitation":    {`{"sampling":{}}`, "greet", "elicitation.form"},
		"forms but no URLs": {`{"elicitation":{}}`, "visit", "elicitation.url"},
		"URLs but no forms": {`{"elicitation":{"url":{}}}`, "greet", "elicitation.form"},
		"no model":          {`{"elicitation":{}}`, "chain", "sampling"},
		"no URL for a gate": {`{"elicitation":{}}`, "gate", "elicitation.url"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newRig(t, asker(t)).connect(mcp.Revision20260728, c.caps)
			params := fmt.Sprintf(`{"name":%q,"inputResponses":{"who":{"action":"accept","content":{"name":"A"}}}}`, c.tool)
			if c.missing != "sampling" {
				params = fmt.Sprintf(`{"name":%q}`, c.tool)
			}
			err := p.fails("tools/call", params)
			path := []any{"requiredCapabilities"}
			for _, step := range strings.Split(c.missing, ".") {
				path = append(path, step)
			}
			if err.Code != -32021 || field(err.Data, path...) != "{}" {
				t.Errorf("got %v %s", err, err.Data)
			}
			old := newRig(t, asker(t)).connect(mcp.Revision20251125, c.caps)
			old.answer = answers
			if c.tool == "gate" {
				return
			}
			result := old.must("tools/call", fmt.Sprintf(`{"name":%q}`, c.tool))
			if field(result, "isError") != "true" || !strings.Contains(field(result, "content", 0, "text"), c.missing) {
				t.Errorf("on 2025-11-25: %s", result)
			}
		})
	}
	p := newRig(t, asker(t)).connect(mcp.Revision20260728, `{"roots":{}}`)
	if got, _ := drive(t, p, "tools/call", `{"name":"together"}`); got != "ctrue" {
		t.Errorf("together with roots alone: %s", got)
	}
}

// W30.14: an error that asks for a URL; elsewhere what the revision has.
func TestAGateByURL(t *testing.T) {
	for revision, want := range map[string]string{
		mcp.Revision20250618: "isError", mcp.Revision20251125: "-32042", mcp.Revision20260728: "input_required",
	} {
		p := newRig(t, asker(t)).connect(revision, allCaps)
		result, err := p.call("tools/call", `{"name":"gate"}`)
		got := field(result, "resultType")
		switch {
		case err != nil:
			got = fmt.Sprint(err.Code)
			if field(err.Data, "elicitations", 0, "mode") != "url" || len(field(err.Data, "elicitations", 0, "elicitationId")) < 16 {
				t.Errorf("data %s", err.Data)
			}
		case field(result, "isError") == "true":
			got = "isError"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", revision, got, want)
		}
	}
}

// W30.3, W30.13: ids are 2025-11-25's alone.
func TestElicitationByURLHasAnIDWhereTheRevisionHasOne(t *testing.T) {
	p := newRig(t, asker(t)).connect(mcp.Revision20251125, allCaps)
	var id string
	p.answer = func(_ string, params json.RawMessage) string {
		id = field(params, "elicitationId")
		return `"result":{"action":"accept"}`
	}
	p.must("tools/call", `{"name":"visit"}`)
	if len(id) < 16 || len(p.notes) != 1 || p.notes[0].Method != mcp.NotifyElicitComplete || field(p.notes[0].Params, "elicitationId") != id {
		t.Errorf("id %q, then %+v", id, p.notes)
	}
	modern := newRig(t, asker(t)).connect(mcp.Revision20260728, allCaps)
	first := modern.must("tools/call", `{"name":"visit"}`)
	if got := field(first, "inputRequests", "go", "params"); strings.Contains(got, "elicitationId") || field(first, "inputRequests", "go", "params", "url") != "https://example.com/x" {
		t.Errorf("2026-07-28: %s", got)
	}
}

// W28.6, W32.3
func TestCompletionNeverAsksByRounds(t *testing.T) {
	p := newRig(t, asker(t)).connect(mcp.Revision20260728, allCaps)
	if err := p.fails("completion/complete", `{"ref":{"type":"ref/prompt","name":"ask"},"argument":{"name":"x","value":""}}`); err.Code != -32603 {
		t.Error(err)
	}
}

// W32.10, W29.10: nothing waits for a client that may never come back.
func TestRoundsAndStateAreBounded(t *testing.T) {
	for _, revision := range []string{mcp.Revision20251125, mcp.Revision20260728} {
		p := newRig(t, asking(t, server.Options{MaxRounds: 3})).connect(revision, allCaps)
		p.answer = answers
		params, rounds := `{"name":"forever"}`, 0
		for {
			result, err := p.call("tools/call", params)
			if err != nil {
				if err.Code != -32603 || field(err.Data, "reason") != "rounds" {
					t.Error(err)
				}
				break
			}
			if rounds++; rounds > 3 {
				t.Fatalf("round %d: %s", rounds, result)
			}
			params = retry(t, `{"name":"forever"}`, result)
		}
	}
	p := newRig(t, asking(t, server.Options{MaxState: 128})).connect(mcp.Revision20260728, allCaps)
	first := p.must("tools/call", `{"name":"greet"}`)
	if state := field(first, "requestState"); len(state) > 512 {
		t.Errorf("a state of %d bytes", len(state))
	}
	chain := p.must("tools/call", `{"name":"chain"}`)
	err := p.fails("tools/call", strings.Replace(retry(t, `{"name":"chain"}`, chain), "Ada", strings.Repeat("A", 200), 1))
	if err.Code != -32602 || field(err.Data, "reason") != "too_large" {
		t.Error(err)
	}
}

// W29.7, W30.7: a client that says no, or fails.
func TestAClientThatRefuses(t *testing.T) {
	p := newRig(t, asker(t)).connect(mcp.Revision20251125, allCaps)
	p.answer = func(string, json.RawMessage) string { return `"error":{"code":-1,"message":"user said no"}` }
	result := p.must("tools/call", `{"name":"greet"}`)
	if field(result, "isError") != "true" || !strings.Contains(field(result, "content", 0, "text"), "user said no") {
		t.Errorf("got %s", result)
	}
	p.answer = func(string, json.RawMessage) string { return `"result":{"action":"accept","content":{"name":7}}` }
	if err := p.fails("tools/call", `{"name":"greet"}`); err.Code != -32602 { // W30.8
		t.Error(err)
	}
}

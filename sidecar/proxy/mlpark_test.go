package proxy_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/proxy"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const everything = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}`

// questionsOf is a result that asks for input: its questions and its state.
func questionsOf(t *testing.T, result string) (questions, state string) {
	t.Helper()
	kind, _ := strictjson.Get([]byte(result), "resultType")
	raw, _ := strictjson.Get([]byte(result), "inputRequests")
	text, _ := strictjson.Get([]byte(result), "requestState")
	state, ok := strictjson.String(text)
	if string(kind) != `"input_required"` || !ok {
		t.Fatalf("nothing is asked: %s", result)
	}
	return string(raw), state
}

// again are the params of a retry.
func again(params, answers, state string) string {
	edits := []strictjson.Edit{}
	if answers != "" {
		edits = append(edits, strictjson.Set([]byte(answers), "inputResponses"))
	}
	if state != "" {
		edits = append(edits, strictjson.Set(strictjson.Quote(nil, state), "requestState"))
	}
	out, err := strictjson.Splice([]byte(params), edits...)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func TestAQuestionWithoutParamsIsAskedWithSome(t *testing.T) { // B6.5, W32.4
	for name, request := range map[string]string{
		"none":  `{"jsonrpc":"2.0","id":"r1","method":"roots/list"}`,
		"empty": `{"jsonrpc":"2.0","id":"r1","method":"roots/list","params":{}}`,
		"meta":  `{"jsonrpc":"2.0","id":"r1","method":"roots/list","params":{"_meta":{"progressToken":1}}}`,
	} {
		r := serveAs(t, plain(script{"tools/call": {request}}), upstream.EraLegacy, func(c *proxy.Config) { c.Roots = true })
		questions, _ := questionsOf(t, r.declaring(`{"roots":{}}`).call("tools/call", `{"name":"x"}`))
		if questions != `{"roots-1":{"method":"roots/list","params":{}}}` {
			t.Errorf("%s: %s", name, questions)
		}
	}
}

// asking is a tool that asks once and tells what it was answered.
var asking = []string{
	`{"jsonrpc":"2.0","id":"r1","method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object"},"elicitationId":"e","task":{"ttl":1},"_meta":{"progressToken":1}}}`,
	"!await response",
	`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`,
}

const (
	refusedState = `{"code":-32602,"message":"requestState is not valid for this request"}`
	complete     = `{"content":[],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"child","version":"1"}}}`
)

func TestACapabilityThatIsWithdrawnBetweenRounds(t *testing.T) { // B19.2, B7.9, B7.15
	r := serve(t, plain(script{
		"tools/call": {
			`{"jsonrpc":"2.0","id":"r1","method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object"}}}`, "!await response",
			`{"jsonrpc":"2.0","id":"r2","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`,
			"!await notifications/cancelled",
		},
		"response":     {},
		"prompts/list": {`{"jsonrpc":"2.0","id":$ID,"result":{"prompts":[],"n":"$NTH"}}`},
	}))
	const params = `{"name":"x"}`
	_, state := questionsOf(t, r.declaring(`{"elicitation":{},"sampling":{}}`).call("tools/call", params))
	r.declaring(`{"elicitation":{}}`).want("tools/call", again(params, `{"elicitation-1":{"action":"decline"}}`, state),
		`{"code":-32021,"message":"the workload needs what the client did not declare","data":{"requiredCapabilities":{"sampling":{}}}}`)
	// The workload serves this only once it was told that nobody waits.
	if got := r.declaring(`{"elicitation":{},"sampling":{}}`).call("prompts/list", ""); !strings.HasPrefix(got, `{"prompts":[],"n":"1"`) {
		t.Error(got)
	}
}

func TestAQuestionEndsTheRequestAndItsAnswerComesWithTheNext(t *testing.T) { // B19.2, B7.1, B7.2, B7.9, B7.11, W32.4
	r := serve(t, plain(script{
		"tools/call": {asking[0]},
		"response":   {`{"jsonrpc":"2.0","id":2,"result":{"content":[],"saw":$LINE}}`},
	}))
	c := r.modern()
	const params = `{"name":"x","arguments":{"n":1.0}}`
	questions, state := questionsOf(t, c.call("tools/call", params))
	if questions != `{"elicitation-1":{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object"},"mode":"form"}}}` {
		t.Error(questions)
	}
	if len(state) > 512 {
		t.Errorf("a state of %d bytes", len(state))
	}
	// P23: members in another order, other whitespace, escapes.
	got := c.call("tools/call", again(`{ "arguments":{"n":1.0}, "name":"\u0078"}`, `{"elicitation-1":{"action":"accept","content":{"n":1.0}},"else":{}}`, state))
	if saw([]byte(got)) != `{"jsonrpc":"2.0","id":"r1","result":{"action":"accept","content":{"n":1.0}}}` || !strings.Contains(got, `"resultType":"complete"`) {
		t.Error(got)
	}
}

func TestWhoMayGoOn(t *testing.T) { // B19.2, B0.6, B7.3, B7.4, B7.6, P20
	r := serve(t, plain(script{"tools/call": asking}))
	r.front.Authenticate = named
	c := r.modern()
	c.user = "ann"
	const params, answer = `{"name":"x"}`, `{"elicitation-1":{"action":"decline"}}`
	_, state := questionsOf(t, c.call("tools/call", params))
	changed := []byte(state)
	if at := &changed[len(changed)/2]; *at == 'A' { // the last ones may say nothing
		*at = 'B'
	} else {
		*at = 'A'
	}
	for name, tc := range map[string]struct{ method, params, want string }{
		"other arguments":     {"tools/call", again(`{"name":"x","arguments":{}}`, answer, state), refusedState},
		"another tool":        {"tools/call", again(`{"name":"y"}`, answer, state), refusedState},
		"another method":      {"prompts/get", again(params, answer, state), refusedState},
		"a changed state":     {"tools/call", again(params, answer, string(changed)), refusedState},
		"no state of ours":    {"tools/call", again(params, answer, "x"), refusedState},
		"state that is null":  {"tools/call", `{"name":"x","requestState":null}`, refusedState},
		"answers of no form":  {"tools/call", again(params, `{"elicitation-1":{"action":"maybe"}}`, state), `{"code":-32602,"message":"the answer to \"elicitation-1\" has not the form of one"}`},
		"answers that are no": {"tools/call", again(params, `[1]`, state), `{"code":-32602,"message":"inputResponses must be an object of objects"}`},
	} {
		t.Run(name, func(t *testing.T) { c.want(tc.method, tc.params, tc.want) })
	}
	for _, user := range []string{"bob", ""} {
		other := r.modern()
		other.user = user
		other.want("tools/call", again(params, answer, state), refusedState)
	}
	// None of that has cost the round; a client that may less now may answer.
	c = r.declaring(`{}`)
	c.user = "ann"
	c.want("tools/call", again(params, answer, state), complete)
	// The same again gets the same; other answers come too late.
	c.want("tools/call", again(params, answer, state), complete)
	c.want("tools/call", again(params, `{"elicitation-1":{"action":"cancel"}}`, state), refusedState)
}

func TestSeveralQuestionsInSeveralRounds(t *testing.T) { // B19.2, B7.1, B7.7
	r := serve(t, plain(script{"tools/call": {
		asking[0],
		`{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"includeContext":"allServers"}}`,
		`{"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{"message":"And?","requestedSchema":{}}}`,
		"!await response", "!await response", "!await response",
		`{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{}}}`,
		"!await response",
		`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`,
	}}))
	c := r.declaring(everything)
	const params = `{"name":"x"}`
	questions, state := questionsOf(t, c.call("tools/call", params))
	for _, want := range []string{`"elicitation-1":`, `"elicitation-2":`, `"sampling-1":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`} {
		if !strings.Contains(questions, want) {
			t.Errorf("%s lacks %s", questions, want)
		}
	}
	const accept = `{"action":"accept","content":{}}`
	questions, second := questionsOf(t, c.call("tools/call", again(params, `{"elicitation-1":`+accept+`}`, state)))
	if strings.Contains(questions, "elicitation-1") || !strings.Contains(questions, "elicitation-2") || !strings.Contains(questions, "sampling-1") {
		t.Errorf("asked again: %s", questions)
	}
	c.want("tools/call", again(params, `{}`, state), refusedState)
	// No answers at all: everything is missing, and the state is a new one.
	_, third := questionsOf(t, c.call("tools/call", again(params, "", second)))
	if third == second {
		t.Error("the state stays the same")
	}
	questions, fourth := questionsOf(t, c.call("tools/call", again(params, `{"elicitation-2":`+accept+`,"sampling-1":{"role":"assistant","model":"m","content":{"type":"text","text":"t"}}}`, third)))
	if questions != `{"elicitation-3":{"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{},"mode":"form"}}}` {
		t.Error(questions)
	}
	c.want("tools/call", again(params, `{"elicitation-3":`+accept+`}`, fourth), complete)
}

func TestKeysThatTheWorkloadChooses(t *testing.T) { // B7.2, B7.8, P14, P21
	r := serve(t, plain(script{"tools/call": {
		`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{},"_meta":{"dev.fairlead/inputKey":"user_name"}}}`,
		"!await response",
		`{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}`,
		"!await response",
		`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`,
	}}))
	c := r.modern()
	const params = `{"name":"x"}`
	questions, _ := questionsOf(t, c.call("tools/call", params))
	if questions != `{"user_name":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{},"mode":"form"}}}` {
		t.Error(questions)
	}
	// An answer in advance is for a chosen key, never for one that was made up.
	questions, state := questionsOf(t, c.call("tools/call", again(params, `{"user_name":{"action":"decline"},"elicitation-1":{"action":"accept"}}`, "")))
	if !strings.HasPrefix(questions, `{"elicitation-1":`) {
		t.Error(questions)
	}
	c.want("tools/call", again(params, `{"elicitation-1":{"action":"accept"}}`, state), complete)
	for _, bad := range []string{`null`, `1`, `[]`, `{"a":1}`} {
		c.want("tools/call", again(params, bad, ""), `{"code":-32602,"message":"inputResponses must be an object of objects"}`)
	}
}

func TestTheWorkloadGoesOnWithoutItsAnswer(t *testing.T) { // B19.2, B7.10
	r := serve(t, plain(script{
		"tools/call:ends":      {asking[0], "!sleep 200", asking[2]},
		"tools/call:withdraws": {asking[0], "!sleep 200", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r1"}}`, "!sleep 100", asking[2]},
		"response":             {},
	}))
	c := r.modern()
	for _, params := range []string{`{"name":"ends"}`, `{"name":"withdraws"}`} {
		_, state := questionsOf(t, c.call("tools/call", params))
		c.call("tools/list", "") // served only after the call
		c.want("tools/call", again(params, `{"elicitation-1":{"action":"accept"}}`, state), complete)
	}
}

func TestAPageHasToBeVisitedFirst(t *testing.T) { // B19.2, B7.19
	r := serve(t, plain(script{
		"tools/call:x": {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://a/b","message":"Log in"},{"url":"https://c"},{"no":1}]}}}`},
		"tools/call:y": {`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
	}))
	c := r.declaring(everything)
	const params = `{"name":"x"}`
	questions, state := questionsOf(t, c.call("tools/call", params))
	if questions != `{"elicitation-1":{"method":"elicitation/create","params":{"mode":"url","message":"Log in","url":"https://a/b"}},"elicitation-2":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://c"}}}` {
		t.Error(questions)
	}
	if got := c.call("tools/call", again(params, `{"elicitation-1":{"action":"decline"}}`, state)); !strings.Contains(got, `"text":"declined by user"}],"isError":true`) {
		t.Error(got)
	}
	for range 4 {
		_, state = questionsOf(t, c.call("tools/call", again(params, `{"elicitation-1":{"action":"accept"},"elicitation-17":{},"other":{"roots":[]}}`, state)))
	}
	if got := c.call("tools/call", again(params, `{"elicitation-1":{"action":"accept"}}`, state)); !strings.Contains(got, `"code":-32603`) {
		t.Error(got)
	}
	c.want("tools/call", again(`{"name":"y"}`, `{}`, state), refusedState)
	c = r.declaring(`{"elicitation":{}}`)
	if got := c.call("tools/call", params); !strings.Contains(got, `"code":-32021`) || !strings.Contains(got, `{"elicitation":{"url":{}}}`) {
		t.Error(got)
	}
}

// B7.19: the workload tells that the page has been dealt with, and the retry is
// made again at once.
func TestTheUserIsBackFromThePage(t *testing.T) {
	r := serve(t, plain(script{
		"tools/call:x":    {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://a/b","message":"Log in"}]}}}`},
		"tools/call:x#2":  {`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
		"tools/call:back": {`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}`, `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
	}))
	c := r.declaring(everything)
	_, state := questionsOf(t, c.call("tools/call", `{"name":"x"}`))
	c.want("tools/call", `{"name":"back"}`, complete)
	c.want("tools/call", again(`{"name":"x"}`, `{"elicitation-1":{"action":"accept"}}`, state), complete)
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	if len(r.events.lossy) != 0 {
		t.Errorf("lost: %v", r.events.lossy)
	}
}

// B15.11, B7.2: of a page that has to be visited the client is told the
// address and nothing that says who asks.
func TestAPageIsAskedForAsItIs(t *testing.T) {
	r := serve(t, plain(script{
		"initialize": {`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"child","version":"1"}}}`},
		"tools/call": {`{"jsonrpc":"2.0","id":"r","method":"elicitation/create","params":{"mode":"url","message":"Log in","url":"https://a/b?c=%20d#e","elicitationId":"mine"}}`},
		"response":   {`{"jsonrpc":"2.0","id":2,"result":{"content":[],"saw":$LINE}}`},
	}))
	c := r.declaring(everything)
	questions, state := questionsOf(t, c.call("tools/call", `{"name":"x"}`))
	if questions != `{"elicitation-1":{"method":"elicitation/create","params":{"mode":"url","message":"Log in","url":"https://a/b?c=%20d#e"}}}` {
		t.Error(questions)
	}
	if got := saw([]byte(c.call("tools/call", again(`{"name":"x"}`, `{"elicitation-1":{"action":"accept"}}`, state)))); got != `{"jsonrpc":"2.0","id":"r","result":{"action":"accept"}}` {
		t.Errorf("the workload saw %s", got)
	}
}

// B7.20, W32.16: what somebody was asked for on the way is for nobody else and
// not to be kept, whatever the workload says of it; so is what brings answers.
func TestAReadWithQuestionsIsNotToBeKept(t *testing.T) {
	r := serve(t, plain(script{
		"resources/read": {`{"jsonrpc":"2.0","id":"r1","method":"elicitation/create","params":{"message":"Who?","requestedSchema":{}}}`, "!await response",
			`{"jsonrpc":"2.0","id":$ID,"result":{"contents":[{"uri":"a:b","text":"t"}],"ttlMs":60000,"cacheScope":"public"}}`},
	}))
	c := r.modern()
	const params = `{"uri":"a:b"}`
	const want = `{"contents":[{"uri":"a:b","text":"t"}],"ttlMs":0,"cacheScope":"private","resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"child","version":"1"}}}`
	_, state := questionsOf(t, c.call("resources/read", params))
	c.want("resources/read", again(params, `{"elicitation-1":{"action":"decline"}}`, state), want)

	const page = `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","contents":[],"ttlMs":60000,"cacheScope":"public"}}`
	modern := serveAs(t, stateless(script{"resources/read": {page}}), upstream.EraModern).modern()
	modern.want("resources/read", params, `{"resultType":"complete","contents":[],"ttlMs":60000,"cacheScope":"public"}`)
	modern.want("resources/read", again(params, `{"k":{"action":"decline"}}`, ""), `{"resultType":"complete","contents":[],"ttlMs":0,"cacheScope":"private"}`)
}

package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// answered takes a reverse request off a stream, answers it with a member
// (`"result":…` or `"error":…`) and returns its method and params.
func (c *client) answered(s *stream, member string) string {
	c.r.t.Helper()
	raw, ok := s.next()
	m, err := jsonrpc.Parse([]byte(raw), strictjson.FromWorkload)
	if !ok || err != nil || m.Kind != jsonrpc.KindRequest {
		c.r.t.Fatalf("no request: %q %v", raw, err)
	}
	if res := c.post(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,` + member + `}`); res.status != 202 {
		c.r.t.Errorf("the answer got %d %v", res.status, res.messages)
	}
	return m.Method + " " + string(m.Params)
}

const capable = `{"sampling":{"context":{}},"elicitation":{"form":{}},"roots":{},"tasks":{"list":{}}}`

func TestReverseCallsReachALegacyClientOnItsOwnStream(t *testing.T) { // B6.1 (3), B6.3, B9.2
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			r := serve(t, plain(script{
				"tools/call": {
					`{"jsonrpc":"2.0","id":"r/1","method":"sampling/createMessage","params":{"maxTokens":9007199254740993,"task":{"ttl":1},"_meta":{"dev.fairlead/x":1,"keep":2}}}`,
					"!await response",
					`{"jsonrpc":"2.0","id":0,"method":"roots/list"}`,
					"!await response",
					`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`,
				},
				"response": {`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":$LINE}}`},
			}))
			c, _ := r.initialize(revision, capable)
			s := c.request(`"c"`, "tools/call", `{"name":"x"}`)
			defer s.close()
			// P14: our keys are not the workload's to set; tasks are not served (B4.12).
			if got := c.answered(s, `"result":{"model":"m","n":1.0}`); got != `sampling/createMessage {"maxTokens":9007199254740993,"_meta":{"keep":2}}` {
				t.Error(got)
			}
			if got := c.answered(s, `"error":{"code":-1,"message":"user said no","x":1}`); got != "roots/list " {
				t.Error(got)
			}
			s.want(`{"jsonrpc":"2.0","id":"c","result":{"content":[]}}`)
		})
	}
}

func TestTheWorkloadGetsTheClientsAnswerUnchanged(t *testing.T) {
	r := serve(t, plain(script{
		"tools/call": {`{"jsonrpc":"2.0","id":"r","method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}`},
		"response":   {`{"jsonrpc":"2.0","id":2,"result":{"content":[],"saw":$LINE}}`},
	}))
	for member, want := range map[string]string{
		`"result":{"action":"accept","content":{"n":1.0,"b":2,"a":1}}`: `{"jsonrpc":"2.0","id":"r","result":{"action":"accept","content":{"n":1.0,"b":2,"a":1}}}`,
		`"error":{"code":-7,"message":"no","data":[1]}`:                `{"jsonrpc":"2.0","id":"r","error":{"code":-7,"message":"no","data":[1]}}`, // B16: code as is
	} {
		c, _ := r.initialize("2025-06-18", `{"elicitation":{}}`)
		s := c.request("7", "tools/call", `{"name":"x"}`)
		c.answered(s, member)
		got, _ := s.next()
		raw, _ := strictjson.Get([]byte(got), "result")
		if saw(raw) != want {
			t.Errorf("the workload saw %s, want %s", saw(raw), want)
		}
		s.close()
	}
}

func TestAReverseCallThatTheClientCannotTakeIsRefused(t *testing.T) { // B0.4, W29.2, W30.15
	for name, tc := range map[string]struct{ caps, ask, want string }{
		"not declared":             {`{}`, `"method":"sampling/createMessage","params":{}`, `"code":-32601`},
		"another elicitation mode": {`{"elicitation":{}}`, `"method":"elicitation/create","params":{"mode":"url","url":"https://x"}`, `"code":-32602`},
		"no such method":           {capable, `"method":"vendor/ask","params":{}`, `"code":-32601`},
	} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, plain(script{
				"tools/call": {`{"jsonrpc":"2.0","id":"r",` + tc.ask + `}`},
				"response":   {`{"jsonrpc":"2.0","id":2,"result":{"content":[],"saw":$LINE}}`},
			}))
			c, _ := r.initialize("2025-11-25", tc.caps)
			if got := saw([]byte(c.call("tools/call", `{"name":"x"}`))); !strings.Contains(got, tc.want) {
				t.Errorf("the workload saw %s", got)
			}
			r.events.mu.Lock()
			defer r.events.mu.Unlock()
			if len(r.events.lossy) != 1 || r.events.lossy[0] != "reverse_refused" {
				t.Errorf("counted %v", r.events.lossy)
			}
		})
	}
}

func TestAReverseCallThatBelongsToNoRequestGoesToTheGET(t *testing.T) { // B6.3
	r := serve(t, plain(script{
		"notifications/go": {`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`},
		"response":         {`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":$LINE}}`},
	}))
	c, _ := r.initialize("2025-06-18", capable)
	get := c.send(http.MethodGet, "", nil)
	defer get.close()
	if res := c.post(`{"jsonrpc":"2.0","method":"notifications/go"}`); res.status != 202 {
		t.Fatal(res.status)
	}
	if got := c.answered(get, `"result":{"roots":[]}`); got != "roots/list " {
		t.Error(got)
	}
	get.want(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"jsonrpc":"2.0","id":"r","result":{"roots":[]}}}}`)
}

func TestTheWorkloadWithdrawsItsRequest(t *testing.T) { // B9.2, W19.2
	r := serve(t, plain(script{
		"tools/call": {
			`{"jsonrpc":"2.0","id":"r","method":"sampling/createMessage","params":{}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r"}}`,
			"!sleep 200", // "r" is not answered meanwhile
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`,
		},
		"response": {"!exit 5"},
	}))
	c, _ := r.initialize("2025-06-18", capable)
	s := c.request("7", "tools/call", `{"name":"x"}`)
	defer s.close()
	for _, want := range []string{`"method":"sampling/createMessage"`, `"method":"notifications/cancelled"`, `"id":7,"result":{"content":[]}`} {
		if got, _ := s.next(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	c.want("tools/list", "", `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`)
}

func TestPingOfTheWorkloadNeverReachesAClient(t *testing.T) { // B6.4
	r := serve(t, plain(script{
		"tools/call": {`{"jsonrpc":"2.0","id":"p","method":"ping"}`},
		"response":   {`{"jsonrpc":"2.0","id":2,"result":{"content":[],"saw":$LINE}}`},
	}))
	for _, c := range []*client{r.legacy(), r.modern()} {
		if got := saw([]byte(c.call("tools/call", `{"name":"x"}`))); got != `{"jsonrpc":"2.0","id":"p","result":{}}` {
			t.Errorf("the workload saw %s", got)
		}
	}
}

func TestAModernClientIsNotAskedForWhatItDidNotDeclare(t *testing.T) { // B6.2, B7.15, W14.6
	for name, caps := range map[string]string{"nothing": `{}`, "something else": `{"sampling":{}}`} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, plain(script{
				"tools/call":              {`{"jsonrpc":"2.0","id":"r","method":"elicitation/create","params":{}}`},
				"response":                {},
				"notifications/cancelled": {},
			}))
			res := r.declaring(caps).request("1", "tools/call", `{"name":"x"}`).rest()
			const want = `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"the workload needs what the client did not declare","data":{"requiredCapabilities":{"elicitation":{"form":{}}}}}}`
			if len(res.messages) != 1 || res.messages[0] != want || res.status != 400 {
				t.Errorf("%d %v", res.status, res.messages)
			}
		})
	}
}

func TestChangesGoToTheStandaloneStream(t *testing.T) { // B11, W8.16
	const changed, updated = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a%20b"}}`
	r := serve(t, plain(script{"tools/call": {changed, updated, `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`}}))
	c := r.legacy()
	get := c.send(http.MethodGet, "", nil)
	defer get.close()
	c.want("tools/call", `{"name":"x"}`, `{"content":[]}`)
	get.want(changed)
	get.want(updated)
	// A modern client has no stream for them but that of a listen (B10.4).
	res := r.modern().request("1", "tools/call", `{"name":"x"}`).rest()
	if len(res.messages) != 1 {
		t.Errorf("%v", res.messages)
	}
}

func TestAStormOfChangesLeavesRoomForOthers(t *testing.T) { // B10.12
	const changed, updated = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}`
	storm := make([]string, 300) // more than waits for a client without a stream
	for i := range storm {
		storm[i] = changed
	}
	r := serve(t, plain(script{"tools/call": append(append([]string{updated}, storm...), `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`)}))
	c := r.legacy()
	if res := c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); res.status != 202 {
		t.Fatal(res.status)
	}
	c.want("tools/call", `{"name":"x"}`, `{"content":[]}`)
	get := c.send(http.MethodGet, "", nil)
	defer get.close()
	get.want(updated)
	get.want(changed)
}

func TestNotificationsOfTheClientReachItsOwnLeg(t *testing.T) { // section 13, B11.8
	r := serve(t, plain(script{
		"notifications/roots/list_changed": {`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":$LINE}}`},
		"notifications/vendor":             {`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":$LINE}}`},
		"notifications/tasks/status":       {"!exit 4"},
	}))
	c := r.legacy()
	get := c.send(http.MethodGet, "", nil)
	defer get.close()
	for _, n := range []string{
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/vendor","params":{"n":1.0}}`,
	} {
		if res := c.post(n); res.status != 202 {
			t.Error(res.status)
		}
		if !strings.Contains(n, "tasks") {
			get.want(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":` + n + `}}`)
		}
	}
}

package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// B15.8: who asks is settled on every request of either era, before a session is
// looked up; a session and what is sealed for one person are another's as little
// as what never was; and what a call is for its body says.
func TestEveryRequestIsOneOfSomebody(t *testing.T) {
	r := serveAs(t, plain(script{"tools/call:asks": {
		`{"jsonrpc":"2.0","id":"r","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`,
		"!await response",
		`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`,
	}}), upstream.EraLegacy)
	r.front.Authenticate = func(req *http.Request) (*auth.Identity, error) {
		if user := req.Header.Get("X-User"); user != "" {
			return &auth.Identity{Principal: user}, nil
		}
		return nil, &auth.Denied{Status: http.StatusUnauthorized, Challenge: "Bearer", Message: "who?"}
	}
	status := func(c *client, id, method, params string) int { return c.request(id, method, params).rest().status }

	ann, _ := r.opened("ann", `{}`)
	as := func(user, session string) *client {
		return &client{r: r, user: user, session: session, revision: "2025-11-25"}
	}
	for name, tc := range map[string]struct {
		c    *client
		want int
	}{
		"her own session":                    {ann, 200},
		"her session, of nobody":             {as("", ann.session), 401},
		"her session, of bob":                {as("bob", ann.session), 404},
		"a session that never was":           {as("ann", "none"), 404},
		"a session that never was of nobody": {as("", "none"), 401},
		"no session, of nobody":              {&client{r: r, revision: "2026-07-28", caps: `{}`}, 401},
		"no session, of bob":                 {&client{r: r, user: "bob", revision: "2026-07-28", caps: `{}`}, 200},
	} {
		if got := status(tc.c, "7", "tools/call", `{"name":"a"}`); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
	if got := as("bob", ann.session).send(http.MethodDelete, "", nil).rest().status; got != 404 {
		t.Errorf("bob ends her session: %d", got)
	}

	modern := &client{r: r, user: "ann", revision: "2026-07-28", caps: `{"elicitation":{}}`}
	_, state := questionsOf(t, modern.call("tools/call", `{"name":"asks"}`))
	bob := &client{r: r, user: "bob", revision: "2026-07-28", caps: `{"elicitation":{}}`}
	bob.want("tools/call", again(`{"name":"asks"}`, `{"elicitation-1":{"action":"accept"}}`, state), refusedState)

	s := bob.send(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"}}}}`, func(h http.Header) {
		h.Set("Mcp-Protocol-Version", "2026-07-28")
		h.Set("Mcp-Method", "tools/call")
		h.Set("Mcp-Name", "a")
	})
	if got := s.rest(); got.status != 400 || !strings.Contains(strings.Join(got.messages, ""), "-32020") {
		t.Errorf("a name in a header that is not the body's: %d %v", got.status, got.messages)
	}
}

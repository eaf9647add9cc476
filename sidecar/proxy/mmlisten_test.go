package proxy_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const acked = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]},"_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}`

func TestListeningAtAModernWorkload(t *testing.T) { // B10.6, W33.3, W33.5, W33.7, W33.9, W18.5
	r := serveAs(t, stateless(script{"subscriptions/listen": {
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}`,
		acked,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","x":1.0,"_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1,"_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}`,
		`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}`,
	}}), upstream.EraModern)
	s := r.modern().request(`"mine"`, "subscriptions/listen", `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}}`)
	s.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]},"_meta":{"io.modelcontextprotocol/subscriptionId":"mine"}}}`)
	s.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","x":1.0,"_meta":{"io.modelcontextprotocol/subscriptionId":"mine"}}}`)
	s.want(`{"jsonrpc":"2.0","id":"mine","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"mine"}}}`)
	if rest := s.rest(); len(rest.messages) > 0 {
		t.Error(rest.messages)
	}
}

func TestASubscriptionSurvivesTheWorkload(t *testing.T) { // B3.8, B10.7, W18.8
	r := serveAs(t, stateless(script{
		"subscriptions/listen": {acked},
		"tools/call:die":       {"!exit 1"},
	}), upstream.EraModern)
	m := r.modern()
	s := m.request(`5`, "subscriptions/listen", `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}}`)
	defer s.close()
	if first, _ := s.next(); !strings.Contains(first, "acknowledged") {
		t.Fatal(first)
	}
	m.call("tools/call", `{"name":"die"}`)
	s.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":5}}}`)
	s.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","_meta":{"io.modelcontextprotocol/subscriptionId":5}}}`)
}

func TestASubscriptionEndsWithTheClientsStream(t *testing.T) { // W14.10, W18.6, W33.8
	r := serveAs(t, stateless(script{
		"subscriptions/listen":    {acked, "!await notifications/cancelled", `{"jsonrpc":"2.0","id":"over","method":"x"}`},
		"notifications/cancelled": {},
	}), upstream.EraModern)
	m := r.modern()
	s := m.request(`5`, "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`)
	if first, _ := s.next(); !strings.Contains(first, "acknowledged") {
		t.Fatal(first)
	}
	s.close()
	// The workload serves one after the other: it answers only when it has been
	// told.
	if got := saw([]byte(m.call("tools/call", `{"name":"x"}`))); !strings.Contains(got, `"name":"x"`) {
		t.Error(got)
	}
}

func TestAListenThatIsRefused(t *testing.T) { // B16, W14.12
	r := serveAs(t, stateless(script{"subscriptions/listen": {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"no"}}`}}), upstream.EraModern)
	m := r.modern()
	m.call("tools/list", "") // the process runs
	res := m.request(`5`, "subscriptions/listen", `{"notifications":{}}`).rest()
	// The head of a stream waits a moment for a refusal, and no longer (P4).
	if res.status != 404 && res.status != 200 || len(res.messages) != 1 || res.messages[0] != `{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"no"}}` {
		t.Errorf("%d %v", res.status, res.messages)
	}
}

func TestTheWorkloadWithdrawsASubscription(t *testing.T) { // section 11 of bridge.md, W40.1
	r := serveAs(t, stateless(script{"subscriptions/listen": {acked, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":$ID}}`}}), upstream.EraModern)
	res := r.modern().request(`5`, "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`).rest()
	if n := len(res.messages); n != 2 || res.messages[1] != `{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":5}}}` {
		t.Error(res.messages)
	}
}

func TestADrainEndsSubscriptionsWell(t *testing.T) { // B10.6, B18.1
	r := serveAs(t, stateless(script{"subscriptions/listen": {acked}}), upstream.EraModern)
	s := r.modern().request(`5`, "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`)
	if first, _ := s.next(); !strings.Contains(first, "acknowledged") {
		t.Fatal(first)
	}
	r.front.Drain(0)
	s.want(`{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":5}}}`)
	s.close()
}

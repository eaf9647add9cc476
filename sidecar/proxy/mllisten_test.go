package proxy_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// subscribed is a server whose resources can be watched; a call of "change"
// changes things, one of "die" ends it.
func subscribed() script {
	return plain(script{
		"initialize":            {`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true}},"serverInfo":{"name":"child","version":"1"}}}`},
		"resources/subscribe":   {`{"jsonrpc":"2.0","id":$ID,"result":{}}`},
		"resources/unsubscribe": {`{"jsonrpc":"2.0","id":$ID,"result":{}}`},
		"tools/call:change": {
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"dev.fairlead/x":1}}}`,
			`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b/c"}}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://bc"}}`,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1}}`,
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
		"tools/call:die": {"!exit 1"},
	})
}

const (
	listenAll   = `{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a://b","a://b"]}}`
	heardAck    = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a://b"]},"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`
	heardChange = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`
	heardUpdate = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b/c","_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`
)

func TestAListenHearsOfALegacyWorkload(t *testing.T) { // B19.5, B10.1, B10.2, B10.4, W26.8, W33.3, W33.5
	r := serve(t, subscribed())
	c := r.declaring("{}")
	// Two listeners with the same id (section 19 item 4), one subscription.
	one := c.request(`"s"`, "subscriptions/listen", listenAll)
	defer one.close()
	one.want(heardAck)
	two := r.declaring("{}").request(`"s"`, "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`)
	defer two.close()
	two.want(strings.Replace(heardAck, `,"resourceSubscriptions":["a://b"]`, "", 1))
	c.call("tools/call", `{"name":"change"}`)
	one.want(heardChange)
	one.want(heardUpdate)
	two.want(heardChange)
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	if got := strings.Join(r.events.calls, ","); strings.Count(got, "resources/subscribe") > 1 {
		t.Errorf("the workload was asked %s", got)
	}
}

func TestAListenOutlivesTheWorkload(t *testing.T) { // B19.5, B10.7
	r := serve(t, subscribed())
	c := r.declaring("{}")
	s := c.request(`"s"`, "subscriptions/listen", listenAll)
	defer s.close()
	s.want(heardAck)
	c.call("tools/call", `{"name":"die"}`)
	s.want(heardChange)
	s.want(strings.Replace(heardUpdate, "a://b/c", "a://b", 1))
	c.call("tools/call", `{"name":"change"}`)
	s.want(heardChange)
	s.want(heardUpdate)
}

func TestAListenThatTheServerEnds(t *testing.T) { // B10.6, W33.7
	r := serve(t, subscribed())
	s := r.declaring("{}").request(`"s"`, "subscriptions/listen", listenAll)
	defer s.close()
	s.want(heardAck)
	r.front.Drain(0)
	s.want(`{"jsonrpc":"2.0","id":"s","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`)
}

func TestWhatCannotBeListenedTo(t *testing.T) { // B10.1, B10.2, B4.3
	s := subscribed()
	s["resources/subscribe"] = []string{`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32002,"message":"no"}}`}
	c := serve(t, s).declaring("{}")
	listen := c.request(`"s"`, "subscriptions/listen", listenAll)
	defer listen.close()
	listen.want(strings.Replace(heardAck, `,"resourceSubscriptions":["a://b"]`, "", 1))
	for _, params := range []string{`{}`, `{"notifications":null}`, `{"notifications":{"resourceSubscriptions":[1]}}`} {
		if got := c.call("subscriptions/listen", params); !strings.Contains(got, `"code":-32602`) {
			t.Errorf("%s: %s", params, got)
		}
	}
}

// B4.2, B10.1: what the workload declares of its changes stands in discover as
// it does there, and is what a listen is promised, no more and no less.
func TestWhatDiscoverSaysOfChangesIsWhatListenPromises(t *testing.T) {
	for capabilities, ack := range map[string]string{
		`{"tools":{"listChanged":true},"prompts":{"listChanged":false},"resources":{"subscribe":true,"listChanged":false}}`: `{"toolsListChanged":true,"resourceSubscriptions":["a://b"]}`,
		`{"tools":{},"prompts":{"listChanged":true},"resources":{"subscribe":false,"listChanged":true}}`:                    `{"promptsListChanged":true,"resourcesListChanged":true}`,
		`{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true}}`:   `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a://b"]}`,
	} {
		s := subscribed()
		s["initialize"] = []string{`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-06-18","capabilities":` + capabilities + `,"serverInfo":{"name":"child","version":"1"}}}`}
		c := serve(t, s).declaring("{}")
		if got, _ := strictjson.Get([]byte(c.call("server/discover", "")), "capabilities"); string(got) != capabilities {
			t.Errorf("of %s discover says %s", capabilities, got)
		}
		listen := c.request(`"s"`, "subscriptions/listen", listenAll)
		listen.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":` + ack + `,"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`)
		listen.close()
	}
	// Of nothing nothing is promised, and there is nothing to listen to.
	c := serve(t, plain(script{"initialize": {`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"child","version":"1"}}}`}})).declaring("{}")
	c.call("server/discover", "") // a refusal that comes late has no status of its own
	if got := c.call("subscriptions/listen", listenAll); !strings.Contains(got, `"code":-32601`) {
		t.Error(got)
	}
}

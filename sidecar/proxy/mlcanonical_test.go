package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/proxy"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// B10.5, B11.11: where calls have processes to themselves, lists and
// subscriptions are those of one of them. What changes in another is counted,
// and no listener is told of it.
func TestListsAndSubscriptionsAreThoseOfOneProcess(t *testing.T) {
	s := subscribed()
	s["tools/list"] = []string{`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":"t$NTH","inputSchema":{"type":"object"}}]}}`}
	s["tools/call:hold"] = []string{asking[0], "!await response", `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b/c"}}`, asking[2]}
	dropped := make(chan string, 10)
	r := serveAs(t, s, upstream.EraLegacy, func(c *proxy.Config) { c.Hooks.Lossy = func(reason string) { dropped <- reason } })
	c := r.modern()
	listen := c.request(`"s"`, "subscriptions/listen", listenAll)
	defer listen.close()
	listen.want(heardAck)
	names := func(want string) {
		t.Helper()
		if got := c.call("tools/list", ""); !strings.Contains(got, `"name":"`+want+`"`) {
			t.Errorf("a list of another process than %s's: %s", want, got)
		}
	}
	names("t1")
	_, state := questionsOf(t, c.call("tools/call", `{"name":"hold"}`)) // the first process is taken
	if got := c.call("tools/call", `{"name":"change"}`); !strings.HasPrefix(got, `{"content":[]`) {
		t.Fatal(got)
	}
	if n := r.child.count(); n != 2 {
		t.Fatalf("%d processes: the second call had none to itself", n)
	}
	for counted := 0; counted < 4; { // two lists and two resources
		if reason := <-dropped; reason == proxy.LossyElsewhere {
			counted++
		}
	}
	c.want("tools/call", again(`{"name":"hold"}`, `{"elicitation-1":{"action":"cancel"}}`, state), complete)
	listen.want(heardUpdate) // of the first process, and nothing before it
	names("t2")
}

// B10.3: of a workload that lets nobody listen there are only the changes that
// come with answers; resources are not promised.
func TestAWorkloadThatLetsNobodyListen(t *testing.T) {
	const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	for name, deaf := range map[string]bool{"it lets": false, "it does not": true} {
		t.Run(name, func(t *testing.T) {
			s := &site{deaf: deaf, capabilities: `{"tools":{"listChanged":true},"resources":{"subscribe":true}}`}
			s.serve = func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
				if m.Method == "tools/call" {
					event(w, m, "data: "+changed+"\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[]}}\n\n")
					return
				}
				event(w, m, "data: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{}}\n\n")
			}
			r := behind(t, s)
			c := r.modern()
			c.call("tools/call", `{"name":"x"}`)
			listen := c.request(`"s"`, "subscriptions/listen", `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a://b"]}}`)
			defer listen.close()
			ack, _ := listen.next()
			resources, _ := strictjson.GetPath([]byte(ack), "params", "notifications", "resourceSubscriptions")
			if !strings.Contains(ack, `"toolsListChanged":true`) || (resources == nil) != deaf {
				t.Error(ack)
			}
			c.call("tools/call", `{"name":"x"}`)
			listen.want(heardChange)
		})
	}
}

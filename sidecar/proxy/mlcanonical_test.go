package proxy_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/proxy"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// elsewhere serves a workload before which every call has a process to itself.
func elsewhere(t *testing.T, s script, edits ...func(*proxy.Config)) *rig {
	t.Helper()
	s["tools/call:hold"] = asking
	return serveAs(t, s, upstream.EraLegacy, append(edits, func(c *proxy.Config) { c.Leasing = proxy.LeaseAlways })...)
}

// hold parks a call, which keeps the first process that is free: lists are read
// from the first of all.
func (c *client) hold(t *testing.T) (goOn func()) {
	t.Helper()
	_, state := questionsOf(t, c.call("tools/call", `{"name":"hold"}`))
	return func() {
		t.Helper()
		c.want("tools/call", again(`{"name":"hold"}`, `{"elicitation-1":{"action":"cancel"}}`, state), complete)
	}
}

// B10.5, B11.11, P7: where calls have processes to themselves, lists are those
// of one of them; who listens hears of what changes in any. A list that changed
// elsewhere is counted, because it does not show.
func TestWhatChangesInAnotherProcessIsHeard(t *testing.T) {
	s := subscribed()
	s["tools/list"] = []string{`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":"t$NTH","inputSchema":{"type":"object"}}]}}`}
	counted := make(chan string, 10)
	r := elsewhere(t, s, func(c *proxy.Config) { c.Hooks.Lossy = func(reason string) { counted <- reason } })
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
	goOn := c.hold(t)
	if got := c.call("tools/call", `{"name":"change"}`); !strings.HasPrefix(got, `{"content":[]`) {
		t.Fatal(got)
	}
	if n := r.child.count(); n != 2 {
		t.Fatalf("%d processes: the second call had none to itself", n)
	}
	listen.want(heardChange)
	listen.want(heardUpdate)
	for lists := 0; lists < 2; { // of tools and of prompts
		if reason := <-counted; reason == proxy.LossyElsewhere {
			lists++
		}
	}
	goOn()
	names("t2")
}

// B10.2: what is listened to is watched in each process that is there, and in
// each that comes, before it is called.
func TestEveryProcessWatchesWhatIsListenedTo(t *testing.T) {
	const watching = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b/$NTH"}}`
	s := subscribed()
	s["resources/subscribe"] = append([]string{watching}, s["resources/subscribe"]...)
	r := elsewhere(t, s)
	c := r.modern()
	goOn := c.hold(t)
	c.call("tools/call", `{"name":"change"}`) // in the second process, to which nobody listens yet
	goOn()
	listen := c.request(`"s"`, "subscriptions/listen", `{"notifications":{"resourceSubscriptions":["a://b"]}}`)
	defer listen.close()
	listen.want(strings.Replace(heardAck, `"toolsListChanged":true,`, "", 1))
	heard := func(want string, times int) {
		t.Helper()
		for times > 0 {
			got, ok := listen.next()
			if !ok {
				t.Fatalf("%d too few of %s", times, want)
			}
			if got == want {
				times--
			}
		}
	}
	asked := strings.Replace(heardUpdate, "a://b/c", "a://b/1", 1) // each process is asked once
	heard(asked, 2)
	first, second := c.hold(t), c.hold(t)
	changed := make(chan string, 1)
	go func() { changed <- r.modern().call("tools/call", `{"name":"change"}`) }() // in the third
	heard(asked, 1)
	if got := <-changed; !strings.HasPrefix(got, `{"content":[]`) {
		t.Error(got)
	}
	if n := r.child.count(); n != 3 {
		t.Errorf("%d processes", n)
	}
	first()
	second()
}

// B10.4, B10.5: under load, on as many processes as there may be, nothing that
// changes goes unheard.
func TestNothingThatChangesIsMissedWhileManyProcessesAreBusy(t *testing.T) {
	const callers, rounds = 6, 5
	s := subscribed()
	for round := range rounds {
		for caller := range callers {
			s[fmt.Sprintf("tools/call:w%d-%d", round, caller)] = []string{
				`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
				fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b/w%d-%d"}}`, round, caller),
				`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`,
			}
		}
	}
	r := elsewhere(t, s)
	c := r.modern()
	listen := c.request(`"s"`, "subscriptions/listen", listenAll)
	defer listen.close()
	listen.want(heardAck)
	goOn := c.hold(t)
	for round := range rounds {
		var calls sync.WaitGroup
		waiting := map[string]bool{heardChange: true}
		for caller := range callers {
			name := fmt.Sprintf("w%d-%d", round, caller)
			waiting[strings.Replace(heardUpdate, "a://b/c", "a://b/"+name, 1)] = true
			calls.Go(func() {
				if got := r.modern().call("tools/call", `{"name":"`+name+`"}`); !strings.HasPrefix(got, `{"content":[]`) {
					t.Errorf("%s: %s", name, got)
				}
			})
		}
		for len(waiting) > 0 {
			got, ok := listen.next()
			if !ok {
				t.Fatalf("round %d: nothing was heard of %v", round, slices.Collect(maps.Keys(waiting)))
			}
			delete(waiting, got)
		}
		calls.Wait()
	}
	if r.child.count() < 2 {
		t.Error("all was done in one process")
	}
	goOn()
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

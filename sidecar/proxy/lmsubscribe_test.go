package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const (
	// ackAll honours what advertises can change, and the resources a:b and c:d.
	ackAll  = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:b","c:d"]},"_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}`
	ackNone = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}`
)

func change(method, members string) string {
	return `{"jsonrpc":"2.0","method":"notifications/` + method + `","params":{` + members + `"_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}`
}

// get opens a session's standalone stream.
func (c *client) get() *stream { return c.send(http.MethodGet, "", nil) }

func TestChangesForLegacyClientsOfModernWorkloads(t *testing.T) { // B10.9, B10.10, B10.12, W8.16
	r := serveAs(t, stateless(script{"subscriptions/listen": {ackAll, change("tools/list_changed", ""), change("resources/updated", `"uri":"a:b","x":1.0,`), change("resources/updated", `"uri":"a:b/sub",`), change("resources/updated", `"uri":"z:z",`)}}), upstream.EraModern)
	c := r.legacy()
	c.want("resources/subscribe", `{"uri":"a:b"}`, `{}`)
	get := c.get()
	defer get.close()
	// Two subscriptions tell the same, one after the other: it is heard once or
	// twice, as it comes before or after the stream, and nothing else is.
	left := map[string]bool{
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}`:                   true,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","x":1.0}}`: true,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b/sub"}}`:     true,
	}
	missing := len(left)
	for range 2 * len(left) {
		got, _ := get.next()
		fresh, known := left[got]
		if !known {
			t.Fatalf("got %s", got)
		}
		if fresh {
			missing--
		}
		if left[got] = false; missing == 0 {
			break
		}
	}
	if missing > 0 {
		t.Errorf("not heard: %v", left)
	}
	c.want("resources/unsubscribe", `{"uri":"a:b"}`, `{}`)
	c.want("resources/unsubscribe", `{"uri":"never:was"}`, `{}`)
}

func TestAResourceThatIsNotAcknowledged(t *testing.T) { // B10.10
	for name, tc := range map[string]struct {
		script []string
		uri    string
		want   string
	}{
		"not this one":        {[]string{ackAll}, "x:y", `{"code":-32002,"message":"the workload does not tell of changes to this resource","data":{"uri":"x:y"}}`},
		"none at all":         {[]string{ackNone}, "a:b", `{"code":-32601,"message":"the workload does not tell of changes to resources"}`},
		"no subscriptions":    {[]string{`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"no"}}`}, "a:b", `{"code":-32601,"message":"the workload does not tell of changes to resources"}`},
		"refused for a cause": {[]string{`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"bad uri"}}`}, "a:b", `{"code":-32602,"message":"bad uri"}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := serveAs(t, stateless(script{"subscriptions/listen": tc.script}), upstream.EraModern)
			r.legacy().want("resources/subscribe", `{"uri":"`+tc.uri+`"}`, tc.want)
		})
	}
	t.Run("not advertised", func(t *testing.T) {
		r := serveAs(t, stateless(script{"server/discover": {`{"jsonrpc":"2.0","id":$ID,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"resources":{}}}}`}}), upstream.EraModern)
		r.legacy().want("resources/subscribe", `{"uri":"a:b"}`, `{"code":-32601,"message":"method not found"}`)
	})
}

func TestSessionsShareASubscriptionAndHearTheirOwn(t *testing.T) { // B19.5, B10.11
	r := serveAs(t, stateless(script{"subscriptions/listen": {ackAll, change("resources/updated", `"uri":"a:b",`), change("resources/updated", `"uri":"c:d",`)}}), upstream.EraModern)
	a, b := r.legacy(), r.legacy()
	a.want("resources/subscribe", `{"uri":"a:b"}`, `{}`)
	b.want("resources/subscribe", `{"uri":"c:d"}`, `{}`)
	// The workload told of both, on one subscription for the two of them.
	for _, tc := range []struct {
		c   *client
		uri string
	}{{b, "c:d"}, {a, "a:b"}} {
		get := tc.c.get()
		get.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + tc.uri + `"}}`)
		get.close()
	}
}

func TestAfterARestartEverythingMayHaveChanged(t *testing.T) { // B10.7, B10.12, B3.8
	r := serveAs(t, stateless(script{"subscriptions/listen": {ackAll}, "tools/call:die": {"!exit 1"}}), upstream.EraModern)
	c := r.legacy()
	c.want("resources/subscribe", `{"uri":"a:b"}`, `{}`)
	get := c.get()
	defer get.close()
	if got := c.call("tools/call", `{"name":"die"}`); !strings.Contains(got, "workload_restarted") {
		t.Error(got)
	}
	for _, want := range []string{
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}`,
	} {
		get.want(want)
	}
}

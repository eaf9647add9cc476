package duplextest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
)

// Both eras on one pair of pipes, message by message. W18.1, W7.1, P17
func testSpeaksEveryRevisionOnOnePairOfPipes(t *testing.T, start Start) {
	within(t, func(t *testing.T) {
		r := start(t, &mcptest.Stub{OnServe: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
			return jsonrpc.Result(fmt.Appendf(nil, `{"revision":%q,"session":%v}`, x.Revision(), x.Session() != nil))
		}}, Options{})
		modern := func(id int) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"revision":"2026-07-28","session":false}}`, id)
		}
		r.Say(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":` + mcptest.Modern("") + `}`)
		r.Expect(modern(1))
		open(r, "2025-06-18")
		r.Say(call(2, `{"name":"a"}`))
		r.Expect(`{"jsonrpc":"2.0","id":2,"result":{"revision":"2025-06-18","session":true}}`)
		r.Say(call(3, mcptest.Modern(`"name":"a"`)))
		r.Expect(modern(3))
		r.CloseInput()
		if err := r.Wait(); err != nil {
			t.Error(err)
		}
	})
	for _, revision := range mcp.Legacy() {
		t.Run(revision, func(t *testing.T) {
			within(t, func(t *testing.T) {
				r := start(t, &mcptest.Stub{}, Options{})
				open(r, revision)
				r.Say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
				r.Expect(`{"jsonrpc":"2.0","id":"p","result":{}}`) // W21.1
			})
		})
	}
}

// What is no request of this moment. W1.8, W1.10, W4.1, W4.9, W12.3, W12.4, W21.4, P34
func testRefuses(t *testing.T, start Start) {
	type step struct{ say, expect string }
	session := func(revision string) step {
		return step{mcptest.Initialize(0, revision, `{}`), hello(0, revision)}
	}
	refused := func(id string, code int, message string) string {
		if id != "" {
			id = `"id":` + id + `,`
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0",%s"error":{"code":%d,"message":%q}}`, id, code, message)
	}
	ping := step{`{"jsonrpc":"2.0","id":99,"method":"ping"}`, `{"jsonrpc":"2.0","id":99,"result":{}}`}
	for name, steps := range map[string][]step{
		"garbage before a session has id null":             {{`hello {`, refused("null", -32700, "body is not valid JSON")}},
		"garbage of 2025-06-18 has id null":                {session("2025-06-18"), {`{"a":`, refused("null", -32700, "body is not valid JSON")}},
		"garbage of 2025-11-25 has no id":                  {session("2025-11-25"), {`{"a":`, refused("", -32700, "body is not valid JSON")}},
		"garbage after a stateless request has no id":      {{call(1, mcptest.Modern(`"name":"a"`)), `{"jsonrpc":"2.0","id":1,"result":{"echo":"tools/call"}}`}, {`nope`, refused("", -32700, "body is not valid JSON")}},
		"JSON that is no message keeps its id":             {{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, refused("7", -32600, `jsonrpc must be "2.0"`)}},
		"ping comes before initialize":                     {ping},
		"nothing else does":                                {{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, refused("1", -32600, "initialize comes first")}},
		"discover without its envelope":                    {{`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, refused("1", -32602, "params._meta lacks io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities")}},
		"a second initialize":                              {session("2025-06-18"), {mcptest.Initialize(1, "2025-06-18", `{}`), refused("1", -32600, "the session is initialized already")}},
		"capabilities that are no object":                  {{mcptest.Initialize(1, "2025-06-18", `[]`), refused("1", -32602, "capabilities must be an object of at most 32 KiB")}},
		"a batch of 2025-06-18":                            {session("2025-06-18"), {`[` + ping.say + `]`, refused("null", -32600, "this revision has no batches")}},
		"a batch before there is a session":                {{`[` + ping.say + `]`, refused("null", -32600, "this revision has no batches")}},
		"an empty batch":                                   {session("2025-03-26"), {`[]`, refused("null", -32600, "batch is empty")}},
		"initialize in a batch":                            {session("2025-03-26"), {`[` + mcptest.Initialize(5, "2025-03-26", `{}`) + `]`, refused("5", -32600, "initialize may not be in a batch")}},
		"ping of a stateless client":                       {{`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + mcptest.Modern("") + `}`, refused("1", -32601, "method not found")}},
		"an unknown stateless revision":                    {{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"protocol version is not supported","data":{"supported":["2026-07-28"],"requested":"2031-01-01"}}}`}},
		"a legacy revision in the envelope":                {{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-06-18"}}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"protocol version is not supported","data":{"supported":["2026-07-28"],"requested":"2025-06-18"}}}`}},
		"an envelope without capabilities":                 {{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, refused("1", -32602, "_meta lacks io.modelcontextprotocol/clientCapabilities")}},
		"a version that is no string":                      {{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}}`, refused("1", -32602, "io.modelcontextprotocol/protocolVersion must be a string")}},
		"responses and notifications are never answered":   {{`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/nothing"}` + "\n" + ping.say, ping.expect}},
		"a cancel that fits nothing":                       {session("2025-06-18"), {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled"}` + "\n" + ping.say, ping.expect}},
		"a method of the other era":                        {session("2025-06-18"), {`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, refused("1", -32601, "method not found")}},
		"a request over the limit is refused by its id":    {{`{"jsonrpc":"2.0","id":8,"method":"x","params":{"a":"` + strings.Repeat("x", 4096) + `"}}`, refused("8", -32600, "message is too large")}},
		"a line over the limit that is no message at all":  {{strings.Repeat("x", 5000), refused("null", -32600, "message is too large")}},
		"a notification over the limit is never answered":  {{`{"jsonrpc":"2.0","method":"x","params":{"a":"` + strings.Repeat("x", 4096) + `"}}` + "\n" + ping.say, ping.expect}},
		"ids are given back as they came, whatever length": {session("2025-06-18"), {call(`9007199254740993`, `{"name":"a"}`), `{"jsonrpc":"2.0","id":9007199254740993,"result":{"echo":"tools/call"}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			within(t, func(t *testing.T) {
				r := start(t, &mcptest.Stub{}, Options{MaxMessageBytes: 4096})
				for _, s := range steps {
					r.Say(s.say)
					r.Expect(s.expect)
				}
				r.Silent(time.Second)
			})
		})
	}
}

// Members of a batch are answered one by one. W12.1, W1.14
func testBatch(t *testing.T, start Start) {
	within(t, func(t *testing.T) {
		stub := &mcptest.Stub{}
		r := start(t, stub, Options{})
		open(r, "2025-03-26")
		r.Say(`[` + call(1, `{"name":"a"}`) + `,{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},` + call(`"1"`, `{"name":"b"}`) + `,{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
		r.ExpectAll(`{"jsonrpc":"2.0","id":1,"result":{"echo":"tools/call"}}`, `{"jsonrpc":"2.0","id":"1","result":{"echo":"tools/call"}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		synctest.Wait()
		if got := stub.Notified(); len(got) != 1 {
			t.Errorf("notified %v", got)
		}
	})
}

// Requests that come before initialize is answered wait for it; after a failed
// one there may be another.
func testInitialize(t *testing.T, start Start) {
	within(t, func(t *testing.T) {
		tries := 0
		stub := &mcptest.Stub{OnOpen: func(_ context.Context, _ *dispatch.Exchange, s dispatch.Session) dispatch.Outcome {
			tries++
			time.Sleep(time.Second)
			if tries == 1 {
				return jsonrpc.Fail(jsonrpc.Errorf(-32603, "not yet"))
			}
			return jsonrpc.Result([]byte(`{"capabilities":{},"serverInfo":{"name":"s","version":"1"}}`))
		}}
		r := start(t, stub, Options{})
		r.Say(mcptest.Initialize(1, "2025-06-18", `{}`), call(2, `{"name":"a"}`))
		r.Expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"not yet"}}`)
		r.Expect(`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the session has ended","data":{"reason":"session_ended"}}}`)
		r.Say(mcptest.Initialize(1, "1999-01-01", `{}`), call(2, `{"name":"a"}`), `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		r.Expect(`{"jsonrpc":"2.0","id":3,"result":{}}`)
		r.Expect(`{"jsonrpc":"2.0","id":1,"result":{"capabilities":{},"serverInfo":{"name":"s","version":"1"},"protocolVersion":"2025-11-25"}}`) // W4.3
		r.Expect(`{"jsonrpc":"2.0","id":2,"result":{"echo":"tools/call"}}`)
		r.Silent(26 * time.Hour) // the pipes are the client's sign of life
		r.CloseInput()
		if err := r.Wait(); err != nil {
			t.Error(err)
		}
		if got := stub.Closings(); len(got) != 1 || !errors.Is(got[0], dispatch.ErrDisconnected) {
			t.Errorf("closed with %v", got)
		}
	})
}

// A session that the server ends leaves the pipes to the next one.
func testSessionEndedByTheServer(t *testing.T, start Start) {
	within(t, func(t *testing.T) {
		stub := &mcptest.Stub{}
		r := start(t, stub, Options{})
		open(r, "2025-06-18")
		stub.Sessions()[0].Close(errors.New("enough"))
		synctest.Wait()
		r.Say(call(1, `{"name":"a"}`))
		r.Expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"initialize comes first"}}`)
		open(r, "2025-03-26")
	})
}

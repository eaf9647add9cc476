package stdio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
)

const (
	legacyCaps  = `{"sampling":{},"roots":{},"elicitation":{}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func hello(id int, revision string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"stub","version":"1"}}}`, id, revision)
}

// open begins a session of a revision.
func open(r *mcptest.Raw, revision string) {
	r.Say(mcptest.Initialize(0, revision, legacyCaps))
	r.Expect(hello(0, revision))
	r.Say(initialized)
}

func call(id any, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":%s}`, id, params)
}

func within(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// Both eras on one pair of pipes, message by message. W18.1, W7.1, P17
func TestServeSpeaksEveryRevisionOnOnePairOfPipes(t *testing.T) {
	within(t, func(t *testing.T) {
		r := mcptest.Stdio(t, &mcptest.Stub{OnServe: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
			return jsonrpc.Result(fmt.Appendf(nil, `{"revision":%q,"session":%v}`, x.Revision(), x.Session() != nil))
		}}, stdio.Options{})
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
				r := mcptest.Stdio(t, &mcptest.Stub{}, stdio.Options{})
				open(r, revision)
				r.Say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
				r.Expect(`{"jsonrpc":"2.0","id":"p","result":{}}`) // W21.1
			})
		})
	}
}

// What is no request of this moment. W1.8, W1.10, W4.1, W4.9, W12.3, W12.4, W21.4, P34
func TestServeRefuses(t *testing.T) {
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
		"blank lines are nothing":                          {{"\n  \r\n" + ping.say, ping.expect}},
		"a byte order mark is nothing":                     {{"\ufeff" + ping.say, ping.expect}},
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
				r := mcptest.Stdio(t, &mcptest.Stub{}, stdio.Options{MaxMessageBytes: 4096})
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
func TestServeBatch(t *testing.T) {
	within(t, func(t *testing.T) {
		stub := &mcptest.Stub{}
		r := mcptest.Stdio(t, stub, stdio.Options{})
		open(r, "2025-03-26")
		r.Say(`[` + call(1, `{"name":"a"}`) + `,{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},` + call(`"1"`, `{"name":"b"}`) + `,{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
		r.ExpectAll(`{"jsonrpc":"2.0","id":1,"result":{"echo":"tools/call"}}`, `{"jsonrpc":"2.0","id":"1","result":{"echo":"tools/call"}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		synctest.Wait()
		if got := stub.Notified(); len(got) != 1 {
			t.Errorf("notified %v", got)
		}
	})
}

// What a request sends comes before its answer and in order; nothing follows
// it. W20.3
func TestServeKeepsTheOrder(t *testing.T) {
	within(t, func(t *testing.T) {
		var after error
		r := mcptest.Stdio(t, &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
			for i := range 50 {
				_ = x.Notify(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`, 2*i))
				_ = x.NotifyWait(ctx, fmt.Appendf(nil, "{\"jsonrpc\":\"2.0\",\n\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":%d}}", 2*i+1))
			}
			context.AfterFunc(ctx, func() {
				after = x.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/late"}`))
			})
			return jsonrpc.Result([]byte("{\n\"ok\":true\n}"))
		}}, stdio.Options{QueueMessages: 4})
		open(r, "2025-06-18")
		r.Say(call(1, `{"name":"a"}`))
		for i := range 100 {
			r.Expect(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`, i))
		}
		r.Expect(`{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`)
		r.Silent(time.Minute)
		if after == nil {
			t.Error("a notification after the answer was taken")
		}
	})
}

// A cancel ends the request without an answer, in both eras. W18.6, W19.2, W19.8, W19.10
func TestServeCancel(t *testing.T) {
	for name, params := range map[string]string{"legacy": `{"name":"a"}`, "stateless": mcptest.Modern(`"name":"a"`)} {
		t.Run(name, func(t *testing.T) {
			within(t, func(t *testing.T) {
				causes := make(chan error, 1)
				r := mcptest.Stdio(t, &mcptest.Stub{OnServe: func(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
					<-ctx.Done()
					causes <- context.Cause(ctx)
					return jsonrpc.Result([]byte(`{}`))
				}}, stdio.Options{})
				open(r, "2025-06-18")
				r.Say(call(`"c"`, params),
					call(`"c"`, params), // in flight: W1.3, W1.4
					`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c","reason":"enough"}}`)
				r.Expect(`{"jsonrpc":"2.0","id":"c","error":{"code":-32600,"message":"a request with this id is in flight","data":{"reason":"duplicate_id"}}}`)
				if cause := <-causes; !errors.Is(cause, dispatch.ErrCancelled) || !strings.Contains(cause.Error(), "enough") {
					t.Error(cause)
				}
				r.Silent(time.Minute)
				r.Say(`{"jsonrpc":"2.0","id":"c","method":"ping"}`) // the id is free again
				r.Expect(`{"jsonrpc":"2.0","id":"c","result":{}}`)
			})
		})
	}
}

// A request to the client is answered while handlers wait, and never by the
// reader. W1.11, W1.12, W13.3
func TestServeReverseCalls(t *testing.T) {
	within(t, func(t *testing.T) {
		stub := &mcptest.Stub{
			OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
				return x.Call(ctx, "roots/list", nil)
			},
			// A notification whose handler asks back, while the reader is
			// needed for the answer.
			OnNotify: func(ctx context.Context, s dispatch.Session, _ *jsonrpc.Message) {
				_ = s.Notify([]byte(`{"jsonrpc":"2.0","method":"x/heard"}`))
				s.Call(ctx, "roots/list", nil)
				_ = s.Notify([]byte(`{"jsonrpc":"2.0","method":"x/done"}`))
			},
		}
		r := mcptest.Stdio(t, stub, stdio.Options{Instance: "i", MaxMessageBytes: 1024})
		open(r, "2025-06-18")
		r.Say(call(1, `{"name":"a"}`))
		r.Expect(`{"jsonrpc":"2.0","id":"i.1","method":"roots/list"}`)
		r.Say(`{"jsonrpc":"2.0","id":"i.1","result":{"roots":[]}}`)
		r.Expect(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)

		r.Say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		r.Expect(`{"jsonrpc":"2.0","method":"x/heard"}`, `{"jsonrpc":"2.0","id":"i.2","method":"roots/list"}`)
		r.Say(call(2, `{"name":"a"}`)) // served meanwhile
		r.Expect(`{"jsonrpc":"2.0","id":"i.3","method":"roots/list"}`)
		r.Say(`{"jsonrpc":"2.0","id":"i.2","result":{}}`)
		r.Expect(`{"jsonrpc":"2.0","method":"x/done"}`)

		// An answer over the limit is lost, and whoever waits for it is told.
		r.Say(`{"jsonrpc":"2.0","id":"i.3","result":{"roots":["` + strings.Repeat("x", 2000) + `"]}}`)
		r.Expect(`{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"message is too large"}}`)

		// A request of 2026-07-28 cannot ask back.
		r.Say(call(3, mcptest.Modern(`"name":"a"`)))
		r.Expect(`{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"the client's revision has no such request","data":{"reason":"not_in_revision"}}}`)

		// A cancelled request takes its reverse call along.
		r.Say(call(4, `{"name":"a"}`))
		r.Expect(`{"jsonrpc":"2.0","id":"i.4","method":"roots/list"}`)
		r.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
		r.Expect(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"i.4"}}`)
		r.Silent(time.Minute)
	})
}

// Requests that come before initialize is answered wait for it; after a failed
// one there may be another.
func TestServeInitialize(t *testing.T) {
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
		r := mcptest.Stdio(t, stub, stdio.Options{})
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
func TestServeSessionEndedByTheServer(t *testing.T) {
	within(t, func(t *testing.T) {
		stub := &mcptest.Stub{}
		r := mcptest.Stdio(t, stub, stdio.Options{})
		open(r, "2025-06-18")
		stub.Sessions()[0].Close(errors.New("enough"))
		synctest.Wait()
		r.Say(call(1, `{"name":"a"}`))
		r.Expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"initialize comes first"}}`)
		open(r, "2025-03-26")
	})
}

// The client's last word: what it asked is answered, what needs its help ends.
// W18.7
func TestServeEndOfInput(t *testing.T) {
	within(t, func(t *testing.T) {
		causes := make(chan error, 1)
		stub := &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
			switch x.Msg.Method {
			case "subscriptions/listen":
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return jsonrpc.Result([]byte(`{}`))
			case "prompts/get":
				return x.Call(ctx, "roots/list", nil)
			}
			time.Sleep(3 * time.Second)
			return jsonrpc.Result([]byte(`{"slow":true}`))
		}}
		r := mcptest.Stdio(t, stub, stdio.Options{Instance: "i"})
		open(r, "2025-06-18")
		r.Say(call(1, `{"name":"a"}`), `{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"p"}}`,
			`{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":`+mcptest.Modern(`"notifications":{}`)+`}`)
		r.Expect(`{"jsonrpc":"2.0","id":"i.1","method":"roots/list"}`)
		r.CloseInput()
		if cause := <-causes; !errors.Is(cause, dispatch.ErrDisconnected) { // W33.8
			t.Error(cause)
		}
		r.ExpectAll(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"i.1"}}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the session has ended","data":{"reason":"session_ended"}}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"slow":true}}`)
		if err := r.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func TestServeDoesNotWaitForEver(t *testing.T) {
	within(t, func(t *testing.T) {
		r := mcptest.Stdio(t, &mcptest.Stub{OnServe: func(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
			<-ctx.Done()
			return jsonrpc.Result([]byte(`{}`))
		}}, stdio.Options{DrainTime: 2 * time.Second})
		open(r, "2025-06-18")
		began := time.Now()
		r.Say(call(1, `{"name":"a"}`))
		r.CloseInput()
		if err := r.Wait(); err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A subscription on pipes: it is open from the start, has no deadline, and ends
// by cancel. W33.3, W33.8, W18.5
func TestServeListens(t *testing.T) {
	within(t, func(t *testing.T) {
		causes := make(chan error, 1)
		r := mcptest.Stdio(t, &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
			_ = x.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}`))
			tick := time.NewTicker(time.Hour)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					_ = x.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
				case <-ctx.Done():
					causes <- context.Cause(ctx)
					return jsonrpc.Result([]byte(`{}`))
				}
			}
		}}, stdio.Options{RequestTimeout: time.Minute, MaxConcurrent: 1})
		r.Say(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":` + mcptest.Modern(`"notifications":{}`) + `}`)
		r.Expect(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}`)
		for range 26 {
			time.Sleep(time.Hour) // P33.10
			r.Expect(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		r.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
		if cause := <-causes; !errors.Is(cause, dispatch.ErrCancelled) {
			t.Error(cause)
		}
		r.Silent(2 * time.Hour)
	})
}

// This side stops: who waits is told.
func TestServeStops(t *testing.T) {
	within(t, func(t *testing.T) {
		serverIn, clientOut := io.Pipe()
		clientIn, serverOut := io.Pipe()
		ctx, stop := context.WithCancelCause(t.Context())
		ended := make(chan error)
		stub := &mcptest.Stub{OnServe: func(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
			<-ctx.Done()
			return jsonrpc.Result([]byte(`{}`))
		}}
		go func() { ended <- stdio.Serve(ctx, stub, stdio.Options{}, serverIn, serverOut) }()
		lines := stdio.NewReader(clientIn, 1<<20)
		next := func() string {
			line, err := lines.Next()
			if err != nil {
				t.Fatal(err)
			}
			return string(line.Data)
		}
		_, _ = io.WriteString(clientOut, mcptest.Initialize(0, "2025-06-18", `{}`)+"\n"+call(1, `{"name":"a"}`)+"\n")
		next()
		synctest.Wait()
		why := errors.New("told to")
		stop(why)
		if got := next(); got != `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server is shutting down","data":{"reason":"draining"}}}` {
			t.Error(got)
		}
		if _, err := lines.Next(); err != io.EOF {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, why) {
			t.Error(err)
		}
		if got := stub.Closings(); len(got) != 1 || !errors.Is(got[0], dispatch.ErrShutdown) {
			t.Errorf("closed with %v", got)
		}
	})
}

// A client that stops reading holds its producers up, and is given up after the
// write timeout. P18
func TestServeAClientThatDoesNotRead(t *testing.T) {
	within(t, func(t *testing.T) {
		serverIn, clientOut := io.Pipe()
		clientIn, serverOut := io.Pipe()
		defer clientIn.Close()
		sent, session := 0, make(chan dispatch.Session, 1)
		stub := &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
			session <- x.Session()
			for x.NotifyWait(ctx, []byte(`{"jsonrpc":"2.0","method":"x"}`)) == nil {
				sent++
			}
			<-ctx.Done()
			return jsonrpc.Result([]byte(`{}`))
		}}
		ended := make(chan error)
		go func() {
			ended <- stdio.Serve(t.Context(), stub, stdio.Options{QueueMessages: 8, WriteTimeout: time.Minute}, serverIn, serverOut)
		}()
		_, _ = io.WriteString(clientOut, mcptest.Initialize(0, "2025-06-18", `{}`)+"\n"+call(1, `{"name":"a"}`)+"\n")
		if _, err := stdio.NewReader(clientIn, 1<<20).Next(); err != nil {
			t.Fatal(err)
		}
		s := <-session
		synctest.Wait()
		// As many as the queue holds wait there, are being written, and came
		// along with the answer that was read.
		if sent > 3*8+1 {
			t.Errorf("%d messages wait for a client that does not read", sent)
		}
		if err := s.Notify([]byte(`{"jsonrpc":"2.0","method":"broadcast"}`)); err == nil {
			t.Error("a broadcast found room where there is none")
		}
		if err := <-ended; !errors.Is(err, stdio.ErrStalled) {
			t.Error(err)
		}
	})
}

// More requests than a connection may have are refused, and cost nothing.
func TestServeBoundsWhatIsInFlight(t *testing.T) {
	within(t, func(t *testing.T) {
		release := make(chan struct{})
		r := mcptest.Stdio(t, &mcptest.Stub{OnServe: func(context.Context, *dispatch.Exchange) dispatch.Outcome {
			<-release
			return jsonrpc.Result([]byte(`{}`))
		}}, stdio.Options{MaxConcurrent: 2000})
		open(r, "2025-06-18")
		for i := range 1024 {
			r.Say(call(i+1, `{"name":"a"}`))
		}
		r.Say(call(2000, `{"name":"a"}`))
		r.Expect(`{"jsonrpc":"2.0","id":2000,"error":{"code":-32603,"message":"too many requests in flight","data":{"reason":"busy"}}}`)
		close(release)
		for range 1024 {
			r.Hear()
		}
	})
}

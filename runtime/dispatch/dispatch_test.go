package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

func message(t *testing.T, text string) *jsonrpc.Message {
	t.Helper()
	m, err := jsonrpc.Parse([]byte(text), strictjson.FromClient)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func profile(revision string) mcp.Profile {
	p, _ := mcp.Lookup(revision)
	return p
}

type ended struct {
	o       dispatch.Outcome
	silence error
}

// collect is a Deliver that fails when it is called twice.
func collect(t *testing.T) (dispatch.Deliver, <-chan ended) {
	ends := make(chan ended, 1)
	return func(o dispatch.Outcome, silence error) {
		select {
		case ends <- ended{o, silence}:
		default:
			t.Error("delivered twice")
		}
	}, ends
}

// D3: one end per request, by whatever comes first, and it is observed.
func TestEnds(t *testing.T) {
	mine := jsonrpc.Errorf(-5, "mine")
	tests := map[string]struct {
		method  string
		handler dispatch.Handler
		cause   error // cancels
		timeout time.Duration
		result  string
		code    int64
		reason  string
		silent  bool
		label   string
	}{
		"an answer": {"tools/list", func(context.Context, *dispatch.Exchange) dispatch.Outcome { return dispatch.Result([]byte(`{}`)) }, nil, 0, `{}`, 0, "", false, ""},
		"a failed tool": {"tools/call", func(context.Context, *dispatch.Exchange) dispatch.Outcome {
			return dispatch.Result([]byte(`{"isError":true}`))
		}, nil, 0, `{"isError":true}`, 0, "", false, "tool_error"},
		"isError elsewhere": {"tools/list", func(context.Context, *dispatch.Exchange) dispatch.Outcome {
			return dispatch.Result([]byte(`{"isError":true}`))
		}, nil, 0, `{"isError":true}`, 0, "", false, ""},
		"an error":             {"x/y", func(context.Context, *dispatch.Exchange) dispatch.Outcome { return dispatch.Fail(mine) }, nil, 0, "", -5, "", false, "-5"},
		"nothing":              {"x/y", func(context.Context, *dispatch.Exchange) dispatch.Outcome { return dispatch.Outcome{} }, nil, 0, "", -32603, "", false, "-32603"},
		"a panic":              {"x/y", func(context.Context, *dispatch.Exchange) dispatch.Outcome { panic("boom") }, nil, 0, "", -32603, "", false, "-32603"},
		"a cancel":             {"x/y", stubborn, fmt.Errorf("%w: reason", dispatch.ErrCancelled), 0, "", 0, "", true, "cancelled"},
		"a disconnect":         {"x/y", stubborn, dispatch.ErrDisconnected, 0, "", 0, "", true, "disconnected"},
		"the deadline":         {"x/y", stubborn, nil, time.Minute, "", -32603, "timeout", false, "timeout"},
		"the end":              {"x/y", stubborn, fmt.Errorf("%w: x", dispatch.ErrShutdown), 0, "", -32603, "draining", false, "-32603"},
		"the session's end":    {"x/y", stubborn, errors.New("secret"), 0, "", -32603, "session_ended", false, "-32603"},
		"an error as cause":    {"x/y", stubborn, fmt.Errorf("wrapped: %w", mine), 0, "", -5, "", false, "-5"},
		"a cause of no cause":  {"x/y", stubborn, context.Canceled, 0, "", -32603, "session_ended", false, "-32603"},
		"end of file as cause": {"x/y", stubborn, io.EOF, 0, "", -32603, "session_ended", false, "-32603"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got hook.End
				var op hook.Operation
				d := &dispatch.Dispatcher{Timeout: func() time.Duration { return tt.timeout }, Binding: mcp.Streamable,
					Observer: &hook.Observer{OperationEnded: func(o hook.Operation, e hook.End) { op, got = o, e }}}
				deliver, ends := collect(t)
				run, err := d.Start(t.Context(), dispatch.Request{Msg: message(t, `{"jsonrpc":"2.0","id":1,"method":"`+tt.method+`","params":{"name":"n"}}`), Profile: profile("2025-11-25")}, tt.handler, deliver)
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if tt.cause != nil {
					run.Cancel(tt.cause)
				}
				e := <-ends
				run.Cancel(errors.New("late"))
				time.Sleep(time.Hour) // until the stubborn handler returns
				synctest.Wait()
				if string(e.o.Result) != tt.result || (e.silence != nil) != tt.silent {
					t.Errorf("got %+v", e)
				}
				if tt.code != 0 && (e.o.Err == nil || e.o.Err.Code != tt.code || e.o.Err.Reason() != tt.reason) {
					t.Errorf("got %+v", e.o.Err)
				}
				if got.ErrorType != tt.label || op.Revision != "2025-11-25" || op.Binding != "streamable" {
					t.Errorf("observed %+v %+v", op, got)
				}
				if want := tt.method; want != "x/y" && op.Method != want || want == "x/y" && op.Method != "_OTHER" {
					t.Errorf("method label %q", op.Method)
				}
				if (op.Tool == "n") != (tt.method == "tools/call") {
					t.Errorf("tool label %q", op.Tool)
				}
			})
		})
	}
}

// stubborn ignores its context for a while.
func stubborn(context.Context, *dispatch.Exchange) dispatch.Outcome {
	time.Sleep(30 * time.Minute)
	return dispatch.Result([]byte(`{"late":true}`))
}

// A bound that shrinks and grows, turns given in order, waiting that ends.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		most, queued := 1, 0
		d := &dispatch.Dispatcher{
			MaxConcurrent: func() int { mu.Lock(); defer mu.Unlock(); return most },
			Observer:      &hook.Observer{Queued: func(n int) { mu.Lock(); queued += n; mu.Unlock() }},
		}
		turn := make(chan int, 100)
		release := make(chan struct{})
		var runs []*dispatch.Run
		var ends []<-chan ended
		start := func(i int) {
			deliver, e := collect(t)
			run, err := d.Start(t.Context(), dispatch.Request{Msg: message(t, `{"jsonrpc":"2.0","id":1,"method":"m"}`), Profile: profile("2026-07-28")},
				func(context.Context, *dispatch.Exchange) dispatch.Outcome {
					turn <- i
					<-release
					return dispatch.Result([]byte(`{}`))
				}, deliver)
			if err != nil {
				t.Fatal(err)
			}
			runs, ends = append(runs, run), append(ends, e)
			synctest.Wait()
		}
		for i := range 1 + 10 + 1 {
			start(i)
		}
		if e := <-ends[11]; e.o.Err == nil || e.o.Err.Reason() != "busy" {
			t.Errorf("one too many: %+v", e)
		}
		if queued != 10 {
			t.Errorf("%d wait", queued)
		}
		runs[1].Cancel(dispatch.ErrCancelled)
		<-ends[1]
		start(12) // its place is free
		release <- struct{}{}
		synctest.Wait()
		mu.Lock()
		most = 4
		mu.Unlock()
		release <- struct{}{} // whoever leaves lets as many in as may be
		synctest.Wait()
		if n := len(turn); n != 2+4 {
			t.Errorf("%d had their turn", n)
		}
		if a, b := <-turn, <-turn; a != 0 || b != 2 { // 1 was cancelled
			t.Errorf("%d and %d came first", a, b)
		}
		for range 4 { // these were let in together
			if i := <-turn; i < 3 || i > 6 {
				t.Errorf("%d overtook", i)
			}
		}
		close(release)
		synctest.Wait()
		if queued != 0 {
			t.Errorf("%d wait", queued)
		}
	})
}

type channel struct {
	sent  []string
	calls int
}

func (c *channel) Notify(raw []byte) error { c.sent = append(c.sent, string(raw)); return nil }
func (c *channel) Call(ctx context.Context, _ string, _ []byte) dispatch.Outcome {
	c.calls++
	<-ctx.Done()
	return dispatch.Fail(dispatch.Explain(context.Cause(ctx)))
}

func TestExchange(t *testing.T) {
	modern := message(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"","io.modelcontextprotocol/logLevel":"info"}}}`)
	x := dispatch.NewExchange(t.Context(), dispatch.Request{Msg: modern, Profile: profile("2026-07-28"), Principal: "p", ClientInfo: []byte(`{"name":"c"}`)})
	if x.LogLevel() != "info" || string(x.ProgressToken()) != `""` || x.Session() != nil || x.Revision() != "2026-07-28" || x.Principal() != "p" ||
		string(x.ClientCapabilities()) != "{}" || string(x.ClientInfo()) != `{"name":"c"}` || x.Context() != t.Context() {
		t.Errorf("%+v", x)
	}
	if err := x.Notify(nil); err != dispatch.ErrNoChannel {
		t.Errorf("got %v", err)
	}
	legacy := dispatch.NewExchange(t.Context(), dispatch.Request{Msg: modern, Profile: profile("2025-11-25")})
	if legacy.LogLevel() != "" {
		t.Error("a log level of a legacy request")
	}
	for token, want := range map[string]string{`0`: `0`, `"a"`: `"a"`, `1.5`: "", `null`: "", `{}`: "", `9007199254740993`: `9007199254740993`} { // C24, W20.1
		x := dispatch.NewExchange(t.Context(), dispatch.Request{Msg: message(t, `{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":`+token+`}}}`)})
		if got := string(x.ProgressToken()); got != want {
			t.Errorf("%s: got %q", token, got)
		}
	}
}

// D3: a reverse call ends with its exchange, and with its own context.
func TestExchangeCall(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	c := &channel{}
	x := dispatch.NewExchange(ctx, dispatch.Request{Msg: message(t, `{"jsonrpc":"2.0","id":1,"method":"m"}`), Profile: profile("2025-11-25"), ClientCapabilities: []byte(`{"roots":{}}`), Channel: c})
	own, cancel := context.WithCancel(t.Context())
	cancel()
	if o := x.Call(own, "roots/list", nil); o.Err == nil {
		t.Errorf("%+v", o)
	}
	end(dispatch.ErrDeadline)
	if o := x.Call(context.Background(), "roots/list", nil); o.Err == nil || o.Err.Reason() != "timeout" {
		t.Errorf("%+v", o)
	}
	if o := x.Call(context.Background(), "sampling/createMessage", nil); o.Err == nil || o.Err.Reason() != "no_capability" || c.calls != 2 {
		t.Errorf("%+v after %d calls", o, c.calls)
	}
	if err := x.NotifyWait(t.Context(), []byte("n")); err != nil || len(c.sent) != 1 {
		t.Errorf("%v, %v", err, c.sent)
	}
	alone := dispatch.NewExchange(t.Context(), dispatch.Request{Msg: x.Msg, Profile: profile("2025-11-25"), ClientCapabilities: []byte(`{"roots":{}}`)})
	if o := alone.Call(context.Background(), "roots/list", nil); o.Err == nil || o.Err.Reason() != "no_channel" {
		t.Errorf("%+v", o)
	}
}

// B11.7, W5.6, W21.4: what needs no Server, and is observed all the same.
func TestAnswer(t *testing.T) {
	var seen []string
	d := &dispatch.Dispatcher{Observer: &hook.Observer{OperationEnded: func(o hook.Operation, e hook.End) { seen = append(seen, o.Method+e.ErrorType) }}}
	for _, tt := range []struct{ revision, method, want string }{
		{"2025-11-25", "ping", "ping"}, {"2026-07-28", "ping", "ping-32601"}, {"2025-11-25", "tools/list", ""}, {"2025-11-25", "vendor/own", ""},
		{"2025-11-25", "server/discover", "server/discover-32601"}, {"2026-07-28", "subscriptions/listen", ""},
		{"2024-11-05", "elicitation/create", "elicitation/create-32601"}, {"2026-07-28", "tasks/get", ""}, {"2025-06-18", "tasks/get", "tasks/get-32601"}, {"2026-07-28", "tasks/result", "tasks/result-32601"},
	} {
		seen = nil
		o, answered := d.Answer(t.Context(), dispatch.Request{Msg: message(t, `{"jsonrpc":"2.0","id":1,"method":"`+tt.method+`"}`), Profile: profile(tt.revision)})
		if answered != (tt.want != "") || answered && (len(seen) != 1 || seen[0] != tt.want || (o.Err == nil) != (string(o.Result) == "{}")) {
			t.Errorf("%s in %s: %+v, observed %v", tt.method, tt.revision, o, seen)
		}
	}
}

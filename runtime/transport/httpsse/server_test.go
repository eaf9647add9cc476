package httpsse_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/transport/httpsse"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// The bytes of a stream's beginning. W13.1, W13.2, R18
func TestTheFirstEventNamesTheEndpoint(t *testing.T) {
	inLab(t, &mcptest.Stub{}, httpsse.Settings{}, func(l *lab) {
		for path, base := range map[string]string{"/sse": "/sse", "/sse/": "/sse/"} {
			ctx, stop := context.WithCancel(l.t.Context())
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, l.URL+path, nil)
			resp, err := l.Client.Do(req) // no Accept: everything (R1)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"} {
				if got := resp.Header.Get(name); got != want {
					t.Errorf("%s: %s", name, got)
				}
			}
			lines := bufio.NewReader(resp.Body)
			event, _ := lines.ReadString('\n')
			data, _ := lines.ReadString('\n')
			ref, ok := strings.CutPrefix(strings.TrimSpace(data), "data: ")
			if event != "event: endpoint\n" || !ok {
				t.Fatalf("%q %q", event, data)
			}
			at, err := resp.Request.URL.Parse(ref)
			if err != nil || at.Path != base || len(at.Query().Get("sessionId")) < 64 || at.Host != "localhost" {
				t.Errorf("%s: %s, %v", path, at, err)
			}
			stop()
			_ = resp.Body.Close()
		}
	})
}

// Every revision with a handshake, all answers on the one stream. W13.3, W13.6, P17
func TestEveryRevisionWithAHandshake(t *testing.T) {
	for _, revision := range mcp.Legacy() {
		t.Run(revision, func(t *testing.T) {
			inLab(t, &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
				_ = x.Notify([]byte("{\"jsonrpc\":\"2.0\",\n\"method\":\"notifications/message\"}"))
				return x.Call(ctx, "roots/list", nil)
			}}, httpsse.Settings{}, func(l *lab) {
				r := l.session(revision)
				r.Say(call(1))
				r.Expect(`{"jsonrpc":"2.0","method":"notifications/message"}`, `{"jsonrpc":"2.0","id":"p.1","method":"roots/list"}`)
				r.Say(`{"jsonrpc":"2.0","id":"p.1","result":{"roots":[]}}`)
				r.Expect(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)
				r.Say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
				r.Expect(`{"jsonrpc":"2.0","id":2,"result":{}}`)
			})
		})
	}
}

// What does not belong here. W12.4, P17
func TestWhatASessionRefuses(t *testing.T) {
	refused := func(id, code, message string) string {
		if id != "" {
			id = `"id":` + id + `,`
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0",%s"error":{"code":%s,"message":%q}}`, id, code, message)
	}
	for name, tc := range map[string]struct{ revision, say, want string }{
		"a stateless request":            {"2025-06-18", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":` + mcptest.Modern("") + `}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"protocol version is not supported","data":{"supported":["2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2026-07-28"}}}`},
		"garbage with id null":           {"2024-11-05", `{`, refused("null", "-32700", "body is not valid JSON")},
		"garbage without an id":          {"2025-11-25", `{`, refused("", "-32700", "body is not valid JSON")},
		"a batch":                        {"2024-11-05", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, refused("null", "-32600", "this revision has no batches")},
		"a batch of 2025-03-26 is taken": {"2025-03-26", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		"a second initialize":            {"2025-03-26", mcptest.Initialize(1, "2025-03-26", `{}`), refused("1", "-32600", "the session is initialized already")},
	} {
		t.Run(name, func(t *testing.T) {
			inLab(t, &mcptest.Stub{}, httpsse.Settings{}, func(l *lab) {
				r := l.session(tc.revision)
				r.Say(tc.say)
				r.Expect(tc.want)
			})
		})
	}
}

// Who may do what on the endpoint, before any message. W13.4, W13.6, W17.1, W17.2, W11.3, W13.7, P33.3, P33.5, P33.6
func TestTheEdge(t *testing.T) {
	const local = "http://localhost"
	for name, tc := range map[string]struct {
		method, target, body string
		header               []string
		status               int
		want                 string // in the body
	}{
		"another path":             {"GET", "/other", "", nil, 404, ""},
		"another host":             {"GET", "/sse", "", []string{"Host", "evil.example"}, 403, "host not allowed"},
		"another origin":           {"GET", "/sse", "", []string{"Origin", "https://evil.example"}, 403, "origin not allowed"},
		"another origin, POST":     {"POST", "/sse?sessionId=x", "{}", []string{"Origin", "https://evil.example"}, 403, "origin not allowed"},
		"a stream not accepted":    {"GET", "/sse", "", []string{"Accept", "application/json"}, 406, "accept text/event-stream"},
		"preflight":                {"OPTIONS", "/sse", "", []string{"Origin", local, "Access-Control-Request-Headers", "content-type, x-evil"}, 204, ""},
		"HEAD":                     {"HEAD", "/sse", "", nil, 405, ""},
		"DELETE":                   {"DELETE", "/sse", "", nil, 405, "method not allowed"},
		"POST without a session":   {"POST", "/sse", "{}", nil, 405, "POST goes where the endpoint event of a GET says\n"},
		"POST to no session":       {"POST", "/sse?sessionId=x", "{}", nil, 404, "session not found"},
		"POST of an old revision":  {"POST", "/sse?sessionId=$", "{}", []string{"MCP-Protocol-Version", "1999-01-01"}, 400, "protocol version is not supported"},
		"POST of the modern era":   {"POST", "/sse?sessionId=$", "{}", []string{"MCP-Protocol-Version", "2026-07-28"}, 400, "protocol version is not supported"},
		"POST with two versions":   {"POST", "/sse?sessionId=$", "{}", []string{"MCP-Protocol-Version", "2025-06-18", "MCP-Protocol-Version", "2025-06-18"}, 400, "is there twice"},
		"POST with a version":      {"POST", "/sse?sessionId=$", `{"jsonrpc":"2.0","method":"x"}`, []string{"MCP-Protocol-Version", "2025-11-25"}, 202, ""},
		"POST of a form":           {"POST", "/sse?sessionId=$", "{}", []string{"Content-Type", "-", "Content-Type", "text/plain"}, 415, "content type"},
		"POST of gzip":             {"POST", "/sse?sessionId=$", "{}", []string{"Content-Encoding", "gzip"}, 415, "content encoding"},
		"POST that is too large":   {"POST", "/sse?sessionId=$", strings.Repeat(" ", 2000), nil, 413, "too large"},
		"POST of nothing":          {"POST", "/sse?sessionId=$", "", nil, 400, "not valid JSON"},
		"a token in the query":     {"GET", "/sse?access_token=x", "", nil, 400, "no tokens in the query"},
		"a local origin is fine":   {"POST", "/sse?sessionId=$", `{"jsonrpc":"2.0","method":"x"}`, []string{"Origin", local}, 202, ""},
		"charset and case as well": {"POST", "/sse/?sessionId=$", `{"jsonrpc":"2.0","method":"x"}`, []string{"Content-Type", "-", "Content-Type", `APPLICATION/JSON; charset="UTF-8"`}, 202, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inLab(t, &mcptest.Stub{}, httpsse.Settings{MaxBodyBytes: 1024}, func(l *lab) {
				target := tc.target
				if strings.Contains(target, "$") {
					token, stop := l.token()
					defer stop()
					target = strings.Replace(target, "$", url.QueryEscape(token), 1)
				}
				resp, body := l.do(tc.method, target, tc.body, tc.header...)
				if resp.StatusCode != tc.status || !strings.Contains(body, tc.want) {
					t.Errorf("%d %s", resp.StatusCode, body)
				}
				if slices.Contains(tc.header, local) && resp.Header.Get("Access-Control-Allow-Origin") != local {
					t.Error("no CORS fields") // R21
				}
				if name == "preflight" && resp.Header.Get("Access-Control-Allow-Headers") != "content-type" {
					t.Errorf("%v", resp.Header)
				}
			})
		})
	}
}

// token opens a stream by hand and returns its session id.
func (l *lab) token() (token string, stop func()) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(l.t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, l.URL+"/sse", nil)
	resp, err := l.Client.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	lines := bufio.NewReader(resp.Body)
	_, _ = lines.ReadString('\n')
	data, _ := lines.ReadString('\n')
	ref, err := url.Parse(strings.TrimPrefix(strings.TrimSpace(data), "data: "))
	if err != nil {
		l.t.Fatal(err)
	}
	return ref.Query().Get("sessionId"), func() { cancel(); _ = resp.Body.Close() }
}

// A session id is good for who opened it, and for nobody else. B0.6, P33.12
func TestSessionsBelongToTheirPrincipal(t *testing.T) {
	inLab(t, &mcptest.Stub{}, httpsse.Settings{}, func(l *lab) {
		who := "ann"
		l.server.Authenticate = func(r *http.Request) (*auth.Identity, error) {
			if r.Header.Get("Authorization") == "bad" {
				return nil, &auth.Denied{Status: 401, Challenge: "Bearer", Message: "who are you"}
			}
			return &auth.Identity{Principal: who}, nil
		}
		token, stop := l.token()
		defer stop()
		const note = `{"jsonrpc":"2.0","method":"x"}`
		target := "/sse?sessionId=" + url.QueryEscape(token)
		if resp, _ := l.do("POST", target, note); resp.StatusCode != 202 {
			t.Errorf("its owner got %d", resp.StatusCode)
		}
		if resp, _ := l.do("POST", target, note, "Authorization", "bad"); resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("nobody got %d %v", resp.StatusCode, resp.Header)
		}
		who = "bob"
		if resp, _ := l.do("POST", target, note); resp.StatusCode != 404 {
			t.Errorf("somebody else got %d", resp.StatusCode)
		}
	})
}

// The end of a token is the end of its stream. B10.8
func TestAStreamEndsWithItsToken(t *testing.T) {
	inLab(t, &mcptest.Stub{}, httpsse.Settings{}, func(l *lab) {
		l.server.Authenticate = func(*http.Request) (*auth.Identity, error) {
			return &auth.Identity{Principal: "ann", Expires: time.Now().Add(time.Hour)}, nil
		}
		began := time.Now()
		r := l.session("2025-06-18")
		_ = r.WaitWithin(2 * time.Hour)
		if took := time.Since(began); took != time.Hour {
			t.Errorf("ended after %s", took)
		}
		if got := l.ended(); !slices.Equal(got, []hook.StreamEnd{hook.StreamDrained}) {
			t.Error(got)
		}
	})
}

// A client that says nothing is not kept; one that does is, for any time. R20, P33.10
func TestClocks(t *testing.T) {
	stub := &mcptest.Stub{}
	inLab(t, stub, httpsse.Settings{KeepAlive: 10 * time.Second}, func(l *lab) {
		began := time.Now()
		_ = l.open().WaitWithin(time.Hour)
		if took := time.Since(began); took != time.Minute {
			t.Errorf("without initialize it ended after %s", took)
		}
		r := l.open()
		began = time.Now()
		r.Say(mcptest.Initialize(0, "2025-06-18", `{}`))
		_ = r.WaitWithin(time.Hour)
		if took := time.Since(began); took != time.Minute {
			t.Errorf("after initialize it ended after %s", took)
		}
		l.session("2025-06-18").Silent(26 * time.Hour)
		if got := len(stub.Closings()); got != 1 {
			t.Errorf("%d sessions have ended", got)
		}
	})
}

// The stream's end is the session's end, whoever ends it.
func TestTheStreamIsTheSession(t *testing.T) {
	causes := make(chan error, 1)
	stub := &mcptest.Stub{OnServe: func(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return jsonrpc.Result([]byte(`{}`))
	}}
	inLab(t, stub, httpsse.Settings{}, func(l *lab) {
		r := l.session("2025-06-18")
		r.Say(call(1))
		synctest.Wait()
		r.CloseInput()
		if cause := <-causes; !errors.Is(cause, dispatch.ErrDisconnected) {
			t.Error(cause)
		}
		if err := r.Write([]byte(call(2))); err == nil || !strings.Contains(err.Error(), "404") { // W13.6
			t.Error(err)
		}

		r = l.session("2025-06-18")
		r.Say(call(3))
		synctest.Wait()
		stub.Sessions()[1].Close(errors.New("enough"))
		r.Expect(`{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"the session has ended","data":{"reason":"session_ended"}}}`)
		_ = r.Wait()
		<-causes
	})
}

// A reader that is too slow ends its own stream; nobody waits for it. P18
func TestASlowReaderEndsItself(t *testing.T) {
	inLab(t, &mcptest.Stub{}, httpsse.Settings{WriteTimeout: time.Minute}, func(l *lab) {
		token, stop := l.token() // reads no further
		defer stop()
		stub := l.server.Handler.(*mcptest.Stub)
		if resp, _ := l.do("POST", "/sse?sessionId="+url.QueryEscape(token), mcptest.Initialize(0, "2025-06-18", `{}`)); resp.StatusCode != 202 {
			t.Fatal(resp.StatusCode)
		}
		healthy := l.session("2025-06-18")
		synctest.Wait()
		sessions := stub.Sessions()
		note := []byte(`{"jsonrpc":"2.0","method":"x","params":{"a":"` + strings.Repeat("x", 64<<10) + `"}}`)
		began := time.Now()
		for range 1000 {
			for _, s := range sessions {
				_ = s.Notify(note)
			}
			healthy.Hear()
		}
		if time.Since(began) > 0 {
			t.Error("somebody waited")
		}
		if got := l.ended(); len(got) != 0 {
			t.Error("the write is still within its time", got)
		}
		time.Sleep(2 * time.Minute)
		if got := l.ended(); len(got) != 1 || got[0] == hook.StreamDone {
			t.Error(got)
		}
		healthy.Say(call(1))
		healthy.Expect(`{"jsonrpc":"2.0","id":1,"result":{"echo":"tools/call"}}`)
	})
}

func TestBounds(t *testing.T) {
	inLab(t, &mcptest.Stub{}, httpsse.Settings{MaxConnections: 3, MaxConnectionsPerPrincipal: 2}, func(l *lab) {
		l.server.Authenticate = func(r *http.Request) (*auth.Identity, error) {
			return &auth.Identity{Principal: r.Header.Get("Authorization")}, nil
		}
		a := l.session("2025-06-18")
		l.session("2025-06-18")
		if resp, body := l.do("GET", "/sse", ""); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" { // P1
			t.Errorf("a third of one principal: %d %s", resp.StatusCode, body)
		}
		if resp, _ := l.do("GET", "/sse", "", "Authorization", "bob"); resp.StatusCode != 200 {
			t.Errorf("a first of another: %d", resp.StatusCode)
		}
		a.CloseInput()
		_ = a.Wait()
		synctest.Wait()
		l.session("2025-06-18")
	})
}

// Streams end once they have nothing in flight, new ones are refused. P24
func TestDrain(t *testing.T) {
	release := make(chan struct{})
	inLab(t, &mcptest.Stub{OnServe: func(context.Context, *dispatch.Exchange) dispatch.Outcome {
		<-release
		return jsonrpc.Result([]byte(`{}`))
	}}, httpsse.Settings{}, func(l *lab) {
		release = make(chan struct{}) // of the bubble
		idle, busy := l.session("2025-06-18"), l.session("2025-06-18")
		busy.Say(call(1))
		synctest.Wait()
		l.server.Drain(10 * time.Second)
		if resp, _ := l.do("GET", "/sse", ""); resp.StatusCode != 503 {
			t.Errorf("a new stream: %d", resp.StatusCode)
		}
		_ = idle.Wait()
		busy.Silent(20 * time.Second)
		close(release)
		busy.Expect(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		_ = busy.Wait()
		if got := l.ended(); !slices.Equal(got, []hook.StreamEnd{hook.StreamDrained, hook.StreamDrained}) {
			t.Error(got)
		}
	})
}

func TestCutTellsWhoWaits(t *testing.T) {
	stub := &mcptest.Stub{OnServe: func(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
		<-ctx.Done()
		return jsonrpc.Result([]byte(`{}`))
	}}
	inLab(t, stub, httpsse.Settings{}, func(l *lab) {
		r := l.session("2025-06-18")
		r.Say(call(1))
		synctest.Wait()
		l.server.Cut(errors.New("enough"))
		r.Expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server is shutting down","data":{"reason":"draining"}}}`)
		_ = r.Wait()
		if got := stub.Closings(); len(got) != 1 || !errors.Is(got[0], dispatch.ErrShutdown) {
			t.Errorf("closed with %v", got)
		}
	})
}

// One URL for both transports. P17, W13.5
func TestOnTheURLOfStreamableHTTP(t *testing.T) {
	inLab(t, &mcptest.Stub{}, httpsse.Settings{}, func(l *lab) {
		var off atomic.Bool
		one := &streamable.Server{Handler: l.server.Handler, Keys: l.server.Keys, HTTPSSE: true,
			Settings: func() streamable.Settings { return streamable.Settings{NoHTTPSSE: off.Load()} }}
		web := mcptest.Virtual(l.t, one, nil)
		old := mcptest.HTTPSSE(l.t, web, "/mcp")
		old.Say(mcptest.Initialize(0, "2024-11-05", caps))
		old.Expect(hello(0, "2024-11-05"))
		old.Say(call(1))
		old.Expect(`{"jsonrpc":"2.0","id":1,"result":{"echo":"tools/call"}}`)

		resp, err := web.Client.Post(web.URL+"/mcp", "application/json", strings.NewReader(mcptest.Initialize(0, "2025-06-18", caps)))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		id := resp.Header.Get("Mcp-Session-Id")
		if resp.StatusCode != 200 || id == "" {
			t.Errorf("streamable: %d", resp.StatusCode)
		}
		if n := one.Sessions(); n != 2 {
			t.Errorf("%d sessions", n)
		}
		for name, header := range map[string][2]string{"a session": {"Mcp-Session-Id", id}, "an unknown session": {"Mcp-Session-Id", "x"}, "a revision": {"MCP-Protocol-Version", "2025-06-18"}} {
			ctx, stop := context.WithCancel(l.t.Context())
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, web.URL+"/mcp", nil)
			req.Header.Set(header[0], header[1])
			resp, err := web.Client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]int{"a session": 200, "an unknown session": 404, "a revision": 405}[name]
			if resp.StatusCode != want {
				t.Errorf("a GET with %s: %d", name, resp.StatusCode)
			}
			stop()
			_ = resp.Body.Close()
		}
		off.Store(true)
		if resp, err := web.Client.Get(web.URL + "/mcp"); err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("a new stream when it is turned off: %v, %v", resp, err)
		} else {
			_ = resp.Body.Close()
		}
		old.Say(call(2)) // what is open lives on
		old.Expect(`{"jsonrpc":"2.0","id":2,"result":{"echo":"tools/call"}}`)
		one.Drain(0)
		_ = old.Wait()
		if err := one.Shutdown(l.t.Context(), errors.New("over")); err != nil {
			t.Error(err)
		}
		if n := one.Streams() + one.Sessions(); n != 0 {
			t.Errorf("%d are left", n)
		}
	})
}

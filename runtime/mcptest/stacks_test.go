package mcptest_test

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// trace is what one stack has seen.
type trace struct {
	mu   sync.Mutex
	seen []string
}

func (r *trace) link(next middleware.Handler) middleware.Handler {
	return func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
		line := fmt.Sprintf("%d %s %s of %s failed %t", m.Kind, m.Method, m.ID, m.Parent, m.Err != nil)
		r.mu.Lock()
		r.seen = append(r.seen, line)
		r.mu.Unlock()
		return next(ctx, m)
	}
}

func (r *trace) sorted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := append([]string(nil), r.seen...)
	sort.Strings(out)
	return out
}

func (r *trace) count(part string) (n int) {
	for _, line := range r.sorted() {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

// D4: over every transport and in every revision, what one side's send stack
// sees is what the other side's receive stack sees, each message exactly once:
// handshake, requests, ping, unknown methods, notifications, reverse requests,
// their answers, cancels and responses.
func TestFourStacksSeeEverythingOnce(t *testing.T) {
	for _, way := range mcptest.Ways() {
		for _, revision := range mcp.Revisions() {
			if !way.Carries(revision) {
				continue
			}
			t.Run(string(way)+" "+revision, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { fourStacks(t, way, revision) })
			})
		}
	}
}

func fourStacks(t *testing.T, way mcptest.Way, revision string) {
	p, _ := mcp.Lookup(revision)
	var clientSend, clientReceive, serverSend, serverReceive trace
	hanging := make(chan struct{}, 1)
	stub := &mcptest.Stub{OnServe: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
		switch raw, _ := strictjson.Get(x.Msg.Params, "name"); {
		case x.Msg.Method == mcp.MethodDiscover:
			return jsonrpc.Result([]byte(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}},"ttlMs":0,"cacheScope":"private"}`))
		case x.Msg.Method == "vendor/unknown":
			return jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "no"))
		case string(raw) == `"ask"`:
			_ = x.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`))
			if p.ReverseCalls {
				if o := x.Call(ctx, mcp.MethodRootsList, nil); o.Err != nil {
					t.Errorf("roots: %v", o.Err)
				}
			}
		case string(raw) == `"hang"`:
			hanging <- struct{}{}
			<-ctx.Done()
		}
		return jsonrpc.Result([]byte(`{"resultType":"complete","content":[],"tools":[],"ttlMs":0,"cacheScope":"private"}`))
	}}
	target := mcptest.Reach(t, stub, way, mcptest.Serving{Receive: serverReceive.link, Send: serverSend.link, Virtual: true})
	c, err := client.Connect(t.Context(), client.Options{
		Server: target, Revision: revision, Send: clientSend.link, Receive: clientReceive.link,
		Handlers: client.Handlers{
			Roots:        func(context.Context) ([]client.Root, error) { return nil, nil },
			Notification: func(client.Notification) {},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if p.Handshake {
		if err := c.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		if err := c.Notify(t.Context(), mcp.NotifyRootsChanged, nil); err != nil {
			t.Error(err)
		}
		synctest.Wait() // the standalone stream is open
		for _, s := range stub.Sessions() {
			if err := s.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)); err != nil {
				t.Error(err)
			}
		}
	}
	for _, method := range []string{mcp.MethodToolsList, "vendor/unknown"} {
		if _, err := c.Call(t.Context(), method, nil); (err != nil) != (method == "vendor/unknown") {
			t.Errorf("%s: %v", method, err)
		}
	}
	if _, err := c.Call(t.Context(), mcp.MethodToolsCall, map[string]any{"name": "ask", "arguments": map[string]any{}}); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		_, err := c.Call(ctx, mcp.MethodToolsCall, map[string]any{"name": "hang", "arguments": map[string]any{}})
		over <- err
	}()
	<-hanging
	cancel()
	if err := <-over; err == nil {
		t.Error("a cancelled call was answered")
	}
	synctest.Wait()
	sent := clientSend.sorted()
	if way == mcptest.WayHTTPSSE {
		sent = sent[1:] // the first initialize was a POST, which such a server refuses (W13.7)
	}
	compare(t, "client to server", sent, serverReceive.sorted())
	compare(t, "server to client", serverSend.sorted(), clientReceive.sorted())
	for part, want := range map[string]int{mcp.MethodToolsCall: 2, "vendor/unknown": 1, mcp.MethodToolsList: 1} {
		if n := clientSend.count(" " + part + " "); n != want {
			t.Errorf("%d times %s", n, part)
		}
	}
	if cancels := clientSend.count(mcp.NotifyCancelled); (cancels == 1) != (p.On(binding(way)).CancelNotification) { // W19.1, W19.8
		t.Errorf("%d cancels", cancels)
	}
	if p.ReverseCalls && serverSend.count(mcp.MethodRootsList) != 1 {
		t.Error("no reverse request")
	}
}

func binding(way mcptest.Way) mcp.Binding {
	switch way {
	case mcptest.WayStreamable:
		return mcp.Streamable
	case mcptest.WayHTTPSSE:
		return mcp.HTTPSSE
	}
	return mcp.Stdio
}

func compare(t *testing.T, what string, sent, received []string) {
	t.Helper()
	if s, r := strings.Join(sent, "\n"), strings.Join(received, "\n"); s != r {
		t.Errorf("%s: sent\n%s\nreceived\n%s", what, s, r)
	}
}

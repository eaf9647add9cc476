package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// heard collects notifications.
type heard struct {
	mu  sync.Mutex
	all []string
}

func (h *heard) add(n Notification) {
	h.mu.Lock()
	defer h.mu.Unlock()
	line := strings.TrimPrefix(n.Method, "notifications/")
	if uri := text(n.Params, "uri") + text(n.Params, "taskId"); uri != "" {
		line += " " + uri
	}
	if n.Missed {
		line += " (missed)"
	}
	h.all = append(h.all, line)
}

func (h *heard) got() string {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.all, "; ")
}

// tell says a notification of a subscription.
func (f *fake) tell(m *jsonrpc.Message, method, members string) {
	f.say(`{"jsonrpc":"2.0","method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + m.ID.String() + `}` + members + `}}`)
}

func (f *fake) ack(m *jsonrpc.Message, honoured string) {
	f.tell(m, mcp.NotifyAcknowledged, `,"notifications":`+honoured)
}

// W33.2, W33.6, W33.13, W18.5, W18.6, W18.8, W40.1: subscriptions without a
// session, on one pipe.
func TestListenWithoutASession(t *testing.T) {
	listens := 0
	s := modern(nil)
	s.serve = func(f *fake, m *jsonrpc.Message) {
		if m.Method != mcp.MethodListen {
			return
		}
		switch listens++; listens {
		case 1: // works, then the server tears it down
			f.ack(m, `{"toolsListChanged":true,"resourceSubscriptions":["u:a"]}`)
			f.tell(m, mcp.NotifyToolsChanged, "")
			sleepFor(1)
			f.tell(m, mcp.NotifyResourceUpdated, `,"uri":"u:a"`)
			f.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":4711}}}`)
			f.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + m.ID.String() + `}}`)
		case 2: // ends with a result
			f.ack(m, `{"toolsListChanged":true,"resourceSubscriptions":["u:a"]}`)
			sleepFor(1)
			f.tell(m, mcp.NotifyToolsChanged, "")
			sleepFor(1)
			f.result(m, `{"resultType":"complete"}`)
		case 3: // the process dies
			f.ack(m, `{"toolsListChanged":true}`)
			f.end(errors.New("crashed"))
		default:
			f.ack(m, `{"toolsListChanged":true}`)
		}
	}
	bubble(t, s, Options{}, func(t *testing.T, c *Client) {
		var log heard
		sub, err := c.Listen(t.Context(), Filter{Tools: true, Prompts: true, URIs: []string{"u:a", "u:b"}}, log.add)
		if err != nil {
			t.Fatal(err)
		}
		if h := sub.Honoured(); !h.Tools || h.Prompts || fmt.Sprint(h.URIs) != "[u:a]" {
			t.Errorf("%+v", h)
		}
		sleepFor(60_000)
		const want = "tools/list_changed; resources/updated u:a; tools/list_changed (missed); resources/updated u:a (missed); tools/list_changed; tools/list_changed (missed); tools/list_changed (missed)"
		if got := log.got(); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		if got := s.links[0].sent(mcp.MethodListen)[0]; params(got) != `{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["u:a","u:b"]}}` {
			t.Error(got)
		}
		_ = sub.Close()
		synctest.Wait()
		if sub.Err() != ErrClosed || len(s.last().sent(mcp.NotifyCancelled)) != 1 {
			t.Error(sub.Err(), s.last().log)
		}
	})
}

func TestListenThatComesToNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		serve  func(f *fake, m *jsonrpc.Message)
		filter Filter
		want   string
		n      int
	}{
		"nothing asked for": {nil, Filter{}, "the filter asks for nothing", 0},
		"no such method":    {func(f *fake, m *jsonrpc.Message) { f.fail(m, -32601, "unknown", "") }, Filter{Tools: true}, "unknown", 1},
		"ended without ack": {func(f *fake, m *jsonrpc.Message) { f.result(m, `{}`) }, Filter{Tools: true}, ErrNothingHonoured.Error(), 1},
		"ended before its ack": {func(f *fake, m *jsonrpc.Message) {
			f.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + m.ID.String() + `}}`)
		}, Filter{Tools: true}, "again and again", maxBarren + 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := modern(tc.serve)
			bubble(t, s, Options{}, func(t *testing.T, c *Client) {
				_, err := c.Listen(t.Context(), tc.filter, func(Notification) {})
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Error(err)
				}
				if n := len(s.last().sent(mcp.MethodListen)); n != tc.n {
					t.Errorf("%d subscriptions", n)
				}
			})
		})
	}
}

// W5.16: a refusal that passes ends no subscription, whatever its body says; one
// that is about it does.
func TestListenOutlivesARefusalThatPasses(t *testing.T) {
	for _, make := range []func(func(*fake, *jsonrpc.Message)) *fakes{modern, legacy} {
		refusals := []int{0, 503, 401, 0, 400}
		asked := 0
		s := make(func(f *fake, m *jsonrpc.Message) {
			switch m.Method {
			case mcp.MethodListen:
				f.ack(m, `{"resourceSubscriptions":["u:a"]}`)
				sleepFor(1)
				f.end(errors.New("crashed"))
			case mcp.MethodSubscribe:
				f.result(m, `{}`)
				sleepFor(1)
				f.end(errors.New("crashed"))
			}
		})
		s.turn = func(m *jsonrpc.Message) error {
			if m.Method != mcp.MethodListen && m.Method != mcp.MethodSubscribe {
				return nil
			}
			status := refusals[min(asked, len(refusals)-1)]
			if asked++; status == 0 {
				return nil
			}
			return &peer.Failure{Reason: peer.Status, Status: status, Err: jsonrpc.Errorf(-32600, "sorry")}
		}
		bubble(t, s, Options{}, func(t *testing.T, c *Client) {
			sub, err := c.Listen(t.Context(), Filter{URIs: []string{"u:a"}}, func(Notification) {})
			if err != nil {
				t.Fatal(err)
			}
			<-sub.Done()
			if rpcError(sub.Err()) == nil || asked != len(refusals) {
				t.Errorf("%s: after %d attempts: %v", s.revision, asked, sub.Err())
			}
		})
	}
}

// W26.8, W33.1: with a session, the same API.
func TestListenInASession(t *testing.T) {
	s := legacy(nil)
	s.caps = `{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true}}`
	s.serve = func(f *fake, m *jsonrpc.Message) {
		if text(m.Params, "uri") == "u:no" {
			f.fail(m, -32602, "no such resource", "")
			return
		}
		f.result(m, `{}`)
	}
	bubble(t, s, Options{}, func(t *testing.T, c *Client) {
		var a, b heard
		one, err := c.Listen(t.Context(), Filter{Tools: true, Prompts: true, URIs: []string{"u:a", "u:no"}}, a.add)
		if err != nil {
			t.Fatal(err)
		}
		if h := one.Honoured(); !h.Tools || h.Prompts || fmt.Sprint(h.URIs) != "[u:a]" {
			t.Errorf("%+v", h)
		}
		ctx, stop := context.WithCancel(t.Context())
		two, err := c.Listen(ctx, Filter{URIs: []string{"u:a"}}, b.add)
		if err != nil {
			t.Fatal(err)
		}
		tell := func(f *fake) {
			f.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			f.say(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`)
			for _, uri := range []string{"u:a", "u:a/part", "u:ab"} {
				f.say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri + `"}}`)
			}
		}
		tell(s.last())
		if got := a.got(); got != "tools/list_changed; prompts/list_changed; resources/updated u:a; resources/updated u:a/part" { // asked for is heard, declared or not
			t.Error(got)
		}
		if got := b.got(); got != "resources/updated u:a; resources/updated u:a/part" {
			t.Error(got)
		}
		// The last one who wants it unsubscribes.
		stop()
		<-two.Done()
		if got := s.last().sent(mcp.MethodUnsubscribe); len(got) != 0 {
			t.Error(got)
		}
		s.last().end(errors.New("crashed"))
		sleepFor(5000)
		if got := a.got(); !strings.HasSuffix(got, "tools/list_changed (missed); resources/updated u:a (missed)") {
			t.Error(got)
		}
		_ = one.Close()
		if got := s.last().sent(mcp.MethodUnsubscribe); len(got) != 1 || params(got[0]) != `{"uri":"u:a"}` {
			t.Error(got)
		}
		if got := s.last().sent(mcp.MethodSubscribe); len(got) != 2 {
			t.Errorf("after the crash: %v", got)
		}
		if s.last().listen != 1 {
			t.Errorf("the stream for what belongs to no request was opened %d times", s.last().listen)
		}
		_, err = c.Listen(t.Context(), Filter{Prompts: true}, a.add)
		if !errors.Is(err, ErrNothingHonoured) {
			t.Error(err)
		}
		if _, err = c.Listen(t.Context(), Filter{URIs: []string{"u:no"}}, a.add); !errors.Is(err, ErrNothingHonoured) || rpcError(err) == nil {
			t.Error(err)
		}
	})
}

// A slow reader of one subscription delays nobody, and costs a bounded queue.
func TestSlowListeners(t *testing.T) {
	s := legacy(func(f *fake, m *jsonrpc.Message) { f.result(m, `{"prompts":[]}`) })
	s.caps = `{"tools":{"listChanged":true},"resources":{"subscribe":true}}`
	bubble(t, s, Options{}, func(t *testing.T, c *Client) {
		var slow heard
		gate := make(chan struct{})
		_, err := c.Listen(t.Context(), Filter{Tools: true, URIs: []string{"u:"}}, func(n Notification) { <-gate; slow.add(n) })
		if err != nil {
			t.Fatal(err)
		}
		const change = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
		s.last().say(change)
		synctest.Wait() // it is being read
		for range 3 * maxChanges {
			s.last().say(change)
		}
		synctest.Wait()
		if err := c.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		close(gate)
		if got := slow.got(); got != "tools/list_changed; tools/list_changed" {
			t.Error(got)
		}
	})
	q := newChanges()
	for i := range maxChanges + 1 {
		q.add(Notification{Method: mcp.NotifyResourceUpdated, Params: uriParams(fmt.Sprint(i))})
	}
	if n, _ := q.take(); len(q.order) != maxChanges-1 || !n.Missed || text(n.Params, "uri") != "1" {
		t.Errorf("%d wait, %+v", len(q.order), n)
	}
	if n, _ := q.take(); n.Missed {
		t.Error("missed is told once")
	}
	q = newChanges()
	large := func(uri int, bytes int) Notification {
		return Notification{Method: mcp.NotifyResourceUpdated, Params: []byte(fmt.Sprintf(`{"uri":"%d","pad":"%s"}`, uri, strings.Repeat("x", bytes)))}
	}
	for range 3 { // the newest of each
		for i := range 4 {
			q.add(large(i, 1<<20))
		}
	}
	if len(q.order) != 4 || q.bytes < 4<<20 || q.bytes > 5<<20 || q.lost {
		t.Errorf("%d wait, %d bytes", len(q.order), q.bytes)
	}
	for i := range 12 {
		q.add(large(4+i, 1<<20))
	}
	if n, _ := q.take(); len(q.order) != 6 || q.bytes > maxChangeBytes || !n.Missed || text(n.Params, "uri") != "9" {
		t.Errorf("%d wait, %d bytes, first %.30s", len(q.order), q.bytes, n.Params)
	}
	q.add(large(99, 2*maxChangeBytes))
	if n, _ := q.take(); len(q.order) != 0 || q.bytes != 0 || text(n.Params, "uri") != "99" {
		t.Errorf("%d wait, %d bytes, first %.30s", len(q.order), q.bytes, n.Params)
	}
}

func TestListenEndsWithItsContextAndTheClient(t *testing.T) {
	s := modern(func(f *fake, m *jsonrpc.Message) {
		if m.Method == mcp.MethodListen {
			f.ack(m, `{"toolsListChanged":true}`)
		}
	})
	bubble(t, s, Options{}, func(t *testing.T, c *Client) {
		cause := errors.New("enough")
		ctx, stop := context.WithCancelCause(t.Context())
		one, err := c.Listen(ctx, Filter{Tools: true}, func(Notification) {})
		if err != nil {
			t.Fatal(err)
		}
		stop(cause)
		<-one.Done()
		if one.Err() != cause {
			t.Error(one.Err())
		}
		two, err := c.Listen(t.Context(), Filter{Tools: true}, func(Notification) {})
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		<-two.Done()
		if !errors.Is(two.Err(), ErrClosed) && peer.ReasonOf(two.Err()) != peer.Closed {
			t.Error(two.Err())
		}
	})
}

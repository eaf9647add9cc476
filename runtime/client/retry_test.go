package client

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// flaky is an inline link, as HTTP is, whose requests fail as a script says.
type flaky struct {
	recv peer.Receiver
	fail func(n int, method string) error // n counts from 1, discover apart

	mu sync.Mutex
	n  int
}

func (f *flaky) Binding() mcp.Binding                            { return mcp.Streamable }
func (f *flaky) Dial(context.Context, Wiring) (peer.Link, error) { return f, nil }
func (f *flaky) Start(r peer.Receiver)                           { f.recv = r }
func (f *flaky) Inline() bool                                    { return true }
func (f *flaky) Close(error)                                     {}
func (f *flaky) Send(_ context.Context, out *peer.Outgoing) error {
	answer := func(result string) error {
		out.Deliver([]byte(`{"jsonrpc":"2.0","id":` + idOf(out) + `,"result":` + result + `}`))
		return nil
	}
	switch out.Method {
	case mcp.MethodDiscover:
		return answer(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}`)
	case mcp.MethodToolsList:
		return answer(`{"resultType":"complete","tools":[{"name":"same","annotations":{"idempotentHint":true}},{"name":"once"},{"name":"reads","annotations":{"readOnlyHint":true}}]}`)
	}
	f.mu.Lock()
	f.n++
	n := f.n
	f.mu.Unlock()
	if err := f.fail(n, out.Method); err != nil {
		return err
	}
	return answer(`{"resultType":"complete","content":[]}`)
}

func idOf(out *peer.Outgoing) string {
	return string(member(out.Raw, "id"))
}

// W9.11, W18.8: what is repeated, and what is not.
func TestWhatIsRepeated(t *testing.T) {
	var (
		lost        = &peer.Failure{Reason: peer.StreamLost}
		ended       = &peer.Failure{Reason: peer.Ended}
		unreachable = &peer.Failure{Reason: peer.Unreachable, NotDelivered: true}
		again       = []CallOption{RetryIfIdempotent()}
	)
	status := func(code int) error { return &peer.Failure{Reason: peer.Status, Status: code} }
	for name, tc := range map[string]struct {
		method string
		tool   string
		opts   []CallOption
		err    error
		times  int // that it fails
		calls  int // that are made
	}{
		"a read whose stream broke":                    {mcp.MethodResourcesRead, "", nil, lost, 1, 2},
		"a read, for as long as the policy says":       {mcp.MethodResourcesRead, "", nil, lost, 9, 3},
		"a tool whose stream broke":                    {mcp.MethodToolsCall, "once", nil, lost, 9, 1},
		"a tool, asked for, that is not idempotent":    {mcp.MethodToolsCall, "once", again, lost, 9, 1},
		"an idempotent tool, not asked for":            {mcp.MethodToolsCall, "same", nil, lost, 9, 1},
		"an idempotent tool, asked for":                {mcp.MethodToolsCall, "same", again, ended, 2, 3},
		"a tool that reads only, asked for":            {mcp.MethodToolsCall, "reads", again, lost, 1, 2},
		"a tool that never reached the server":         {mcp.MethodToolsCall, "once", nil, unreachable, 2, 3},
		"a tool refused with 429":                      {mcp.MethodToolsCall, "once", nil, status(429), 1, 2},
		"a tool refused with 503: it may have run":     {mcp.MethodToolsCall, "once", nil, status(503), 9, 1},
		"a read refused with 503":                      {mcp.MethodPromptsGet, "", nil, status(503), 1, 2},
		"a read refused with 500":                      {mcp.MethodPromptsGet, "", nil, status(500), 9, 1},
		"a read refused with 401":                      {mcp.MethodPromptsGet, "", nil, &peer.Failure{Reason: peer.Auth, Status: 401}, 9, 1},
		"a method that only a vendor knows":            {"vendor/x", "", nil, lost, 9, 1},
		"an answer that is no message is not repeated": {mcp.MethodPromptsGet, "", nil, &peer.Failure{Reason: peer.BadResponse}, 9, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &flaky{fail: func(n int, _ string) error {
					if n <= tc.times {
						return tc.err
					}
					return nil
				}}
				retried := 0
				c, err := Connect(t.Context(), Options{Server: f, Observer: Observer{Retried: func(method, _ string) {
					if retried++; method != tc.method {
						t.Error(method)
					}
				}}})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if _, err := c.ListTools(t.Context()); err != nil {
					t.Fatal(err)
				}
				if tc.method == mcp.MethodToolsCall {
					_, err = c.CallTool(t.Context(), tc.tool, nil, tc.opts...)
				} else {
					_, err = c.Call(t.Context(), tc.method, nil, tc.opts...)
				}
				if (err == nil) != (tc.times < tc.calls) {
					t.Error(err)
				}
				if f.n != tc.calls || retried != tc.calls-1 {
					t.Errorf("%d calls, %d retried", f.n, retried)
				}
			})
		})
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	for wish, want := range map[time.Duration]time.Duration{7 * time.Second: 7 * time.Second, 24 * time.Hour: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			f := &flaky{fail: func(n int, _ string) error {
				if n == 1 {
					return &peer.Failure{Reason: peer.Status, Status: 429, RetryAfter: wish}
				}
				return nil
			}}
			c, err := Connect(t.Context(), Options{Server: f})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			begin := time.Now()
			if _, err := c.CallTool(t.Context(), "x", nil); err != nil || time.Since(begin) != want {
				t.Error(time.Since(begin), err)
			}
		})
	}
}

func TestTroubleIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log states
		down := true
		f := &flaky{fail: func(int, string) error {
			if down {
				return &peer.Failure{Reason: peer.Unreachable, NotDelivered: true}
			}
			return nil
		}}
		c, err := Connect(t.Context(), Options{Server: f, Observer: Observer{State: log.heard}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.CallTool(t.Context(), "x", nil); peer.ReasonOf(err) != peer.Unreachable || c.State() != Degraded {
			t.Error(err, c.State())
		}
		down = false
		if _, err := c.CallTool(t.Context(), "x", nil); err != nil || c.State() != Connected {
			t.Error(err, c.State())
		}
		_ = c.Close()
		if got := log.got(); got != "connecting connecting 1; connected connected; degraded unreachable; connected connected; closed closed" {
			t.Error(got)
		}
	})
}

// W18.8, W9.11: a server that ends is connected again, and what is safe is made
// again; new sessions inherit the log level.
func TestReconnect(t *testing.T) {
	var log states
	s := legacy(nil)
	s.serve = func(f *fake, m *jsonrpc.Message) {
		if f.n == 1 && m.Method != mcp.MethodSetLevel {
			f.end(errors.New("crashed"))
			return
		}
		f.result(m, `{"content":[],"prompts":[]}`)
	}
	s.refuse = func(n int) error {
		if n == 2 || n == 3 {
			return &peer.Failure{Reason: peer.Unreachable, NotDelivered: true}
		}
		return nil
	}
	bubble(t, s, Options{Observer: Observer{State: log.heard}}, func(t *testing.T, c *Client) {
		if err := c.SetLevel(t.Context(), "warning"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.CallTool(t.Context(), "once", nil); peer.ReasonOf(err) != peer.Ended {
			t.Errorf("a tool that may have run: %v", err)
		}
		if prompts, err := collect(c.Prompts(t.Context())); err != nil || len(prompts) != 0 {
			t.Error(prompts, err)
		}
		if got := s.last().sent(mcp.MethodSetLevel); len(got) != 1 || params(got[0]) != `{"level":"warning"}` {
			t.Error(got)
		}
		if got := log.got(); got != "connecting connecting 1; connected connected; connecting workload_restarted 1; connecting unreachable 2 after 500ms; connecting unreachable 3 after 1s; connected connected" {
			t.Error(got)
		}
		// The era is remembered (W5.14).
		if got := s.last().sent(mcp.MethodDiscover); len(got) != 0 {
			t.Error(got)
		}
	})
}

func TestWhenReconnectingEnds(t *testing.T) {
	gone := &peer.Failure{Reason: peer.Unreachable, NotDelivered: true}
	for name, tc := range map[string]struct {
		policy Reconnect
		refuse error
		dials  int
		want   error
	}{
		"never":                  {Reconnect{Never: true}, nil, 1, nil},
		"after some attempts":    {Reconnect{Attempts: 3}, gone, 4, gone},
		"a pipe that is used up": {Reconnect{}, ErrOnce, 2, ErrOnce},
		"another kind of server": {Reconnect{}, ErrNoRevision, 3, ErrNoRevision}, // asked once more
	} {
		t.Run(name, func(t *testing.T) {
			s := legacy(nil)
			s.refuse = func(n int) error {
				if n > 1 {
					return tc.refuse
				}
				return nil
			}
			bubble(t, s, Options{Reconnect: tc.policy}, func(t *testing.T, c *Client) {
				s.last().end(errors.New("crashed"))
				<-c.Done()
				if c.State() != Closed || tc.want != nil && !errors.Is(c.Err(), tc.want) || s.dialled() != tc.dials {
					t.Errorf("%v, %v, %d dials", c.State(), c.Err(), s.dialled())
				}
				if _, err := c.Call(t.Context(), "x", nil); peer.ReasonOf(err) != peer.Closed {
					t.Error(err)
				}
				if _, err := c.Listen(t.Context(), Filter{Tools: true}, func(Notification) {}); err == nil {
					t.Error("listens to nobody")
				}
			})
		})
	}
}

func TestCallsWaitForTheNextConnection(t *testing.T) {
	s := legacy(func(f *fake, m *jsonrpc.Message) { f.result(m, `{}`) })
	s.refuse = func(n int) error {
		if n > 1 {
			return &peer.Failure{Reason: peer.Unreachable, NotDelivered: true}
		}
		return nil
	}
	bubble(t, s, Options{Reconnect: Reconnect{Attempts: -1}}, func(t *testing.T, c *Client) {
		s.last().end(errors.New("crashed"))
		synctest.Wait()
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		if _, err := c.Call(ctx, "x", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if s.dialled() < 100 {
			t.Errorf("%d dials in an hour", s.dialled())
		}
	})
}

func TestKeepAlive(t *testing.T) { // W21.2, W21.3
	s := legacy(nil)
	s.serve = func(f *fake, m *jsonrpc.Message) {
		if m.Method == mcp.MethodPing && (f.n > 1 || len(f.sent(mcp.MethodPing)) < 3) {
			f.result(m, `{}`)
		}
	}
	bubble(t, s, Options{KeepAlive: 10 * time.Second}, func(t *testing.T, c *Client) {
		sleepFor(60_000)
		synctest.Wait()
		if len(s.links) != 2 || c.State() != Connected {
			t.Errorf("%d connections, %v", len(s.links), c.State())
		}
		if n := len(s.links[0].sent(mcp.MethodPing)); n != 3 {
			t.Errorf("%d pings to the first", n)
		}
	})
}

func TestTimeouts(t *testing.T) { // W4.13
	for name, tc := range map[string]struct {
		opts []CallOption
		want time.Duration
		err  error
	}{
		"of the Options":                   {nil, 10 * time.Second, ErrTimeout},
		"of the call":                      {[]CallOption{Timeout(time.Second)}, time.Second, ErrTimeout},
		"none":                             {[]CallOption{Timeout(-1)}, time.Hour, context.DeadlineExceeded},
		"progress does not extend it":      {[]CallOption{OnProgress(func(Progress) {})}, 10 * time.Second, ErrTimeout},
		"progress extends it":              {[]CallOption{ProgressExtends(0)}, 40 * time.Second, ErrTimeout}, // last progress at 30 s
		"progress extends it, up to a cap": {[]CallOption{ProgressExtends(25 * time.Second)}, 25 * time.Second, ErrTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			s := legacy(nil)
			s.serve = func(f *fake, m *jsonrpc.Message) {
				if m.Method != mcp.MethodToolsCall {
					return
				}
				token := member(m.Params, "_meta", "progressToken")
				for i := range 6 {
					sleepFor(5000)
					if token != nil {
						f.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(token) + `,"progress":` + string(rune('1'+i)) + `}}`)
					}
				}
			}
			bubble(t, s, Options{Timeout: 10 * time.Second}, func(t *testing.T, c *Client) {
				ctx, stop := context.WithTimeout(t.Context(), time.Hour)
				defer stop()
				begin := time.Now()
				_, err := c.CallTool(ctx, "x", nil, tc.opts...)
				if !errors.Is(err, tc.err) || !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != tc.want {
					t.Errorf("%v after %v", err, time.Since(begin))
				}
				synctest.Wait()
				if got := s.last().sent(mcp.NotifyCancelled); len(got) != 1 || !strings.Contains(got[0], `"requestId":`) {
					t.Error(got)
				}
			})
		})
	}
}

// W30.17: a person may take longer than a request.
func TestTheClockStandsWhileTheServerWaits(t *testing.T) {
	s := legacy(nil)
	s.serve = func(f *fake, m *jsonrpc.Message) {
		f.say(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
		for len(f.answers()) == 0 {
			sleepFor(100)
		}
		sleepFor(9000)
		f.result(m, `{"content":[]}`)
	}
	slow := Handlers{Roots: func(context.Context) ([]Root, error) { sleepFor(3600_000); return nil, nil }}
	bubble(t, s, Options{Timeout: 10 * time.Second, Handlers: slow}, func(t *testing.T, c *Client) {
		if _, err := c.CallTool(t.Context(), "x", nil); err != nil {
			t.Error(err)
		}
	})
}

// Several questions at once stop the clock once, and the hard bound of progress
// does not count a person's time either.
func TestTheClockGoesOnAfterTheLastAnswer(t *testing.T) {
	s := legacy(nil)
	s.serve = func(f *fake, m *jsonrpc.Message) {
		f.say(`{"jsonrpc":"2.0","id":"a","method":"roots/list"}`)
		sleepFor(1)
		f.say(`{"jsonrpc":"2.0","id":"b","method":"vendor/x"}`)
	}
	handlers := Handlers{
		Roots: func(context.Context) ([]Root, error) { sleepFor(60_000); return nil, nil },
		Request: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			sleepFor(120_000)
			return json.RawMessage("{}"), nil
		},
	}
	bubble(t, s, Options{Timeout: 10 * time.Second, Handlers: handlers}, func(t *testing.T, c *Client) {
		begin := time.Now()
		_, err := c.CallTool(t.Context(), "x", nil, ProgressExtends(30*time.Second))
		if took := time.Since(begin).Truncate(time.Second); !errors.Is(err, ErrTimeout) || took != 130*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

func TestHooksOfACall(t *testing.T) { // W20
	s := legacy(nil)
	s.serve = func(f *fake, m *jsonrpc.Message) {
		token := string(member(m.Params, "_meta", "progressToken"))
		f.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":0.5,"total":2,"message":"half"}}`)
		f.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
		f.result(m, `{"content":[]}`)
	}
	var mine, all []string
	o := Options{Handlers: Handlers{Notification: func(n Notification) { all = append(all, n.Method) }}}
	bubble(t, s, o, func(t *testing.T, c *Client) {
		var got []Progress
		_, err := c.CallTool(t.Context(), "x", nil,
			OnProgress(func(p Progress) { got = append(got, p) }),
			OnNotification(func(n Notification) { mine = append(mine, n.Method) }),
			Meta("com.x/k", 1), LogAt("info"))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Progress != 0.5 || got[0].Total != 2 || got[0].Message != "half" || got[0].Raw == nil {
			t.Errorf("%+v", got)
		}
		if strings.Join(mine, " ") != "notifications/progress notifications/message" || strings.Join(all, " ") != strings.Join(mine, " ") {
			t.Error(mine, all)
		}
		if raw := s.last().sent(mcp.MethodToolsCall)[0]; !strings.Contains(raw, `"com.x/k":1`) {
			t.Error(raw)
		}
		if _, err := c.CallTool(t.Context(), "x", nil, Meta("k", func() {})); err == nil {
			t.Error("a func was taken for a value")
		}
		if _, err := c.CallTool(t.Context(), "x", []byte(`{"a":}`)); err == nil {
			t.Error("broken JSON was sent")
		}
	})
}

package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// W5.15, W4.3, W4.6: on pipes the client asks first, and takes any answer but a
// modern one, an exit and silence for an old server. W18.12.
func TestConnectOverPipes(t *testing.T) {
	initialize := func(f *fake, m *jsonrpc.Message) {
		f.result(m, `{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"old","version":"1"}}`)
	}
	for name, tc := range map[string]struct {
		serve func(f *fake, m *jsonrpc.Message)
		want  string
		links int
		took  time.Duration
	}{
		"a stateless server": {func(f *fake, m *jsonrpc.Message) {
			f.result(m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}`)
		}, "2026-07-28", 1, 0},
		"one that says that it wants initialize": {func(f *fake, m *jsonrpc.Message) {
			if m.Method == mcp.MethodInitialize {
				initialize(f, m)
				return
			}
			f.fail(m, -32000, "not initialized", "")
		}, "2024-11-05", 1, 0},
		"one that says nothing": {func(f *fake, m *jsonrpc.Message) {
			if m.Method == mcp.MethodInitialize {
				initialize(f, m)
			}
		}, "2024-11-05", 1, DefaultProbeTimeout},
		"one that exits": {func(f *fake, m *jsonrpc.Message) {
			if m.Method == mcp.MethodInitialize {
				initialize(f, m)
				return
			}
			f.end(errors.New("exit status 1"))
		}, "2024-11-05", 2, 0},
		"one that talks nonsense": {func(f *fake, m *jsonrpc.Message) {
			if m.Method == mcp.MethodInitialize {
				initialize(f, m)
				return
			}
			f.say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `}`)
		}, "2024-11-05", 1, 0},
		"a stateless one that was slow to start": {func(f *fake, m *jsonrpc.Message) {
			switch {
			case m.Method == mcp.MethodInitialize:
				f.fail(m, -32601, "no such method", "")
			case len(f.sent(mcp.MethodDiscover)) > 1:
				f.result(m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}`)
			}
		}, "2026-07-28", 1, DefaultProbeTimeout},
		"one that refuses everything": {func(f *fake, m *jsonrpc.Message) { f.fail(m, -32603, "sorry", "") }, "", 1, 0},
		"one with a revision of its own": {func(f *fake, m *jsonrpc.Message) {
			if m.Method == mcp.MethodInitialize {
				f.result(m, `{"protocolVersion":"2019-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)
				return
			}
			f.fail(m, -32601, "no", "")
		}, "", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &fakes{revision: "none", serve: tc.serve}
				begin := time.Now()
				c, err := Connect(t.Context(), Options{Server: s})
				if took := time.Since(begin); took != tc.took {
					t.Errorf("took %v", took)
				}
				if s.dialled() != tc.links {
					t.Errorf("%d links", s.dialled())
				}
				if err != nil {
					if tc.want != "" {
						t.Error(err)
					}
					return
				}
				defer c.Close()
				if c.Revision() != tc.want || c.Server().Raw == nil || c.Binding() != mcp.Stdio {
					t.Errorf("%s, %+v", c.Revision(), c.Server())
				}
				if told := s.last().sent(mcp.NotifyInitialized); len(told) == 1 != c.Profile().Handshake {
					t.Errorf("initialized %d times", len(told))
				}
				// The probe is not cancelled: to an old server that would be noise.
				if told := s.last().sent(mcp.NotifyCancelled); len(told) != 0 {
					t.Error(told)
				}
			})
		})
	}
}

func TestConnectGivesUp(t *testing.T) {
	for name, tc := range map[string]struct {
		o    Options
		want string
	}{
		"no server":                   {Options{}, "Options.Server is missing"},
		"a dial that fails":           {Options{Server: &fakes{refuse: func(int) error { return &peer.Failure{Reason: peer.Unreachable} }}}, "unreachable"},
		"a revision from afar":        {Options{Server: &fakes{}, Revision: "2019-01-01"}, "not known here"},
		"a program that is not there": {Options{Server: Command{Path: "/nonexistent/program"}}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Connect(t.Context(), tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Error(err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := Connect(ctx, Options{Server: &fakes{revision: "none"}}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestNotify(t *testing.T) { // W14.4
	bubble(t, legacy(nil), Options{}, func(t *testing.T, c *Client) {
		if err := c.Notify(t.Context(), "vendor/n", map[string]int{"a": 1}); err != nil {
			t.Error(err)
		}
		if got := c.opts.Server.(*fakes).last().sent("vendor/n"); len(got) != 1 || params(got[0]) != `{"a":1}` {
			t.Error(got)
		}
		if err := c.Notify(t.Context(), "vendor/n", 1); err == nil {
			t.Error("params that are no object were sent")
		}
	})
	s := modern(nil)
	s.binding = mcp.Streamable
	bubble(t, s, Options{}, func(t *testing.T, c *Client) {
		if err := c.Notify(t.Context(), "vendor/n", nil); err == nil {
			t.Error("there is no such thing over HTTP")
		}
	})
}

func TestLevels(t *testing.T) { // W6.9, W23.5
	s := modern(func(f *fake, m *jsonrpc.Message) { f.result(m, `{}`) })
	bubble(t, s, Options{}, func(t *testing.T, c *Client) {
		level := func(opts ...CallOption) string {
			if _, err := c.Call(t.Context(), "vendor/x", nil, opts...); err != nil {
				t.Fatal(err)
			}
			all := s.last().sent("vendor/x")
			return text([]byte(all[len(all)-1]), "params", "_meta", mcp.MetaLogLevel)
		}
		if got := level(); got != "" {
			t.Error(got)
		}
		if err := c.SetLevel(t.Context(), "info"); err != nil {
			t.Fatal(err)
		}
		if a, b := level(), level(LogAt("debug")); a != "info" || b != "debug" {
			t.Error(a, b)
		}
		if err := c.SetLevel(t.Context(), "loud"); err == nil {
			t.Error("there is no such level")
		}
	})
}

// W1.12, W1.13, W18.4: a stateless server asks nothing by itself, and gets no
// response if it does.
func TestAStatelessServerGetsNoResponse(t *testing.T) {
	var dropped []peer.Drop
	s := modern(func(f *fake, m *jsonrpc.Message) { f.result(m, `{}`) })
	o := Options{Handlers: asks(), Observer: Observer{Dropped: func(d peer.Drop) { dropped = append(dropped, d) }}}
	bubble(t, s, o, func(t *testing.T, c *Client) {
		for _, raw := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"r","method":"roots/list"}`, `{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":1,"a":2}}`,
			`{"jsonrpc":"2.0","id":8,"method":}`,
		} {
			s.last().say(raw)
		}
		if _, err := c.Call(t.Context(), "x", nil); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if said := s.last().answers(); len(said) != 0 {
			t.Error(said)
		}
		if len(dropped) != 4 {
			t.Error(dropped)
		}
	})
}

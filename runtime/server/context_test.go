package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

// W20.2, W20.3, W20.4
func TestProgressRisesAndIsTheRequestsOwn(t *testing.T) {
	each(t, func() *server.Server {
		s := server.New(server.Info{Name: "s"}, server.Options{})
		must(t, s.AddTool(server.Tool{Name: "t"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
			var out []string
			for _, step := range []float64{0, 0.5, 0.5, 0.2, math.NaN(), math.Inf(1), 2} {
				if err := c.Progress(step, 2, "half"); err != nil {
					out = append(out, fmt.Sprint(step, errors.Is(err, server.ErrProgress)))
				}
			}
			return server.TextResult(strings.Join(out, " ")), nil
		}))
		return s
	}, `{}`, func(t *testing.T, p *peer) {
		refused := field(p.must("tools/call", `{"name":"t","_meta":{"progressToken":"0"}}`), "content", 0, "text")
		if refused != "0.5 true 0.2 true NaN true +Inf true" {
			t.Errorf("refused: %s", refused)
		}
		profile, _ := mcp.Lookup(p.revision)
		var got []string
		for _, n := range p.notes {
			got = append(got, field(n.Params, "progress")+"/"+field(n.Params, "total")+field(n.Params, "progressToken"))
			if said := field(n.Params, "message") != "none"; said != profile.ProgressMessage {
				t.Errorf("message is there: %v", said)
			}
		}
		if fmt.Sprint(got) != "[0/20 0.5/20 2/20]" {
			t.Errorf("got %v", got)
		}
		p.notes = nil
		if refused := field(p.must("tools/call", `{"name":"t"}`), "content", 0, "text"); refused != "" || p.notes != nil {
			t.Errorf("without a token: %s, %v", refused, p.notes)
		}
	})
}

func TestAHandlerKnowsItsRequest(t *testing.T) {
	each(t, func() *server.Server {
		s := server.New(server.Info{Name: "s"}, server.Options{})
		must(t, s.AddTool(server.Tool{Name: "t"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
			return server.TextResult(fmt.Sprint(c.ID(), c.Method(), c.Revision(), c.Principal(), c.Identity() == nil, c.Session() != nil, c.Supports(mcp.CapRoots),
				string(c.ClientCapabilities()), field(c.Meta(), "a"), c.Profile().Revision == c.Exchange().Revision())), nil
		}))
		return s
	}, `{"roots":{}}`, func(t *testing.T, p *peer) {
		got := field(p.must("tools/call", `{"name":"t","_meta":{"a":"b"}}`), "content", 0, "text")
		id := map[bool]int{true: 1, false: 2}[p.modern]
		want := fmt.Sprint(jsonrpc.RawID(fmt.Sprint(id)), "tools/call", p.revision, "", true, !p.modern, true, `{"roots":{}}`, "b", true)
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// The request's end does not end detached work; the session's does.
func TestDetachedWorkIsTheSessionsOwn(t *testing.T) {
	type key struct{}
	s := server.New(server.Info{Name: "s"}, server.Options{})
	start, ended := make(chan struct{}), make(chan error, 2)
	must(t, s.AddTool(server.Tool{Name: "t"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		c.Context = context.WithValue(c.Context, key{}, "kept")
		d := c.Detach()
		request := c.Context
		go func() {
			<-start
			<-request.Done()
			if d.Err() != nil || context.Cause(d) != nil || d.Value(key{}) != "kept" {
				ended <- fmt.Errorf("detached: %w, %w", d.Err(), context.Cause(d))
				return
			}
			if err := d.Progress(1, 2, ""); err != nil {
				ended <- err
			}
			if err := d.Log(server.LevelError, "d", "done"); err != nil {
				ended <- err
			}
			ended <- d.Notify("notifications/own", nil)
			if d.Session() == nil {
				return
			}
			<-d.Done()
			ended <- context.Cause(d)
		}()
		return nil, nil
	}))
	r := newRig(t, s)
	p := r.connect(mcp.Revision20251125, `{}`)
	get := p.get()
	p.must("tools/call", `{"name":"t","_meta":{"progressToken":1}}`)
	start <- struct{}{}
	if m := get.next(); m.Method != mcp.NotifyMessage || field(m.Params, "data") != "done" {
		t.Errorf("got %+v", m)
	}
	must(t, <-ended)
	r.front.Cut(dispatch.ErrShutdown)
	if err := <-ended; err == nil {
		t.Error("the session ended, the work not")
	}
	modern := newRig(t, s).connect(mcp.Revision20260728, `{}`)
	modern.must("tools/call", `{"name":"t","_meta":{"io.modelcontextprotocol/logLevel":"debug"}}`)
	start <- struct{}{}
	if err := <-ended; !errors.Is(err, dispatch.ErrNoChannel) {
		t.Errorf("without a session: %v", err)
	}
}

func TestAToolHasATimeOfItsOwn(t *testing.T) {
	each(t, func() *server.Server {
		s := server.New(server.Info{Name: "s"}, server.Options{})
		add := func(name string, h server.ToolHandler) {
			must(t, s.AddTool(server.Tool{Name: name, Timeout: 20 * time.Millisecond}, h))
		}
		add("heeds", func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
			<-c.Done()
			return nil, c.Err()
		})
		release := make(chan struct{})
		t.Cleanup(func() { close(release) })
		add("stuck", func(*server.Context, json.RawMessage) (server.ToolOutcome, error) {
			<-release
			return nil, nil
		})
		add("panics", func(*server.Context, json.RawMessage) (server.ToolOutcome, error) { panic("x") })
		add("quick", func(*server.Context, json.RawMessage) (server.ToolOutcome, error) { return server.TextResult("q"), nil })
		return s
	}, `{}`, func(t *testing.T, p *peer) {
		for _, name := range []string{"heeds", "stuck"} {
			if err := p.fails("tools/call", fmt.Sprintf(`{"name":%q}`, name)); err.Code != -32603 || field(err.Data, "reason") != "timeout" {
				t.Errorf("%s: %v %s", name, err, err.Data)
			}
		}
		if err := p.fails("tools/call", `{"name":"panics"}`); err.Code != -32603 {
			t.Error(err)
		}
		if got := field(p.must("tools/call", `{"name":"quick"}`), "content", 0, "text"); got != "q" {
			t.Error(got)
		}
	})
}

// W2.4, W2.5: what 2026-07-28 retired or reserved is not sent.
func TestCodesThatARevisionDoesNotHaveAreNotSent(t *testing.T) {
	for code, want := range map[int64]int64{-32002: -32602, -32042: -32603, -32050: -32603, -32021: -32021, -31000: -31000, -32603: -32603} {
		s := server.New(server.Info{Name: "s"}, server.Options{})
		must(t, s.AddTool(server.Tool{Name: "t"}, func(*server.Context, json.RawMessage) (server.ToolOutcome, error) {
			return nil, jsonrpc.Errorf(code, "x")
		}))
		if err := newRig(t, s).connect(mcp.Revision20260728, `{}`).fails("tools/call", `{"name":"t"}`); err.Code != want {
			t.Errorf("%d became %d, want %d", code, err.Code, want)
		}
		if err := newRig(t, s).connect(mcp.Revision20251125, `{}`).fails("tools/call", `{"name":"t"}`); err.Code != code {
			t.Errorf("on 2025-11-25 %d became %d", code, err.Code)
		}
	}
}

// W5.10: what a tool needs is asked before it runs.
func TestAToolSaysWhatItNeeds(t *testing.T) {
	s := server.New(server.Info{Name: "s"}, server.Options{})
	must(t, s.AddTool(server.Tool{Name: "t", Needs: []mcp.Capability{mcp.CapSampling}}, func(*server.Context, json.RawMessage) (server.ToolOutcome, error) {
		t.Error("it ran")
		return nil, nil
	}))
	r := newRig(t, s)
	if err := r.connect(mcp.Revision20260728, `{}`).fails("tools/call", `{"name":"t"}`); err.Code != -32021 || field(err.Data, "requiredCapabilities") != `{"sampling":{}}` {
		t.Errorf("%v %s", err, err.Data)
	}
	if got := r.connect(mcp.Revision20251125, `{}`).must("tools/call", `{"name":"t"}`); field(got, "isError") != "true" {
		t.Errorf("got %s", got)
	}
}

// A handler by hand, and one for a method that the server has itself.
func TestMethodsByHand(t *testing.T) {
	s := server.New(server.Info{Name: "s"}, server.Options{})
	must(t, s.Handle("own/method", func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
		return dispatch.Result([]byte(`{ "got": ` + string(x.Msg.Params) + ` }`))
	}))
	must(t, s.Handle("tools/list", func(context.Context, *dispatch.Exchange) dispatch.Outcome {
		return dispatch.Result([]byte(`{"tools":[],"ttlMs":7,"_meta":{"a":1}}`))
	}))
	must(t, s.Handle("own/broken", func(context.Context, *dispatch.Exchange) dispatch.Outcome { return dispatch.Result([]byte(`[]`)) }))
	if err := s.Handle("own/method", nil); !errors.Is(err, server.ErrDuplicate) {
		t.Error(err)
	}
	for _, name := range []string{"", "initialize", "ping"} {
		if err := s.Handle(name, nil); !errors.Is(err, server.ErrName) {
			t.Error(name, err)
		}
	}
	p := newRig(t, s).connect(mcp.Revision20260728, `{}`)
	if got := p.must("own/method", `{"a":1}`); field(got, "got", "a") != "1" || field(got, "resultType") != "complete" {
		t.Errorf("got %s", got)
	}
	if got := p.must("tools/list", ``); field(got, "ttlMs") != "7" || field(got, "cacheScope") != "private" || field(got, "_meta", "a") != "1" || field(got, "_meta", mcp.MetaServerInfo, "name") != "s" {
		t.Errorf("got %s", got)
	}
	if err := p.fails("own/broken", ``); err.Code != -32603 {
		t.Error(err)
	}
	old := newRig(t, s).connect(mcp.Revision20250618, `{}`)
	if got := string(old.must("tools/list", ``)); got != `{"tools":[],"ttlMs":7,"_meta":{"a":1}}` {
		t.Errorf("on 2025-06-18: %s", got)
	}
}

func TestNotificationsOfClients(t *testing.T) {
	s := server.New(server.Info{Name: "s"}, server.Options{})
	got := make(chan string, 1)
	must(t, s.OnNotification("notifications/roots/list_changed", func(_ context.Context, session dispatch.Session, params json.RawMessage) {
		got <- session.Revision() + field(params, "a")
	}))
	must(t, s.OnNotification("notifications/bad", func(context.Context, dispatch.Session, json.RawMessage) { panic("x") }))
	if err := s.OnNotification("notifications/bad", nil); !errors.Is(err, server.ErrDuplicate) {
		t.Error(err)
	}
	p := newRig(t, s).connect(mcp.Revision20250618, `{}`)
	p.notify("notifications/bad", "")
	p.notify("notifications/unknown", "")
	p.notify("notifications/roots/list_changed", `{"a":"1"}`)
	if said := <-got; said != "2025-06-181" {
		t.Error(said)
	}
}

package server_test

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

// A program's panic while changes are told costs who would have been told, not
// the process: there is no request above that could recover.
func TestAPanicInVisibleEndsNothing(t *testing.T) {
	panics := make(chan any, 2)
	s := watched(t, server.Options{Observer: &hook.Observer{Panicked: func(v any, _ []byte) { panics <- v }}})
	r := newRig(t, s)
	get := r.connect(mcp.Revision20251125, `{}`).get()
	listen, _ := r.connect(mcp.Revision20260728, `{}`).listen(`{"toolsListChanged":true}`)
	must(t, s.AddTool(server.Tool{Name: "broken", Visible: func(server.Caller) bool { panic("no answer") }}, nothing))
	for range 2 {
		if v := <-panics; v != "no answer" {
			t.Errorf("%v", v)
		}
	}
	must(t, s.AddTool(server.Tool{Name: "sound"}, nothing))
	for _, m := range []message{get.next(), listen.next()} {
		if m.Method != mcp.NotifyToolsChanged {
			t.Errorf("%+v", m)
		}
	}
}

// What is told of sessions and subscriptions answers to nobody: a panic there
// costs neither the session nor the process.
func TestAPanicInWhatIsToldEndsNothing(t *testing.T) {
	panics := make(chan any, 4)
	s := watched(t, server.Options{
		Observer: &hook.Observer{Panicked: func(v any, _ []byte) { panics <- v }},
		Opened:   func(dispatch.Session) { panic("opened") },
		Closed:   func(dispatch.Session, error) { panic("closed") },
		Watched:  func(_ string, watched bool) { panic(watched) },
	})
	p := newRig(t, s).connect(mcp.Revision20251125, `{}`)
	p.must("resources/subscribe", `{"uri":"x:a"}`)
	for _, session := range s.Sessions() {
		session.Close(io.EOF)
	}
	for _, want := range []any{"opened", true, false, "closed"} {
		if v := <-panics; v != want {
			t.Errorf("%v, want %v", v, want)
		}
	}
	if n := len(s.Sessions()); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// unspeakable panics when it is encoded.
type unspeakable struct{}

func (unspeakable) MarshalJSON() ([]byte, error) { panic("unspeakable") }

// A question whose params cannot even be encoded fails the call that asks it.
func TestAPanicInAQuestionEndsItsCall(t *testing.T) {
	s := server.New(server.Info{Name: "q"}, server.Options{})
	must(t, s.AddTool(server.Tool{Name: "asks"}, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		return nil, c.Need(server.Input{Key: "a", Method: mcp.MethodElicit, Params: unspeakable{}})
	}))
	p := newRig(t, s).connect(mcp.Revision20251125, `{"elicitation":{}}`)
	if err := p.fails("tools/call", `{"name":"asks"}`); err.Code != -32603 {
		t.Error(err)
	}
	p.must("tools/list", `{}`)
}

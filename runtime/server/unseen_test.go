package server_test

import (
	"testing"

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

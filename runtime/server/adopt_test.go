package server_test

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
	sessions "github.com/fairlead-dev/fairlead/runtime/session"
)

// D9: a session of any revision goes on at another process of the same server,
// asks its client there, and hears of changes.
func TestSessionsGoOnElsewhere(t *testing.T) {
	for _, revision := range mcp.Legacy() {
		store := &sessions.Memory{}
		make := func(o server.Options) (*server.Server, *rig) {
			s := watched(t, o)
			must(t, server.AddTool(s, server.Tool{Name: "roots"}, func(c *server.Context, _ struct{}) (string, error) {
				roots, err := c.Roots("r")
				if err != nil {
					return "", err
				}
				return roots[0].URI, nil
			}))
			r := newRig(t, s)
			r.front.Store = store
			return s, r
		}
		_, first := make(server.Options{})
		var opened, closed int
		s, second := make(server.Options{
			Opened: func(dispatch.Session) { opened++ }, Closed: func(dispatch.Session, error) { closed++ },
		})
		second.front.Keys = first.front.Keys
		p := first.connect(revision, `{"roots":{}}`)
		p.answer = func(string, json.RawMessage) string { return `"result":{"roots":[{"uri":"file:///w"}]}` }
		first.front.Cut(io.EOF)
		p.rig = second
		if got := field(p.must("tools/call", `{"name":"roots"}`), "content", 0, "text"); got != "file:///w" {
			t.Errorf("%s: %s", revision, got)
		}
		get := p.get()
		must(t, s.AddTool(server.Tool{Name: "more"}, nothing))
		if m := get.next(); m.Method != mcp.NotifyToolsChanged {
			t.Errorf("%s: heard %+v", revision, m)
		}
		p.must("resources/subscribe", `{"uri":"x:a"}`)
		s.ResourceUpdated("x:a")
		get.methods(mcp.NotifyResourceUpdated)
		if opened != 1 || len(s.Sessions()) != 1 {
			t.Errorf("%s: told of %d, %d sessions", revision, opened, len(s.Sessions()))
		}
		get.close()
		second.front.Cut(io.EOF)
		if closed != 1 || len(s.Sessions()) != 0 {
			t.Errorf("%s: told of %d ends, %d sessions", revision, closed, len(s.Sessions()))
		}
	}
}

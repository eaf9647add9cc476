package server

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// counter is a way to a client that counts what goes it.
type counter struct {
	methods map[string]int
	last    string
}

func (c *counter) Notify(raw []byte) error {
	method := text(raw, "method")
	c.methods[method]++
	if method == mcp.NotifyProgress {
		value, _ := strictjson.GetPath(raw, "params", "progress")
		c.last = string(value)
	}
	return nil
}

func (*counter) Call(context.Context, string, []byte) dispatch.Outcome { return dispatch.Outcome{} }

// W20.5, W23.9: a handler that reports very often neither fills its stream nor
// fails, the last step arrives, and what does not is told to the observer.
func TestAFloodOfNotificationsIsThinnedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dropped := 0
		s := New(Info{Name: "s"}, Options{Observer: &hook.Observer{Dropped: func(d hook.Drop) {
			if d == hook.DropFlood {
				dropped++
			}
		}}})
		flood := func(c *Context, from, to int) error {
			for i := from; i < to; i++ {
				if err := c.Progress(float64(i+1), 10000, ""); err != nil {
					return err
				}
				for _, level := range []Level{LevelInfo, LevelError} {
					if err := c.Log(level, "", i); err != nil {
						return err
					}
				}
			}
			return nil
		}
		way := &counter{methods: map[string]int{}}
		err := s.AddTool(Tool{Name: "t"}, func(c *Context, _ json.RawMessage) (ToolOutcome, error) {
			if err := flood(c, 0, 5000); err != nil {
				return nil, err
			}
			if way.methods[mcp.NotifyProgress] != bucketBurst || way.methods[mcp.NotifyMessage] != 2*bucketBurst {
				t.Errorf("at once: %v", way.methods)
			}
			time.Sleep(time.Second / 2)
			return nil, flood(c, 5000, 10000)
		})
		if err != nil {
			t.Fatal(err)
		}
		p, _ := mcp.Lookup(mcp.Revision20251125)
		msg := &jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: jsonrpc.RawID("1"), Method: mcp.MethodToolsCall, Params: []byte(`{"name":"t"}`), Meta: []byte(`{"progressToken":1}`)}
		if o := s.Serve(t.Context(), dispatch.NewExchange(t.Context(), dispatch.Request{Msg: msg, Profile: p, Channel: way})); o.Err != nil {
			t.Fatal(o.Err)
		}
		const more = bucketRate / 2
		if n := way.methods[mcp.NotifyProgress]; n != bucketBurst+more+1 || way.last != "10000" {
			t.Errorf("%d steps, the last %s", n, way.last)
		}
		if n := way.methods[mcp.NotifyMessage]; n != 2*(bucketBurst+more) {
			t.Errorf("%d messages", n)
		}
		if want := 30000 - 3*(bucketBurst+more) - 1; dropped != want {
			t.Errorf("%d were dropped, want %d", dropped, want)
		}
	})
}

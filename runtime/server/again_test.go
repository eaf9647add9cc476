package server

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// W32.18, W32.4, W32.14: a handler that only wants to be called again is: by the
// client where it has to be, else after a rest.
func TestAHandlerThatWantsToBeCalledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Info{Name: "s"}, Options{})
		err := s.AddTool(Tool{Name: "t"}, func(c *Context, _ json.RawMessage) (ToolOutcome, error) {
			runs := 0
			if _, err := c.State(&runs); err != nil {
				return nil, err
			}
			if runs == 2 {
				return TextResult("at last"), nil
			}
			return &InputRequired{}, c.SetState(runs + 1)
		})
		if err != nil {
			t.Fatal(err)
		}
		call := func(revision, members string) dispatch.Outcome {
			p, _ := mcp.Lookup(revision)
			msg := &jsonrpc.Message{Kind: jsonrpc.KindRequest, ID: jsonrpc.RawID("1"), Method: mcp.MethodToolsCall, Params: []byte(`{"name":"t"` + members + `}`)}
			return s.Serve(t.Context(), dispatch.NewExchange(t.Context(), dispatch.Request{Msg: msg, Profile: p}))
		}
		began := time.Now()
		if o := call(mcp.Revision20251125, ""); string(o.Result) != `{"content":[{"type":"text","text":"at last"}]}` {
			t.Errorf("2025-11-25: %s %v", o.Result, o.Err)
		}
		if time.Since(began) != 2*again {
			t.Errorf("it rested %v", time.Since(began))
		}
		members := ""
		for round := range 3 {
			o := call(mcp.Revision20260728, members)
			if o.Err != nil {
				t.Fatal(o.Err)
			}
			if kind := text(o.Result, "resultType"); (kind == "complete") != (round == 2) {
				t.Errorf("round %d: %s", round, o.Result)
			}
			if _, asks := strictjson.Get(o.Result, "inputRequests"); asks {
				t.Errorf("round %d asks: %s", round, o.Result)
			}
			members = fmt.Sprintf(`,"requestState":%q`, text(o.Result, "requestState"))
		}
	})
}

package mcptest_test

import (
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
)

// What a test of a server may look like: t is that of a Test function.
func Example() {
	_ = func(t *testing.T) {
		s := server.New(server.Info{Name: "mine", Version: "1"}, server.Options{})
		// ... s.AddTool(...)

		// With a client, over any transport.
		c := mcptest.Connect(t, s, mcptest.WayMemory, client.Options{})
		if _, err := c.CallTool(t.Context(), "greet", map[string]string{"name": "Ada"}); err != nil {
			t.Error(err)
		}

		// Or message by message.
		raw := mcptest.Stdio(t, s, stdio.Options{})
		raw.Say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		raw.Expect(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	}
}

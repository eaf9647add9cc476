package mcptest_test

import (
	"testing"
	"testing/synctest"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
)

// A test that plays the server.
func TestScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target, server := mcptest.Script(t)
		answer := make(chan string, 1)
		go func() {
			c, err := client.Connect(t.Context(), client.Options{Server: target, Revision: "2025-06-18", Name: "c", Version: "1", Reconnect: client.Reconnect{Never: true}})
			if err != nil {
				answer <- err.Error()
				return
			}
			raw, err := c.Call(t.Context(), "x/y", map[string]int{"a": 1})
			if err != nil {
				raw = []byte(err.Error())
			}
			_ = c.Close()
			answer <- string(raw)
		}()
		server.Expect(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		server.Say(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)
		server.Expect(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"x/y","params":{"a":1}}`)
		server.Say(`{"jsonrpc":"2.0","id":2,"result":{"b":2}}`)
		if got := <-answer; got != `{"b":2}` {
			t.Error(got)
		}
	})
}

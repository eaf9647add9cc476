package client

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// A server may talk before it is asked who it is, and ask as soon as it is told
// that the session is initialized, before Connect has returned.
func TestServersThatSpeakEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakes{revision: "none"}
		s.serve = func(f *fake, m *jsonrpc.Message) {
			f.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}`)
			if m.Method == mcp.MethodDiscover {
				f.fail(m, -32601, "no such method", "")
				return
			}
			f.result(m, `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)
			f.say(`{"jsonrpc":"2.0","id":"a","method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":1}}`)
			f.say(`{"jsonrpc":"2.0","id":"b","method":"roots/list"}`)
			f.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		heard := make(chan string, 16)
		h := asks()
		h.Notification = func(n Notification) { heard <- n.Method }
		c, err := Connect(t.Context(), Options{Server: s, Handlers: h, Observer: Observer{Dropped: func(d peer.Drop) { t.Error(d) }}})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		said := strings.Join(s.last().answers(), " ")
		for _, want := range []string{saidSample, saidRoots} {
			if !json.Valid([]byte(want)) || !strings.Contains(said, want) {
				t.Errorf("%s lacks %s", said, want)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if len(heard) < 2 {
			t.Errorf("%d notifications", len(heard))
		}
	})
}

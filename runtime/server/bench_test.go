package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

func benchServer(b *testing.B) *server.Server {
	s := server.New(server.Info{Name: "bench", Version: "1"}, server.Options{})
	type in struct {
		Text string `json:"text"`
	}
	type out struct {
		Text string `json:"text"`
	}
	for name, err := range map[string]error{
		"raw": s.AddTool(server.Tool{Name: "raw"}, func(_ *server.Context, args json.RawMessage) (server.ToolOutcome, error) {
			return server.TextResult("hello"), nil
		}),
		"text":  server.AddTool(s, server.Tool{Name: "text"}, func(_ *server.Context, in in) (string, error) { return in.Text, nil }),
		"typed": server.AddTool(s, server.Tool{Name: "typed"}, func(_ *server.Context, in in) (out, error) { return out(in), nil }),
	} {
		if err != nil {
			b.Fatal(name, err)
		}
	}
	return s
}

// BenchmarkCall is tools/call without a transport, per era and kind of tool.
func BenchmarkCall(b *testing.B) {
	s := benchServer(b)
	for _, revision := range []string{mcp.Revision20251125, mcp.Revision20260728} {
		profile, _ := mcp.Lookup(revision)
		for _, tool := range []string{"raw", "text", "typed"} {
			b.Run(revision+"/"+tool, func(b *testing.B) {
				raw := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"text":"hello"}}}`, tool)
				msg, err := jsonrpc.Parse([]byte(raw), strictjson.FromClient)
				if err != nil {
					b.Fatal(err)
				}
				ctx := context.Background()
				b.ReportAllocs()
				for b.Loop() {
					o := s.Serve(ctx, dispatch.NewExchange(ctx, dispatch.Request{Msg: msg, Profile: profile}))
					if o.Err != nil {
						b.Fatal(o.Err)
					}
				}
			})
		}
	}
}

package main

import (
	"context"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxSlow bounds the slow tool, so that a wrong test cannot hold a session.
const maxSlow = 60 * time.Second

type (
	echoArgs struct {
		Message string `json:"message" jsonschema:"what to say back"`
	}
	addArgs struct {
		A float64 `json:"a"`
		B float64 `json:"b"`
	}
	slowArgs struct {
		Ms int `json:"ms" jsonschema:"how long to take, in milliseconds"`
	}
	sum struct {
		Sum float64 `json:"sum"`
	}
)

// handler is the whole server: MCP at path, /healthz until the tool `sicken`
// was called.
func handler(path string) http.Handler {
	var sick atomic.Bool
	s := mcp.NewServer(&mcp.Implementation{Name: "gosdk", Version: "1.0.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Say the message back."},
		func(_ context.Context, _ *mcp.CallToolRequest, in echoArgs) (*mcp.CallToolResult, any, error) {
			return text(in.Message), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "add", Description: "Add two numbers."},
		func(_ context.Context, _ *mcp.CallToolRequest, in addArgs) (*mcp.CallToolResult, sum, error) {
			return nil, sum{in.A + in.B}, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "slow", Description: "Answer after a while."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in slowArgs) (*mcp.CallToolResult, any, error) {
			d := min(max(0, time.Duration(in.Ms)*time.Millisecond), maxSlow)
			select {
			case <-time.After(d):
				return text("done"), nil, nil
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
		})
	mcp.AddTool(s, &mcp.Tool{Name: "whoami", Description: "Say which pod this is."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			host, err := os.Hostname()
			if err != nil {
				return nil, nil, err
			}
			return text(host), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "sicken", Description: "Make /healthz fail from now on, until the process restarts."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			sick.Store(true)
			return text("sick now"), nil, nil
		})

	mux := http.NewServeMux()
	mux.Handle(path, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{SessionTimeout: time.Hour}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if sick.Load() {
			http.Error(w, "sick", http.StatusServiceUnavailable)
		}
	})
	return mux
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

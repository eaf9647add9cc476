package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type (
	echoIn struct {
		Message string `json:"message"`
	}
	countIn struct {
		N int `json:"n"`
	}
	none struct{}
)

func said(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// goSDK builds the server on modelcontextprotocol/go-sdk.
func goSDK() program {
	s := mcp.NewServer(&mcp.Implementation{Name: "peer-go-sdk", Version: "1.0.0"}, nil)
	var cancels atomic.Int64
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Say the message back."},
		func(_ context.Context, _ *mcp.CallToolRequest, in echoIn) (*mcp.CallToolResult, any, error) {
			return said("%s", in.Message), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "count", Description: "Count, with progress."},
		func(ctx context.Context, r *mcp.CallToolRequest, in countIn) (*mcp.CallToolResult, any, error) {
			for i := range in.N {
				if token := r.Params.GetProgressToken(); token != nil {
					err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(i + 1), Total: float64(in.N), Message: "counting"})
					if err != nil {
						return nil, nil, err
					}
				}
				time.Sleep(10 * time.Millisecond)
			}
			return said("counted %d", in.N), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "wait", Description: "Wait until cancelled."},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
			select {
			case <-ctx.Done():
				cancels.Add(1)
				return nil, nil, ctx.Err()
			case <-time.After(time.Minute):
				return said("never cancelled"), nil, nil
			}
		})
	mcp.AddTool(s, &mcp.Tool{Name: "cancels", Description: "How often wait was cancelled."},
		func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
			return said("%d", cancels.Load()), nil, nil
		})
	goSDKAsks(s)
	s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Greet " + r.Params.Arguments["who"]}}}}, nil
		})
	s.AddResource(&mcp.Resource{URI: "peer://note", Name: "note", MIMEType: "text/plain"},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: "a note"}}}, nil
		})
	get := func(*http.Request) *mcp.Server { return s }
	return program{
		stdio: func(ctx context.Context) error { return s.Run(ctx, &mcp.StdioTransport{}) },
		handlers: map[string]http.Handler{
			"http":      mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}),
			"stateless": mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true}),
			"sse":       mcp.NewSSEHandler(get, nil),
		},
	}
}

// goSDKAsks adds the tools that ask back: the SDK makes a request of its own of
// it in a session, and a round of the same call without.
func goSDKAsks(s *mcp.Server) {
	ask := func(name string, q mcp.InputRequest, read func(mcp.InputResponse) string) {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(_ context.Context, r *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
			answer, ok := r.Params.InputResponses["q"]
			if !ok {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": q}, RequestState: "asked"}, nil, nil
			}
			return said("%s", read(answer)), nil, nil
		})
	}
	schema := map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}
	ask("ask", &mcp.ElicitParams{Message: "who are you", RequestedSchema: schema}, func(r mcp.InputResponse) string {
		e, ok := r.(*mcp.ElicitResult)
		if !ok {
			return fmt.Sprintf("%T", r)
		}
		return fmt.Sprintf("%s %v", e.Action, e.Content["name"])
	})
	ask("sample", &mcp.CreateMessageParams{MaxTokens: 10, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "hi"}}}}, func(r mcp.InputResponse) string {
		switch m := r.(type) {
		case *mcp.CreateMessageResult:
			if t, ok := m.Content.(*mcp.TextContent); ok {
				return m.Model + " " + t.Text
			}
		case *mcp.CreateMessageWithToolsResult:
			if len(m.Content) == 1 {
				if t, ok := m.Content[0].(*mcp.TextContent); ok {
					return m.Model + " " + t.Text
				}
			}
		}
		return fmt.Sprintf("%T", r)
	})
	ask("where", &mcp.ListRootsParams{}, func(r mcp.InputResponse) string {
		l, ok := r.(*mcp.ListRootsResult)
		if !ok || len(l.Roots) != 1 {
			return fmt.Sprintf("%T", r)
		}
		return l.Roots[0].URI
	})
}

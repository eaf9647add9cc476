package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// mcpGo builds the server on mark3labs/mcp-go.
func mcpGo() program {
	s := server.NewMCPServer("peer-mcp-go", "1.0.0",
		server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(true),
		server.WithElicitation(), server.WithRoots(), server.WithLogging())
	s.EnableSampling()
	var cancels atomic.Int64
	tool := func(name string, f func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error), opts ...mcp.ToolOption) {
		s.AddTool(mcp.NewTool(name, opts...), f)
	}
	tool("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("message", "")), nil
	}, mcp.WithString("message", mcp.Required()))
	tool("count", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		n := r.GetInt("n", 0)
		for i := range n {
			if m := r.Params.Meta; m != nil && m.ProgressToken != nil {
				// Its queue may be full while the client is away.
				_ = s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": m.ProgressToken, "progress": i + 1, "total": n, "message": "counting"})
			}
			time.Sleep(10 * time.Millisecond)
		}
		return mcp.NewToolResultText(fmt.Sprintf("counted %d", n)), nil
	}, mcp.WithNumber("n", mcp.Required()))
	tool("wait", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case <-ctx.Done():
			cancels.Add(1)
			return nil, ctx.Err()
		case <-time.After(time.Minute):
			return mcp.NewToolResultText("never cancelled"), nil
		}
	})
	tool("cancels", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(fmt.Sprint(cancels.Load())), nil
	})
	mcpGoAsks(tool)
	s.AddPrompt(mcp.NewPrompt("greet", mcp.WithArgument("who", mcp.RequiredArgument())),
		func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult("", []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Greet "+r.Params.Arguments["who"]))}), nil
		})
	s.AddResource(mcp.NewResource("peer://note", "note", mcp.WithMIMEType("text/plain")),
		func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: "a note"}}, nil
		})
	return program{
		stdio: func(ctx context.Context) error { return server.NewStdioServer(s).Listen(ctx, os.Stdin, os.Stdout) },
		handlers: map[string]http.Handler{
			"http": server.NewStreamableHTTPServer(s, server.WithStateful(true), server.WithEventStore(server.NewInMemoryEventStore())),
			"sse":  server.NewSSEServer(s),
		},
	}
}

// mcpGoAsks adds the tools that ask back; see goSDKAsks.
func mcpGoAsks(tool func(string, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error), ...mcp.ToolOption)) {
	schema := map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}
	tool("ask", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if e := server.ElicitationResponse(r.Params.InputResponses, "q"); e != nil {
			content, _ := e.Content.(map[string]any)
			return mcp.NewToolResultText(fmt.Sprintf("%s %v", e.Action, content["name"])), nil
		}
		return server.NewInputRequestBuilder("asked").Elicit("q", mcp.ElicitationParams{Message: "who are you", RequestedSchema: schema}).ToolResult(), nil
	})
	tool("sample", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if m := server.SamplingResponse(r.Params.InputResponses, "q"); m != nil {
			return mcp.NewToolResultText(m.Model + " " + mcp.GetTextFromContent(m.Content)), nil
		}
		return server.NewInputRequestBuilder("asked").Sample("q", mcp.CreateMessageParams{
			MaxTokens: 10, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent("hi")}},
		}).ToolResult(), nil
	})
	tool("where", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if l := server.RootsResponse(r.Params.InputResponses, "q"); l != nil && len(l.Roots) == 1 {
			return mcp.NewToolResultText(l.Roots[0].URI), nil
		}
		return server.NewInputRequestBuilder("asked").Roots("q").ToolResult(), nil
	})
}

package main

import (
	"context"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

type mcpGo struct {
	c   *client.Client
	rev string
}

func openMCPGo(ctx context.Context, url, rev string) (session, error) {
	c, err := client.NewStreamableHttpClient(url)
	if err != nil {
		return nil, err
	}
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	if rev == "" {
		rev = mcp.LATEST_PROTOCOL_VERSION
	}
	req := mcp.InitializeRequest{}
	req.Params.ProtocolVersion = rev
	req.Params.ClientInfo = mcp.Implementation{Name: "fairlead-peer-mcp-go", Version: version}
	r, err := c.Initialize(ctx, req)
	if err != nil {
		c.Close()
		return nil, err
	}
	return mcpGo{c, r.ProtocolVersion}, nil
}

func (m mcpGo) revision() string { return m.rev }

func (m mcpGo) list(ctx context.Context) ([]string, error) {
	r, err := m.c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names, nil
}

func (m mcpGo) call(ctx context.Context, name string, args map[string]any) (any, bool, error) {
	req := mcp.CallToolRequest{}
	req.Params.Name = name
	req.Params.Arguments = args
	r, err := m.c.CallTool(ctx, req)
	if err != nil {
		return nil, false, err
	}
	return r, r.IsError, nil
}

func (m mcpGo) close() error { return m.c.Close() }

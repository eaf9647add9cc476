package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type goSDK struct{ s *mcp.ClientSession }

func openGoSDK(ctx context.Context, url, rev string) (session, error) {
	c := mcp.NewClient(&mcp.Implementation{Name: "fairlead-peer-go-sdk", Version: version}, nil)
	s, err := c.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: rev})
	if err != nil {
		return nil, err
	}
	return goSDK{s}, nil
}

func (g goSDK) revision() string { return g.s.InitializeResult().ProtocolVersion }

func (g goSDK) list(ctx context.Context) ([]string, error) {
	var names []string
	for tool, err := range g.s.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, tool.Name)
	}
	return names, nil
}

func (g goSDK) call(ctx context.Context, name string, args map[string]any) (any, bool, error) {
	r, err := g.s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return nil, false, err
	}
	return r, r.IsError, nil
}

func (g goSDK) close() error { return g.s.Close() }

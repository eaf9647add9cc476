package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type goSDK struct {
	s    *mcp.ClientSession
	saw  *seen
	asks bool // for progress
}

func openGoSDK(ctx context.Context, h how) (session, error) {
	saw := &seen{}
	var o *mcp.ClientOptions
	if h.capable {
		o = goSDKAnswers(saw)
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "fairlead-peer-go-sdk", Version: version}, o)
	if h.capable {
		c.AddRoots(&mcp.Root{URI: "file:///peer", Name: "peer"})
	}
	var wire mcp.Transport = &mcp.StreamableClientTransport{Endpoint: h.url}
	if h.sse {
		wire = &mcp.SSEClientTransport{Endpoint: h.url}
	}
	s, err := c.Connect(ctx, wire, &mcp.ClientSessionOptions{ProtocolVersion: h.revision})
	if err != nil {
		return nil, err
	}
	return goSDK{s, saw, h.capable}, nil
}

// goSDKAnswers are fixed answers to what a server may ask.
func goSDKAnswers(saw *seen) *mcp.ClientOptions {
	return &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			saw.elicitation.Add(1)
			return &mcp.ElicitResult{Action: "accept", Content: filled(r.Params.RequestedSchema)}, nil
		},
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			saw.sampling.Add(1)
			return &mcp.CreateMessageResult{Model: "peer-model", Role: "assistant", StopReason: "endTurn", Content: &mcp.TextContent{Text: "sampled by the peer client"}}, nil
		},
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { saw.progressed() },
	}
}

func (g goSDK) seen() *seen { return g.saw }

func (g goSDK) onProgress(f func()) { g.saw.hear.Store(&f) }

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
	p := &mcp.CallToolParams{Name: name, Arguments: args}
	if g.asks {
		p.SetProgressToken("peer")
	}
	r, err := g.s.CallTool(ctx, p)
	if err != nil {
		return nil, false, err
	}
	return r, r.IsError, nil
}

func (g goSDK) close() error { return g.s.Close() }

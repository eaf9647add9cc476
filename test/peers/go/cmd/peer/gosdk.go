package main

import (
	"context"
	"errors"
	"iter"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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

func (g goSDK) list(ctx context.Context, what string) ([]string, error) {
	switch what {
	case "prompts":
		return named(g.s.Prompts(ctx, nil), func(p *mcp.Prompt) string { return p.Name })
	case "resources":
		return named(g.s.Resources(ctx, nil), func(r *mcp.Resource) string { return r.URI })
	case "templates":
		return named(g.s.ResourceTemplates(ctx, nil), func(t *mcp.ResourceTemplate) string { return t.URITemplate })
	}
	return named(g.s.Tools(ctx, nil), func(t *mcp.Tool) string { return t.Name })
}

// named collects what an iterator of the SDK gives.
func named[T any](all iter.Seq2[T, error], name func(T) string) ([]string, error) {
	var out []string
	for one, err := range all {
		if err != nil {
			return nil, goSDKFailure(err)
		}
		out = append(out, name(one))
	}
	return out, nil
}

func (g goSDK) prompt(ctx context.Context, name string, args map[string]string) (any, error) {
	r, err := g.s.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
	return r, goSDKFailure(err)
}

func (g goSDK) read(ctx context.Context, uri string) (any, error) {
	r, err := g.s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	return r, goSDKFailure(err)
}

func (g goSDK) ping(ctx context.Context) error {
	if g.revision() >= modern {
		return nil // its revision has none
	}
	return goSDKFailure(g.s.Ping(ctx, nil))
}

// goSDKFailure finds what the other side said in an error.
func goSDKFailure(err error) error {
	if wire := (*jsonrpc.Error)(nil); errors.As(err, &wire) {
		return &failure{wire.Code, wire.Data, err}
	}
	return err
}

func (g goSDK) call(ctx context.Context, name string, args map[string]any) (any, bool, error) {
	p := &mcp.CallToolParams{Name: name, Arguments: args}
	if g.asks {
		p.SetProgressToken("peer")
	}
	r, err := g.s.CallTool(ctx, p)
	if err != nil {
		return nil, false, goSDKFailure(err)
	}
	return r, r.IsError, nil
}

func (g goSDK) close() error { return g.s.Close() }

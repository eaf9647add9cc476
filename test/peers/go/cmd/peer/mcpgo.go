package main

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

type mcpGo struct {
	c    *client.Client
	rev  string
	saw  *seen
	asks bool // for progress
}

func openMCPGo(ctx context.Context, h how) (session, error) {
	rev := h.revision
	saw := &seen{}
	var o []client.ClientOption
	var wires []transport.StreamableHTTPCOption
	if h.capable {
		o = []client.ClientOption{client.WithElicitationHandler(answers{saw}), client.WithSamplingHandler(answers{saw}), client.WithRootsHandler(answers{saw})}
		wires = append(wires, transport.WithContinuousListening())
	}
	var wire transport.Interface
	var err error
	if h.sse {
		wire, err = transport.NewSSE(h.url)
	} else {
		wire, err = transport.NewStreamableHTTP(h.url, wires...)
	}
	if err != nil {
		return nil, err
	}
	c := client.NewClient(wire, o...)
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" {
			saw.progressed()
		}
	})
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
	return mcpGo{c, r.ProtocolVersion, saw, h.capable}, nil
}

// answers are fixed answers to what a server may ask.
type answers struct{ saw *seen }

func (a answers) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	a.saw.elicitation.Add(1)
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: filled(r.Params.RequestedSchema)}}, nil
}

func (a answers) CreateMessage(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	a.saw.sampling.Add(1)
	return &mcp.CreateMessageResult{
		Model: "peer-model", StopReason: "endTurn",
		SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent("sampled by the peer client")},
	}, nil
}

func (a answers) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	a.saw.roots.Add(1)
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///peer", Name: "peer"}}}, nil
}

func (m mcpGo) seen() *seen { return m.saw }

func (m mcpGo) onProgress(f func()) { m.saw.hear.Store(&f) }

func (m mcpGo) revision() string { return m.rev }

func (m mcpGo) list(ctx context.Context, what string) (names []string, err error) {
	switch what {
	case "prompts":
		r, err := m.c.ListPrompts(ctx, mcp.ListPromptsRequest{})
		if err != nil {
			return nil, mcpGoFailure(err)
		}
		for _, p := range r.Prompts {
			names = append(names, p.Name)
		}
	case "resources":
		r, err := m.c.ListResources(ctx, mcp.ListResourcesRequest{})
		if err != nil {
			return nil, mcpGoFailure(err)
		}
		for _, one := range r.Resources {
			names = append(names, one.URI)
		}
	case "templates":
		r, err := m.c.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
		if err != nil {
			return nil, mcpGoFailure(err)
		}
		for _, t := range r.ResourceTemplates {
			names = append(names, t.URITemplate.Raw())
		}
	default:
		r, err := m.c.ListTools(ctx, mcp.ListToolsRequest{})
		if err != nil {
			return nil, mcpGoFailure(err)
		}
		for _, t := range r.Tools {
			names = append(names, t.Name)
		}
	}
	return names, nil
}

func (m mcpGo) prompt(ctx context.Context, name string, args map[string]string) (any, error) {
	req := mcp.GetPromptRequest{}
	req.Params.Name, req.Params.Arguments = name, args
	r, err := m.c.GetPrompt(ctx, req)
	return r, mcpGoFailure(err)
}

func (m mcpGo) read(ctx context.Context, uri string) (any, error) {
	req := mcp.ReadResourceRequest{}
	req.Params.URI = uri
	r, err := m.c.ReadResource(ctx, req)
	return r, mcpGoFailure(err)
}

func (m mcpGo) ping(ctx context.Context) error { return mcpGoFailure(m.c.Ping(ctx)) }

// mcpGoFailure finds the code in an error: the SDK keeps nothing else of what
// the other side said, data least of all.
func mcpGoFailure(err error) error {
	for code, known := range map[int64]error{
		mcp.INTERNAL_ERROR: mcp.ErrInternalError, mcp.INVALID_PARAMS: mcp.ErrInvalidParams,
		mcp.INVALID_REQUEST: mcp.ErrInvalidRequest, mcp.METHOD_NOT_FOUND: mcp.ErrMethodNotFound,
	} {
		if errors.Is(err, known) {
			return &failure{code, nil, err}
		}
	}
	return err
}

func (m mcpGo) call(ctx context.Context, name string, args map[string]any) (any, bool, error) {
	req := mcp.CallToolRequest{}
	req.Params.Name = name
	req.Params.Arguments = args
	if m.asks {
		req.Params.Meta = &mcp.Meta{ProgressToken: "peer"}
	}
	r, err := m.c.CallTool(ctx, req)
	if err != nil {
		return nil, false, mcpGoFailure(err)
	}
	return r, r.IsError, nil
}

func (m mcpGo) close() error { return m.c.Close() }

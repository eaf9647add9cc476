package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/client"
)

// maxAnswer bounds one message of the server, in bytes.
const maxAnswer = 64 << 20

// dialMCP connects to an endpoint, stateless where the server can, with a
// session otherwise. A sidecar always can; the fallback keeps the plugin of
// use against one that is not of its own release. It declares no capability:
// nobody sits at it to answer what a server may ask.
func dialMCP(ctx context.Context, endpoint string) (session, error) {
	transport := &http.Transport{}
	c, err := client.Connect(ctx, client.Options{
		Server:          client.HTTP{URL: endpoint, Client: &http.Client{Transport: transport}},
		Name:            "kubectl-mcp",
		Version:         "1",
		MaxMessageBytes: maxAnswer,
	})
	if err != nil {
		transport.CloseIdleConnections()
		return nil, err
	}
	return &conversation{Client: c, transport: transport}, nil
}

// conversation is a session over HTTP.
type conversation struct {
	*client.Client
	transport *http.Transport
}

func (c *conversation) revision() string { return c.Revision() }

func (c *conversation) close() error {
	defer c.transport.CloseIdleConnections()
	return c.Close()
}

func (c *conversation) tools(ctx context.Context) (all []json.RawMessage, err error) {
	tools, err := c.ListTools(ctx)
	for _, t := range tools {
		all = append(all, t.Raw)
	}
	return all, told(err)
}

func (c *conversation) call(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
	result, err := c.CallTool(ctx, tool, args, client.Timeout(-1))
	switch {
	case errors.Is(err, client.ErrInputRequired):
		return nil, errors.New("the tool asks back, which this command cannot answer: use a client that can")
	case err != nil:
		return nil, told(err)
	}
	return result.Raw, nil
}

// told adds the code to an error of the server's.
func told(err error) error {
	if code, ok := client.ErrorCode(err); ok {
		return fmt.Errorf("%w (error %d)", err, code)
	}
	return err
}

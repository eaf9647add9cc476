package client

import (
	"context"
	"errors"
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/client/httpleg"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// HTTPOptions say whom to connect to and as whom. URL is required.
type HTTPOptions struct {
	// URL is the MCP endpoint.
	URL string
	// HTTPClient makes the requests; only its Transport is used. Nil means
	// http.DefaultTransport.
	HTTPClient *http.Client
	// Header is added to every request.
	Header http.Header
	// Revision pins the protocol revision; empty finds the newest that both
	// sides know.
	Revision string
	// Name and Version introduce this program.
	Name, Version string
	// Capabilities is the raw object that is declared; nil declares nothing.
	Capabilities []byte
	// Handler serves what the server sends by itself; it may be nil.
	Handler peer.Handler
	// MaxMessageBytes bounds one message of the server.
	MaxMessageBytes int
}

// Server is what the server said about itself.
type Server struct {
	// Name and Version are its own words.
	Name, Version string
	// Capabilities is the raw object.
	Capabilities []byte
	// Instructions are meant for a model.
	Instructions string
}

// Client is a conversation with one server. All methods may be called
// concurrently. Close ends it.
type Client struct {
	opts    HTTPOptions
	profile mcp.Profile
	server  Server
	peer    *peer.Peer
	leg     *httpleg.Leg
	schemas schemas
}

// Revision is the protocol revision that is spoken.
func (c *Client) Revision() string { return c.profile.Revision }

// Server is who answers.
func (c *Client) Server() Server { return c.server }

// Close ends the conversation and waits until the server has been told, for at
// most a few seconds. It is idempotent.
func (c *Client) Close() error {
	c.peer.Close(errors.New("client: closed"))
	c.leg.Wait()
	c.peer.Wait()
	return nil
}

// Call makes any request. params is a raw object or nil; the result is raw. The
// error is the server's *jsonrpc.Error, a *peer.Failure, or ctx's cause.
func (c *Client) Call(ctx context.Context, method string, params []byte) ([]byte, error) {
	return c.call(ctx, method, params, nil)
}

func (c *Client) call(ctx context.Context, method string, params []byte, fields []peer.Field) ([]byte, error) {
	r := peer.Request{Method: method, Params: params}
	if !c.profile.Handshake {
		r.Revision, r.Fields = c.profile.Revision, fields
		r.Edits = c.enveloped()
		if m, ok := c.profile.Method(method); ok && m.NameParam != "" {
			raw, _ := strictjson.Get(params, m.NameParam)
			r.Name, _ = strictjson.String(raw)
		}
	}
	answer, err := c.peer.Call(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case answer.Err != nil:
		return nil, answer.Err
	}
	return answer.Result, nil
}

// enveloped are the keys that every stateless request carries (W6.5, W6.7).
func (c *Client) enveloped() []strictjson.Edit {
	return []strictjson.Edit{
		strictjson.Set(strictjson.Quote(nil, c.profile.Revision), "_meta", mcp.MetaProtocolVersion),
		strictjson.Set(c.capabilities(), "_meta", mcp.MetaClientCapabilities),
		strictjson.Set(c.info(), "_meta", mcp.MetaClientInfo),
	}
}

func (c *Client) capabilities() []byte {
	if c.opts.Capabilities == nil {
		return []byte("{}")
	}
	return c.opts.Capabilities
}

// info is the clientInfo; both members are required.
func (c *Client) info() []byte {
	b := strictjson.Quote([]byte(`{"name":`), c.opts.Name)
	b = strictjson.Quote(append(b, `,"version":`...), c.opts.Version)
	return append(b, '}')
}

package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/fairlead-dev/fairlead/runtime/client/httpleg"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// ErrNoRevision: the two sides have no protocol revision in common.
var ErrNoRevision = errors.New("client: no protocol revision in common")

// Connect finds out what the server speaks and begins the conversation:
// stateless where it can, else with a session (W5.16, P34). Answers that say
// nothing about the era (unreachable, 401, 403, 429, 5xx) end the attempt;
// nothing is guessed from them (B1.2). The caller closes the Client.
func Connect(ctx context.Context, o HTTPOptions) (*Client, error) {
	target, err := url.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		return nil, fmt.Errorf("client: %q is no HTTP address", o.URL)
	}
	if o.Name == "" {
		o.Name, o.Version = "fairlead", "1"
	}
	if o.HTTPClient == nil {
		// No timeout of its own: streams last, and each call has its context.
		o.HTTPClient = &http.Client{}
	}
	candidates := mcp.Revisions()
	if o.Revision != "" {
		candidates = []string{o.Revision}
	}
	var tried []error
	for len(candidates) > 0 {
		profile, known := mcp.Lookup(candidates[0])
		if !known {
			return nil, fmt.Errorf("%w: %q is not known here", ErrNoRevision, candidates[0])
		}
		c, method := dial(o, target, profile), mcp.MethodDiscover
		if profile.Handshake {
			method = mcp.MethodInitialize
			err, candidates = c.initialize(ctx), nil
		} else {
			candidates, err = c.discover(ctx, candidates)
		}
		if err == nil {
			return c, nil
		}
		_ = c.Close()
		if len(candidates) == 0 && len(tried) == 0 {
			return nil, err
		}
		tried = append(tried, fmt.Errorf("%s: %w", method, err))
	}
	return nil, errors.Join(tried...)
}

func dial(o HTTPOptions, target *url.URL, profile mcp.Profile) *Client {
	c := &Client{opts: o, profile: profile}
	c.leg = httpleg.New(httpleg.Config{
		URL:             target,
		HTTP:            o.HTTPClient,
		Header:          o.Header,
		MaxMessageBytes: o.MaxMessageBytes,
		Listen:          o.Handler != nil,
	})
	c.peer = peer.New(c.leg, peer.Config{Handler: o.Handler})
	return c
}

// discover asks a stateless server who it is. On an error it returns the
// revisions that are still worth trying.
func (c *Client) discover(ctx context.Context, candidates []string) (left []string, err error) {
	raw, err := c.Call(ctx, mcp.MethodDiscover, nil)
	if err != nil {
		return c.after(candidates, err), err
	}
	versions := texts(raw, "supportedVersions")
	if !slices.Contains(versions, c.profile.Revision) {
		left = mutual(candidates[1:], versions)
		return left, fmt.Errorf("%w: the server has %v", ErrNoRevision, versions)
	}
	info, _ := strictjson.GetPath(raw, "_meta", mcp.MetaServerInfo)
	c.server = described(raw, info)
	return nil, nil
}

// after reads what a failed discover says about the era (B1.2).
func (c *Client) after(candidates []string, err error) []string {
	rpc := rpcError(err)
	switch {
	case rpc == nil:
		if status := statusOf(err); status >= 400 && status < 500 && status != http.StatusTooManyRequests && status != http.StatusUnauthorized && status != http.StatusForbidden {
			return legacyOf(candidates)
		}
		if peer.ReasonOf(err) == peer.BadResponse {
			return legacyOf(candidates)
		}
		return nil
	case rpc.Code == mcp.CodeUnsupportedRevision:
		return mutual(candidates[1:], texts(rpc.Data, "supported"))
	case rpc.Code == mcp.CodeHeaderMismatch, rpc.Code == mcp.CodeMissingCapability:
		return nil // a modern server, and our request is at fault
	}
	return legacyOf(candidates)
}

// ErrorCode is the JSON-RPC code of an error that the server answered with.
func ErrorCode(err error) (code int64, ok bool) {
	if rpc := rpcError(err); rpc != nil {
		return rpc.Code, true
	}
	return 0, false
}

// rpcError finds the server's error, also in a body that did not repeat our id.
func rpcError(err error) *jsonrpc.Error {
	var rpc *jsonrpc.Error
	errors.As(err, &rpc)
	return rpc
}

func statusOf(err error) int {
	var f *peer.Failure
	if errors.As(err, &f) {
		return f.Status
	}
	return 0
}

func legacyOf(candidates []string) []string {
	return slices.DeleteFunc(slices.Clone(candidates), func(r string) bool {
		p, _ := mcp.Lookup(r)
		return !p.Handshake
	})
}

// mutual keeps what the server has as well.
func mutual(candidates, theirs []string) []string {
	return slices.DeleteFunc(slices.Clone(candidates), func(r string) bool { return !slices.Contains(theirs, r) })
}

// initialize opens a session. Any revision with a handshake that the server
// answers with is taken (W4.3), unless one was pinned.
func (c *Client) initialize(ctx context.Context) error {
	params := strictjson.Quote([]byte(`{"protocolVersion":`), c.profile.Revision)
	params = append(append(params, `,"capabilities":`...), c.capabilities()...)
	params = append(append(append(params, `,"clientInfo":`...), c.info()...), '}')
	in, err := c.peer.Initialize(ctx, params, func(revision string) bool {
		p, known := mcp.Lookup(revision)
		return known && p.Handshake && (c.opts.Revision == "" || c.opts.Revision == revision)
	})
	if err != nil {
		return err
	}
	c.profile, _ = mcp.Lookup(in.Revision)
	c.server = described(in.Raw, in.ServerInfo)
	return nil
}

func described(raw, info []byte) Server {
	text := func(object []byte, name string) string {
		value, _ := strictjson.Get(object, name)
		out, _ := strictjson.String(value)
		return out
	}
	s := Server{Name: text(info, "name"), Version: text(info, "version"), Instructions: text(raw, "instructions")}
	s.Capabilities, _ = strictjson.Get(raw, "capabilities")
	return s
}

func texts(object []byte, name string) (out []string) {
	array, _ := strictjson.Get(object, name)
	strictjson.Elements(array, func(value []byte) bool {
		if text, ok := strictjson.String(value); ok {
			out = append(out, text)
		}
		return true
	})
	return out
}

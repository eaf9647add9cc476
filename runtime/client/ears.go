package client

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// ears is what a connection's Peer talks to.
type ears struct{ v *conversation }

// Request implements peer.Handler: a request of a server with a session.
func (e ears) Request(ctx context.Context, in peer.Incoming) ([]byte, *jsonrpc.Error) {
	if run := runOf(in); run != nil {
		defer run.ask()()
	}
	raw, err := e.v.client.answer(ctx, e.v, in.Msg.Method, in.Msg.Params)
	if err != nil {
		return nil, refusal(err)
	}
	if task := member(in.Msg.Meta, mcp.MetaRelatedTask); task != nil { // W6.11
		if marked, err := strictjson.Splice(raw, strictjson.Set(task, "_meta", mcp.MetaRelatedTask)); err == nil {
			raw = marked
		}
	}
	return raw, nil
}

// Notification implements peer.Handler.
func (e ears) Notification(in peer.Incoming) {
	n := Notification{Method: in.Msg.Method, Params: in.Msg.Params}
	run := runOf(in)
	if run != nil {
		if n.Method == mcp.NotifyProgress {
			run.progressed(n.Params)
		}
		if run.opts.notify != nil {
			run.opts.notify(n)
		}
	}
	c := e.v.client
	c.tasks.heard(n)
	if n.Method == mcp.NotifyToolsChanged {
		c.tools.stale()
	}
	if e.v.speaks().Handshake {
		c.subs.heard(n)
	}
	if f := c.opts.Handlers.Notification; f != nil {
		f(n)
	}
}

func runOf(in peer.Incoming) *inflight {
	if in.Call == nil {
		return nil
	}
	run, _ := in.Call.Value().(*inflight)
	return run
}

// errUnasked: the server asks for what was not declared.
var errUnasked = errors.New("client: the server asks for what this client did not declare")

// answer serves one question of the server, whatever way it came.
func (c *Client) answer(ctx context.Context, v *conversation, method string, params []byte) (json.RawMessage, error) {
	h := &c.opts.Handlers
	switch method {
	case mcp.MethodCreateMessage:
		if h.Sample != nil {
			return c.sample(ctx, v.speaks(), params)
		}
	case mcp.MethodElicit:
		return c.elicit(ctx, params)
	case mcp.MethodRootsList:
		if h.Roots != nil {
			return c.roots(ctx)
		}
	default:
		if h.Request != nil && v.speaks().Handshake {
			return h.Request(ctx, method, params)
		}
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"} // W31.4
}

// refusal is an error of a handler as an answer.
func refusal(err error) *jsonrpc.Error {
	if rpc := rpcError(err); rpc != nil {
		return rpc
	}
	if errors.Is(err, ErrRejected) {
		return jsonrpc.Errorf(mcp.CodeUserRejected, "the user rejected the request") // W29.7
	}
	return jsonrpc.Errorf(jsonrpc.CodeInternal, "%s", short(err.Error()))
}

// short bounds a text that goes to the server.
func short(text string) string { return text[:min(len(text), 200)] }

func invalid(format string, args ...any) *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, format, args...)
}

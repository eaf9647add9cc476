package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// ErrResultType: a stateless server answered with a kind of result that nobody
// agreed on (W3.3).
var ErrResultType = errors.New("client: unknown kind of result")

// request is one request to make, on whatever connection there is.
type request struct {
	method string
	params []byte // raw object or nil
	opts   callOptions
	// fields mirrors arguments in headers; nil: nothing to mirror.
	fields func(v *conversation) []peer.Field
	// tasks declares the tasks extension.
	tasks bool
	// quiet: the server is not told when the caller gives up.
	quiet bool
	// endless: no timeout (subscriptions/listen).
	endless bool
	// lasting keeps progress coming after the result; release ends that. It is
	// set with the result, and may stay nil.
	lasting bool
	release func()
}

// Call makes any request, raw: params is anything that becomes a JSON object,
// or nil; raw JSON stays as it is. Questions of the server are answered by the
// Handlers. The error is the server's *jsonrpc.Error, a *peer.Failure, ctx's
// cause, or one of this package.
func (c *Client) Call(ctx context.Context, method string, params any, opts ...CallOption) (json.RawMessage, error) {
	raw, err := encodedObject("params", params)
	if err != nil {
		return nil, err
	}
	return c.converse(ctx, &request{method: method, params: raw, opts: options(opts)})
}

// Notify tells the server something. A stateless revision has nothing that a
// client tells over HTTP (W14.4), so it is an error there.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	raw, err := encodedObject("params", params)
	if err != nil {
		return err
	}
	v, err := c.conversation(ctx)
	if err != nil {
		return err
	}
	if !v.profile.Handshake && v.binding != mcp.Stdio {
		return fmt.Errorf("client: %s has no notifications of clients over HTTP", v.profile.Revision)
	}
	return v.peer.Notify(ctx, method, raw)
}

// call makes a request once, on this connection.
func (v *conversation) call(ctx context.Context, r *request) (json.RawMessage, error) {
	run := &inflight{opts: r.opts}
	ctx, stop := run.clock(ctx, r, v.client.opts.Timeout)
	defer stop()
	out := peer.Request{Method: r.method, Params: r.params, Value: run, Quiet: r.quiet, Lasting: r.lasting}
	if r.opts.progress != nil || r.opts.extend {
		out.Token = []byte("0") // any: it comes back replaced (W20.1)
	}
	for _, name := range sorted(r.opts.meta) {
		out.Edits = append(out.Edits, strictjson.Set(r.opts.meta[name], "_meta", name))
	}
	if !v.profile.Handshake {
		out.Revision = v.profile.Revision
		out.Edits = append(out.Edits, v.envelope(r)...)
		if m, ok := v.profile.Method(r.method); ok && m.NameParam != "" {
			out.Name = text(r.params, m.NameParam)
		}
		if r.fields != nil {
			out.Fields = r.fields(v)
		}
	}
	answer, err := v.peer.Call(ctx, out)
	switch {
	case err != nil:
		return nil, err
	case answer.Err != nil:
		return nil, answer.Err
	}
	if answer.Call != nil {
		r.release = func() { v.peer.Release(answer.Call) }
	}
	return answer.Result, nil
}

// envelope are the keys that every stateless request carries (W6.5, W6.7).
func (v *conversation) envelope(r *request) []strictjson.Edit {
	c := v.client
	extensions := c.opts.Extensions
	if r.tasks || c.opts.Tasks && r.method == mcp.MethodToolsCall {
		extensions = withTasks(extensions)
	}
	edits := []strictjson.Edit{
		strictjson.Set(strictjson.Quote(nil, v.profile.Revision), "_meta", mcp.MetaProtocolVersion),
		strictjson.Set(c.capabilities(v.profile, extensions), "_meta", mcp.MetaClientCapabilities),
		strictjson.Set(c.info(), "_meta", mcp.MetaClientInfo),
	}
	level := r.opts.level
	if level == "" {
		c.mu.Lock()
		level = c.level
		c.mu.Unlock()
	}
	if level != "" && !r.quiet {
		edits = append(edits, strictjson.Set(strictjson.Quote(nil, level), "_meta", mcp.MetaLogLevel)) // W6.9
	}
	return edits
}

func withTasks(extensions map[string]json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{mcp.ExtensionTasks: json.RawMessage("{}")}
	for id, settings := range extensions {
		out[id] = settings
	}
	return out
}

// info is the clientInfo; name and version are required members.
func (c *Client) info() []byte {
	var o object
	o.set("name", strictjson.Quote(nil, c.opts.Name))
	o.text("title", c.opts.Title)
	o.set("version", strictjson.Quote(nil, c.opts.Version))
	return o.bytes()
}

// The kinds of result (W3.1).
const (
	resultComplete = "complete"
	resultInput    = "input_required"
	resultTask     = "task"
)

// kind is what a result is, on this connection, for this method (W3.3).
func (v *conversation) kind(r *request, raw []byte) (string, error) {
	kind := text(raw, "resultType")
	if v.profile.Handshake {
		if kind == resultInput {
			return "", fmt.Errorf("%w in a result, which %s does not know", ErrInputRequired, v.profile.Revision)
		}
		return resultComplete, nil // the member is anybody's there (W3.6)
	}
	switch kind {
	case "", resultComplete:
		return resultComplete, nil
	case resultInput:
		if m, ok := v.profile.Method(r.method); !ok || m.InputRequired {
			return kind, nil
		}
	case resultTask:
		if r.tasks || v.client.opts.Tasks {
			return kind, nil
		}
	}
	return "", fmt.Errorf("%w: %q for %s", ErrResultType, kind, r.method)
}

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

func (s *Server) listTools(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
	return page(s, x, KindTool, "tools", &s.tools, (*toolEntry).visible, func(t *toolEntry) []byte {
		return t.forms.of(x.Profile(), t.encode)
	})
}

// callTool serves tools/call: find, authorize, validate, then run, as a task or
// not.
func (s *Server) callTool(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	in := readIncoming(x.Msg.Params, "name")
	t, bad := s.findTool(x, in)
	if bad != nil {
		return dispatch.Fail(bad)
	}
	c := s.newContext(ctx, x)
	c.in = in
	if missing := c.lacks(t.tool.Needs); missing != nil {
		return s.rounds(c, func() ([]byte, *InputRequired, error) { return s.toolFailure(c, missing) }, s.toolFailure)
	}
	args := in.arguments
	if args == nil || strictjson.IsNull(args) {
		args = []byte(`{}`) // R7
	}
	if !strictjson.IsObject(args) {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "arguments must be an object"))
	}
	if t.typed {
		args = t.in.WithDefaults(args)
	}
	if err := s.large.validate(ctx, t.in, args); err != nil {
		if ctx.Err() != nil {
			return dispatch.Fail(dispatch.Explain(context.Cause(ctx)))
		}
		return s.settled(c, t, s.badArguments(x.Profile(), t, err))
	}
	return s.callAsTask(c, t, func(c *Context) dispatch.Outcome { return s.invokeTool(c, t, args) })
}

// findTool finds the tool that a call names, for a caller who may call it.
func (s *Server) findTool(x *dispatch.Exchange, in incoming) (*toolEntry, *jsonrpc.Error) {
	name, ok := strictjson.String(in.name)
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the name of the tool is missing")
	}
	t := s.tools.get(name)
	if t == nil || !s.sees(callerOf(x), KindTool, name, t.tool.Visible) {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "unknown tool: %.200s", name)
	}
	if missing := x.Identity().Missing(t.tool.Scopes...); len(missing) > 0 {
		return nil, lacking(x, t.tool.Scopes)
	}
	return t, nil
}

// invokeTool runs the handler, round after round. The outcome carries nothing
// yet of what every result of a revision has (finish).
func (s *Server) invokeTool(c *Context, t *toolEntry, args json.RawMessage) (o dispatch.Outcome) {
	defer s.guard(&o)
	if t.tool.Timeout <= 0 {
		return s.toolRounds(c, t, args)
	}
	return s.limited(c, t, args)
}

// limited runs a tool within its own bound. A handler that does not heed its
// context is left behind: its answer is nobody's any more.
func (s *Server) limited(c *Context, t *toolEntry, args json.RawMessage) dispatch.Outcome {
	late := jsonrpc.Errorf(jsonrpc.CodeInternal, "the tool took longer than %v", t.tool.Timeout.Round(time.Millisecond)).WithReason(mcp.ReasonTimeout)
	ctx, cancel := context.WithTimeoutCause(c.Context, t.tool.Timeout, late)
	defer cancel()
	c.Context = ctx
	done := make(chan dispatch.Outcome, 1)
	go func() {
		var o dispatch.Outcome
		defer func() { done <- o }()
		defer s.guard(&o)
		o = s.toolRounds(c, t, args)
	}()
	select {
	case o := <-done:
		return o
	case <-ctx.Done():
		return dispatch.Fail(dispatch.Explain(context.Cause(ctx)))
	}
}

func (s *Server) toolRounds(c *Context, t *toolEntry, args json.RawMessage) dispatch.Outcome {
	return s.rounds(c, func() ([]byte, *InputRequired, error) {
		out, err := t.handler(c, args)
		if err != nil {
			return s.toolFailure(c, err)
		}
		switch out := out.(type) {
		case *InputRequired:
			return nil, out, nil
		case *ToolResult:
			raw, err := s.toolResult(c, c.x.Profile(), t, out)
			return raw, nil, err
		case nil:
			raw, err := s.toolResult(c, c.x.Profile(), t, &ToolResult{})
			return raw, nil, err
		}
		return nil, nil, fmt.Errorf("tool %q: an outcome of type %T is not known here", t.tool.Name, out)
	}, s.toolFailure)
}

// toolResult checks a result against the output schema and encodes it.
func (s *Server) toolResult(ctx context.Context, p mcp.Profile, t *toolEntry, r *ToolResult) ([]byte, error) {
	if r == nil {
		r = &ToolResult{}
	}
	var structured json.RawMessage
	if r.Structured != nil {
		raw, err := encode(r.Structured)
		if err != nil {
			return nil, ownFault(fmt.Errorf("tool %q: structured content: %w", t.tool.Name, err))
		}
		structured = raw
	}
	if t.out != nil && !r.IsError { // W24.7
		if structured == nil {
			return nil, ownFault(fmt.Errorf("tool %q: no structured content, but an output schema", t.tool.Name))
		}
		if err := s.large.validate(ctx, t.out, structured); err != nil {
			return nil, ownFault(fmt.Errorf("tool %q: structured content does not fit the output schema: %w", t.tool.Name, err))
		}
	}
	raw, err := encodeResult(p, r, structured)
	if err != nil {
		return nil, ownFault(fmt.Errorf("tool %q: result: %w", t.tool.Name, err))
	}
	return raw, nil
}

// badArguments answers arguments that do not fit: a tool result that a model
// can act on where the revision wants one, else a protocol error (W24.11).
func (s *Server) badArguments(p mcp.Profile, t *toolEntry, err error) dispatch.Outcome {
	if !p.InputErrorsInResult {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "invalid arguments: %s", oneLine(err)))
	}
	text := fmt.Sprintf("The arguments do not fit the input schema of %s:\n%s", t.tool.Name, err)
	return s.encoded(encodeResult(p, ErrorResult(text), nil))
}

// toolFailure turns an error of a handler into what the client gets. Errors
// that are the protocol's stay so; all others are for the model to read.
func (s *Server) toolFailure(c *Context, err error) ([]byte, *InputRequired, error) {
	if protocolError(c, err) {
		return nil, nil, err
	}
	r := ErrorResult(err.Error())
	var own *ToolError
	if errors.As(err, &own) {
		r = &ToolResult{Content: own.Content, IsError: true, Structured: own.Structured}
	}
	var structured json.RawMessage
	if r.Structured != nil {
		raw, encodeErr := encode(r.Structured)
		if encodeErr != nil {
			return nil, nil, ownFault(encodeErr)
		}
		structured = raw
	}
	raw, encodeErr := encodeResult(c.x.Profile(), r, structured)
	if encodeErr != nil {
		return nil, nil, ownFault(encodeErr)
	}
	return raw, nil, nil
}

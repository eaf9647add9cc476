package server

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/schema"
)

// AddTool registers a tool whose arguments and result are Go types.
//
// The input schema is made of In (a struct, or struct{} for none; see
// schema.For) unless t has one by hand. Arguments that are absent take the
// defaults of the schema, are validated, and read into In. Out decides what the
// result is:
//
//   - string: text;
//   - ToolOutcome, *ToolResult: that, without an output schema of its own;
//   - Content, []Content: content;
//   - struct{}: nothing;
//   - anything else: structured content of a schema made of Out, repeated as
//     text (W24.8). A result that does not fit is the server's fault and an
//     internal error.
//
// Errors of h are as with any tool; see [Server.AddTool].
func AddTool[In, Out any](s *Server, t Tool, h func(c *Context, in In) (Out, error)) error {
	if t.InputSchema == nil {
		raw, err := schema.For[In]()
		if err != nil {
			return fmt.Errorf("tool %q: input %w", t.Name, err)
		}
		t.InputSchema = raw
	}
	shape := shapeOf[Out]()
	if t.OutputSchema == nil && shape == structured && !isAny[Out]() {
		raw, err := schema.For[Out]()
		if err != nil {
			return fmt.Errorf("tool %q: output %w", t.Name, err)
		}
		t.OutputSchema = raw
	}
	return s.addTool(t, func(c *Context, args json.RawMessage) (ToolOutcome, error) {
		var in In
		if err := decode(args, &in); err != nil {
			return nil, unfitting(c, err)
		}
		out, err := h(c, in)
		if err != nil {
			return nil, err
		}
		return outcomeOf(out), nil
	}, true)
}

// unfitting is an argument that the schema let pass and the type did not, such
// as a number too large.
func unfitting(c *Context, err error) error {
	if c.Profile().InputErrorsInResult {
		return &ToolError{Content: []Content{Text(fmt.Sprintf("The arguments cannot be read: %s", err))}}
	}
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "invalid arguments: %s", oneLine(err))
}

type shape int

const (
	structured shape = iota
	asText
	asContent
	asOutcome
	asNothing
)

func shapeOf[Out any]() shape {
	t := reflect.TypeFor[Out]()
	switch {
	case t == reflect.TypeFor[string]():
		return asText
	case t == reflect.TypeFor[Content](), t == reflect.TypeFor[[]Content]():
		return asContent
	case t == reflect.TypeFor[struct{}]():
		return asNothing
	case t.Implements(reflect.TypeFor[ToolOutcome]()):
		return asOutcome
	}
	return structured
}

// isAny: an interface, or raw JSON: there is nothing to make a schema of.
func isAny[Out any]() bool {
	t := reflect.TypeFor[Out]()
	return t.Kind() == reflect.Interface || t == reflect.TypeFor[json.RawMessage]()
}

func outcomeOf(out any) ToolOutcome {
	switch out := out.(type) {
	case string:
		return TextResult(out)
	case Content:
		return &ToolResult{Content: []Content{out}}
	case []Content:
		return &ToolResult{Content: out}
	case struct{}:
		return &ToolResult{}
	case *ToolResult:
		if out == nil {
			return &ToolResult{}
		}
		return out
	case ToolOutcome:
		return out
	case nil:
		return &ToolResult{}
	}
	return &ToolResult{Structured: out}
}

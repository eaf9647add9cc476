package middleware

import (
	"bytes"
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// ToolPolicy says whether the sender of a message may use a tool:
//
//   - nil: it may;
//   - an *auth.Refusal: not with this token. The tool is listed, and a call is
//     refused in a way that lets the client ask for more;
//   - any other error: no. The tool is not listed, and a call is answered as if
//     there were none of that name. The error is not shown to anybody.
//
// It is asked once for every tool of a list and must be quick.
type ToolPolicy func(ctx context.Context, m *Message, tool string) error

// AuthorizeTools applies a policy to tools/call and to every page of tools/list.
// It stands in a server's Receive stack. A list that it cannot read comes out
// empty.
func AuthorizeTools(policy ToolPolicy) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, m *Message) jsonrpc.Outcome {
			if tool, ok := calledTool(m); ok {
				if err := policy(ctx, m, tool); err != nil {
					return jsonrpc.Fail(noTool(tool, err))
				}
				return next(ctx, m)
			}
			o := next(ctx, m)
			if m.Kind == jsonrpc.KindRequest && m.Method == mcp.MethodToolsList && o.Err == nil {
				o.Result = visible(o.Result, func(tool string) bool {
					err := policy(ctx, m, tool)
					return err == nil || auth.AsRefusal(err) != nil
				})
			}
			return o
		}
	}
}

func noTool(tool string, err error) *jsonrpc.Error {
	var refusal *auth.Refusal
	if errors.As(err, &refusal) {
		return Refused(refusal)
	}
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "unknown tool: %s", short(tool))
}

// visible is a ListToolsResult without the tools that may not be seen; those
// that stay keep every byte.
func visible(result []byte, may func(tool string) bool) []byte {
	tools, _ := strictjson.Get(result, "tools")
	kept := [][]byte{}
	all := 0
	readable := strictjson.Elements(tools, func(tool []byte) bool {
		all++
		raw, _ := strictjson.Get(tool, "name")
		if name, ok := strictjson.String(raw); ok && may(name) {
			kept = append(kept, tool)
		}
		return true
	})
	if readable && len(kept) == all {
		return result
	}
	if !readable {
		kept = nil
	}
	list := append([]byte{'['}, bytes.Join(kept, []byte{','})...)
	out, err := strictjson.Splice(result, strictjson.Set(append(list, ']'), "tools"))
	if err != nil {
		return []byte(`{"tools":[]}`)
	}
	return out
}

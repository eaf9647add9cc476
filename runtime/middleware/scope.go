package middleware

import (
	"context"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// RequireScope refuses requests whose sender lacks a scope that needs lists for
// them; nil needs none. The refusal tells which scopes to ask for, all of those
// that the request needs (W38.9); over HTTP it is a 403 with a challenge as long
// as nothing has been sent. Notifications and responses pass.
func RequireScope(needs func(m *Message) []string) Middleware {
	return require(func(m *Message) *auth.Refusal { return auth.NeedScopes(m.Identity, needs(m)...) })
}

// Authenticated refuses requests of the anonymous. Fronts that authenticate do
// it before a message is read; this is for stacks behind fronts that leave the
// choice open.
func Authenticated() Middleware {
	return require(func(m *Message) *auth.Refusal {
		if m.Identity == nil {
			return auth.Refuse(auth.NoToken, "")
		}
		return nil
	})
}

func require(check func(m *Message) *auth.Refusal) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, m *Message) jsonrpc.Outcome {
			if m.Kind == jsonrpc.KindRequest {
				if r := check(m); r != nil {
					return jsonrpc.Fail(Refused(r))
				}
			}
			return next(ctx, m)
		}
	}
}

// Refused makes the error of a refusal: -32600, with the reason and the scopes
// to ask for in its data, and the refusal as its Cause, by which transports know
// it.
func Refused(r *auth.Refusal) *jsonrpc.Error {
	reason := mcp.ReasonInsufficientScope
	if r.Code != auth.InsufficientScope {
		reason = mcp.ReasonNotAuthenticated
	}
	data := strictjson.Quote([]byte(`{"reason":`), reason)
	if len(r.Scopes) > 0 {
		data = append(data, `,"scopes":[`...)
		for i, scope := range r.Scopes {
			if i > 0 {
				data = append(data, ',')
			}
			data = strictjson.Quote(data, scope)
		}
		data = append(data, ']')
	}
	text := strings.ToValidUTF8(r.Reason, "?")
	if text == "" {
		text = r.Error()
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: text, Data: append(data, '}'), Cause: r}
}

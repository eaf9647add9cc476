package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// CapabilityError says that the client did not declare what a handler needs.
// Returned by a handler it becomes -32021 where the revision has that (W5.10),
// else a tool result that says so.
type CapabilityError struct {
	// Capability is a path with dots, such as sampling.tools or
	// elicitation.url.
	Capability mcp.Capability
}

// Error implements error.
func (e *CapabilityError) Error() string {
	return fmt.Sprintf("the client does not support %s", e.Capability)
}

// rpc is the error of 2026-07-28, with the missing capabilities as an object.
func (e *CapabilityError) rpc() *jsonrpc.Error {
	return MissingCapabilities(e.Capability)
}

// MissingCapabilities makes the error -32021 that names capabilities which the
// request needs and the client did not declare (W5.10).
func MissingCapabilities(missing ...mcp.Capability) *jsonrpc.Error {
	object := []byte(`{}`)
	for _, c := range missing {
		if !c.Declared(object) {
			object, _ = strictjson.Splice(object, strictjson.Set([]byte(`{}`), c.Path()...))
		}
	}
	return &jsonrpc.Error{
		Code:    mcp.CodeMissingCapability,
		Message: "the client did not declare a capability that this needs",
		Data:    append(append([]byte(`{"requiredCapabilities":`), object...), '}'),
	}
}

// ClientError is a client's refusal of what it was asked: its answer to a
// reverse call.
type ClientError struct {
	Code    int64
	Message string
	Data    []byte
}

// Error implements error.
func (e *ClientError) Error() string { return "the client answered: " + e.Message }

// Rejected reports whether it was the user who said no (W29.7).
func (e *ClientError) Rejected() bool { return e.Code == mcp.CodeUserRejected }

// faultError is a fault of the server's own: nobody is told more than that.
type faultError struct{ error }

func (e faultError) Unwrap() error { return e.error }

func ownFault(err error) error { return faultError{err} }

// protocolError reports whether an error of a tool goes to the client as a
// JSON-RPC error rather than as a result.
func protocolError(c *Context, err error) bool {
	var (
		rpc        *jsonrpc.Error
		need       *NeedInput
		capability *CapabilityError
		url        *URLRequired
		fault      faultError
		answer     *AnswerError
	)
	switch {
	case errors.As(err, &need), errors.As(err, &rpc), errors.As(err, &fault), errors.As(err, &answer):
		return true
	case errors.As(err, &capability):
		return !c.x.Profile().ReverseCalls
	case errors.As(err, &url):
		return c.x.Profile().ElicitationIDs || !c.x.Profile().ReverseCalls
	}
	return ended(c.Context, err)
}

// ended reports whether err is the end of ctx coming back.
func ended(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Cause(ctx)))
}

// explain words an error of a handler as the JSON-RPC error that the client
// gets. Of what is not meant for it nothing is shown.
func (s *Server) explain(c *Context, err error) *jsonrpc.Error {
	var (
		rpc        *jsonrpc.Error
		capability *CapabilityError
		url        *URLRequired
		client     *ClientError
		answer     *AnswerError
	)
	switch {
	case errors.As(err, &rpc):
		return rpc
	case errors.As(err, &answer):
		return answer.rpc()
	case errors.As(err, &capability):
		if c.x.Profile().ReverseCalls {
			return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%s", capability).WithReason(mcp.ReasonNoCapability)
		}
		return capability.rpc()
	case errors.As(err, &url) && c.x.Profile().ElicitationIDs:
		return url.rpc()
	case errors.As(err, &client):
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "%s", client)
	case ended(c.Context, err):
		return dispatch.Explain(context.Cause(c.Context))
	}
	s.opt.Logger.Error("a handler failed", "method", c.x.Msg.Method, "error", err)
	return internal()
}

// oneLine is an error as a message of JSON-RPC, which is one short sentence
// (W1.9).
func oneLine(err error) string {
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// strict rewrites an error that the revision may not be sent: codes that it
// retired, and codes of the reserved range that it does not define (W2.4,
// W2.5).
func strict(p mcp.Profile, e *jsonrpc.Error) *jsonrpc.Error {
	if !p.StrictErrors || e == nil {
		return e
	}
	switch {
	case e.Code == mcp.CodeResourceNotFound:
		out := *e
		out.Code, out.Raw = jsonrpc.CodeInvalidParams, nil
		return &out
	case e.Code == mcp.CodeHeaderMismatch, e.Code == mcp.CodeMissingCapability, e.Code == mcp.CodeUnsupportedRevision:
		return e
	case e.Code <= -32020 && e.Code >= -32099:
		out := *e
		out.Code, out.Raw = jsonrpc.CodeInternal, nil
		return &out
	}
	return e
}

// lacking refuses a caller without the scopes that something needs. The cause
// lets an HTTP front answer with a challenge (W38.9).
func lacking(x *dispatch.Exchange, scopes []string) *jsonrpc.Error {
	return middleware.Refused(auth.NeedScopes(x.Identity(), scopes...))
}

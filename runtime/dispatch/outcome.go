package dispatch

import (
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Outcome is how a request ends: exactly one of Result (raw) and Err is set.
type Outcome = jsonrpc.Outcome

// Result makes a successful Outcome from a raw result object.
func Result(raw []byte) Outcome { return jsonrpc.Result(raw) }

// Fail makes a failed Outcome.
func Fail(err *jsonrpc.Error) Outcome { return jsonrpc.Fail(err) }

// Causes with which contexts of exchanges and sessions are cancelled. A Server
// reads them with context.Cause.
var (
	// ErrCancelled: the client cancelled this request, or ended the session
	// by DELETE. No answer is sent.
	ErrCancelled = errors.New("cancelled by the client")
	// ErrDisconnected: the client closed the response stream of a modern
	// request (W14.10). No answer can be sent.
	ErrDisconnected = errors.New("the client closed the stream")
	// ErrDeadline: the request took longer than it may.
	ErrDeadline = errors.New("deadline of the request passed")
	// ErrSessionEnded wraps the reason for which a session ended.
	ErrSessionEnded = errors.New("the session has ended")
	// ErrShutdown: this process stops.
	ErrShutdown = errors.New("shutting down")
	// ErrGoingAway: this process will stop. Only listening exchanges end with
	// it, and they end well; requests go on.
	ErrGoingAway = errors.New("the server is going away")
	// ErrNoChannel: nothing but the answer can reach the client.
	ErrNoChannel = errors.New("no stream to the client")
)

// MayCall says why a reverse request may not be sent to a client, nil if it
// may (W1.12, W29.2, W30.2): the one check for exchanges and sessions.
func MayCall(p mcp.Profile, capabilities []byte, method string, params []byte) *jsonrpc.Error {
	if method == mcp.MethodPing && p.ReverseCalls {
		return nil
	}
	m, ok := p.Reverse(method)
	if !ok {
		return jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "the client's revision has no such request").WithReason(mcp.ReasonNotInRevision)
	}
	if !m.Needs.Declared(capabilities) {
		return jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "the client did not declare %s", m.Needs).WithReason(mcp.ReasonNoCapability)
	}
	if method == mcp.MethodElicit {
		raw, _ := strictjson.Get(params, "mode")
		mode, _ := strictjson.String(raw)
		if p.ElicitationModes && !mcp.ElicitationMode(capabilities, mode) {
			return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the client did not declare this elicitation mode").WithReason(mcp.ReasonNoCapability)
		}
	}
	return nil
}

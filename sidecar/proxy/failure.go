package proxy

import (
	"context"
	"errors"
	"strconv"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Reasons of errors that are made here.
const (
	reasonFailed   = "workload_failed" // it cannot be started, or not spoken to
	reasonRestart  = string(peer.Ended)
	reasonResponse = string(peer.BadResponse)
)

// failed words why the workload gave no answer (B16 "any" rows). Nothing of
// the cause is shown (B16.3).
func failed(ctx context.Context, err error) *jsonrpc.Error {
	reason := peer.ReasonOf(err)
	if h := new(upstream.HandshakeError); errors.As(err, &h) {
		reason = "" // what the handshake failed of is not the client's concern
	}
	if reason == "" {
		if cause := context.Cause(ctx); cause != nil {
			return dispatch.Explain(cause)
		}
		return opening(err)
	}
	if reason == peer.Closed {
		switch {
		case errors.Is(err, upstream.ErrClosed):
			return opening(err)
		case errors.Is(err, upstream.ErrIdle), errors.Is(err, upstream.ErrEvicted):
			return dispatch.Explain(err)
		}
	}
	text := "the workload did not answer"
	switch reason {
	case peer.Ended, peer.Closed:
		reason, text = peer.Ended, "the workload ended before it answered"
	case peer.Cut:
		text = "the workload closed the connection when the request was sent; it may have run"
	case peer.BadResponse:
		text = "bad response from workload"
	case peer.TooLarge:
		text = "the workload's answer is too large"
	case peer.Unreachable:
		text = "the workload cannot be reached"
	case peer.SessionGone:
		text = "the workload lost its session"
	case peer.StreamLost:
		text = "the workload's answer was cut off"
	case peer.Busy:
		text = "the workload has too many requests in flight"
	case peer.Auth, peer.HostRefused, peer.Redirected:
		text = "the workload refused the sidecar"
	}
	return internal(text, string(reason))
}

func internal(text, reason string) *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInternal, "%s", text).WithReason(reason)
}

// opening words why there is no leg. "busy", "starting" and "draining" are
// what may be over soon; the front makes 503 of them where no MCP state exists
// yet (P1).
func opening(err error) *jsonrpc.Error {
	var h *upstream.HandshakeError
	switch {
	case errors.Is(err, upstream.ErrBusy):
		return internal("the workload has no room for another session", mcp.ReasonBusy)
	case errors.Is(err, upstream.ErrClosed):
		return internal("the server is shutting down", mcp.ReasonDraining)
	case !errors.As(err, &h):
		return internal("the workload could not be used", reasonFailed)
	case h.Reason == config.ReasonAgentUnreachable, h.Reason == config.ReasonRefused, h.Reason == config.ReasonNoAnswer: // B4.10
		return internal("the workload is starting", mcp.ReasonStarting)
	}
	return internal("the workload could not be started", reasonFailed)
}

// ended is the cause with which a client session ends when its leg has.
func ended(cause error) error {
	if errors.Is(cause, upstream.ErrIdle) || errors.Is(cause, upstream.ErrEvicted) || errors.Is(cause, upstream.ErrClosed) {
		return cause
	}
	return errors.Join(internal("the workload ended before it answered", reasonRestart), cause)
}

// toModern maps a legacy workload's error for a client of 2026-07-28 (B16).
func toModern(method string, params []byte, e *jsonrpc.Error) *jsonrpc.Error {
	switch {
	case e.Code == mcp.CodeResourceNotFound && method == mcp.MethodResourcesRead:
		return notFound(params, e)
	case e.Code == mcp.CodeResourceNotFound, e.Code == mcp.CodeURLElicitation,
		e.Code <= -32020 && e.Code >= -32099: // W2.4, W2.5
		return retired(e)
	}
	return e
}

// notFound: -32602 with the URI that was asked for (W26.5).
func notFound(params []byte, e *jsonrpc.Error) *jsonrpc.Error {
	out := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: e.Message, Data: e.Data}
	if _, has := strictjson.Get(e.Data, "uri"); has {
		return out
	}
	uri, ok := strictjson.Get(params, "uri")
	if !ok {
		return out
	}
	if strictjson.IsObject(e.Data) {
		if data, err := strictjson.Splice(e.Data, strictjson.Set(uri, "uri")); err == nil {
			out.Data = data
		}
		return out
	}
	out.Data = append(append([]byte(`{"uri":`), uri...), '}')
	return out
}

// retired keeps what a code meant that the revision may not carry.
func retired(e *jsonrpc.Error) *jsonrpc.Error {
	data := append([]byte(`{"originalCode":`), codeText(e.Code)...)
	if e.Data != nil {
		data = append(append(data, `,"originalData":`...), e.Data...)
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: e.Message, Data: append(data, '}')}
}

// toLegacy maps a legacy workload's error for a legacy client (B16).
func toLegacy(p mcp.Profile, e *jsonrpc.Error) *jsonrpc.Error {
	if e.Code == mcp.CodeURLElicitation && !p.ElicitationModes {
		out := retired(e)
		if elicitations, ok := strictjson.Get(e.Data, "elicitations"); ok {
			strictjson.Elements(elicitations, func(one []byte) bool {
				raw, _ := strictjson.Get(one, "url")
				if url, isString := strictjson.String(raw); isString {
					out.Message += " " + url
				}
				return true
			})
		}
		return out
	}
	return e
}

func codeText(code int64) string { return strconv.FormatInt(code, 10) }

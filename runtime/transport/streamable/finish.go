package streamable

import (
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// finish writes an answer that is complete before anything was written: as
// JSON when the client takes it, or when the status says more than 200.
func (a *answer) finish() {
	if a.silence != nil {
		// P16: a cancelled request ends as an empty event stream, never as
		// 202 or 204, whatever the client accepts.
		a.StreamHead()
		return
	}
	if a.msg.Method == mcp.MethodInitialize && a.outcome.Err != nil {
		a.W.Header().Del(headerSession)
	}
	status := a.status(a.outcome)
	if refused := refusalOf(a.outcome); refused != nil { // W38.9
		status = refused.Code.Status()
		a.W.Header().Set("WWW-Authenticate", a.s.challenge(refused))
	}
	listened := a.method.Listening && a.outcome.Err == nil // a stream, however short
	if a.accepts.json && !listened || status != http.StatusOK {
		if status == http.StatusServiceUnavailable {
			a.W.Header().Set("Retry-After", "1")
		}
		a.JSON(status, encode(a.msg.ID, a.outcome))
		return
	}
	a.single()
}

// refusalOf finds the refusal of a request that its caller may not make. It is
// a Go value of this process: no error from the wire can stand for one.
func refusalOf(o dispatch.Outcome) *auth.Refusal {
	if o.Err == nil {
		return nil
	}
	return auth.AsRefusal(o.Err)
}

func (s *Server) challenge(r *auth.Refusal) string {
	if s.Challenge != nil {
		return s.Challenge(r)
	}
	return r.Challenge("").String()
}

// status is the HTTP status of an outcome that comes first (W16.4). 503 is for
// requests that open something while the server is not able to (P1, B4.5).
func (a *answer) status(o dispatch.Outcome) int {
	if o.Err == nil {
		return http.StatusOK
	}
	if a.msg.Method == mcp.MethodInitialize || a.msg.Method == mcp.MethodDiscover {
		switch o.Err.Reason() {
		case mcp.ReasonStarting, mcp.ReasonUnreachable, mcp.ReasonBusy, mcp.ReasonDraining:
			return http.StatusServiceUnavailable
		}
	}
	if !a.wire.PinnedStatus {
		return http.StatusOK
	}
	switch o.Err.Code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case mcp.CodeMissingCapability, mcp.CodeUnsupportedRevision, mcp.CodeHeaderMismatch:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// single answers a client that takes only event streams with a stream of one
// event. It cannot break off in between, so it needs no ids.
func (a *answer) single() {
	c := a.connect()
	c.StreamHead()
	c.event("", strictjson.OneLine(encode(a.msg.ID, a.outcome)))
	c.out.Flush()
}

// answer answers a request that needed no work.
func (p *posted) answer(message []byte) {
	if p.accepts.json {
		p.JSON(http.StatusOK, message)
		return
	}
	c := p.connect()
	c.StreamHead()
	c.event("", message)
	c.out.Flush()
}

// encode makes the response of an outcome.
func encode(id jsonrpc.ID, o dispatch.Outcome) []byte {
	if o.Err != nil {
		return jsonrpc.EncodeError(id, o.Err)
	}
	return jsonrpc.EncodeResult(id, o.Result)
}

package streamable

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// refusal is an answer that no operation stands behind: a status and a
// JSON-RPC error, with the request's id where it is known (W14.15).
type refusal struct {
	status int
	err    *jsonrpc.Error
	id     jsonrpc.ID
	reason hook.Reason
	header [][2]string
	// close ends the connection: what is left of the body is not read.
	close bool
}

func refuse(status int, reason hook.Reason, code int64, text string) *refusal {
	return &refusal{status: status, reason: reason, err: &jsonrpc.Error{Code: code, Message: text}}
}

// invalid is a refusal with -32600, the code of everything that is wrong about
// a request outside its params.
func invalid(status int, reason hook.Reason, text string) *refusal {
	return refuse(status, reason, jsonrpc.CodeInvalidRequest, text)
}

func (f *refusal) with(name, value string) *refusal {
	f.header = append(f.header, [2]string{name, value})
	return f
}

func (f *refusal) about(id jsonrpc.ID) *refusal {
	f.id = id
	return f
}

func (f *refusal) closing() *refusal {
	f.close = true
	return f
}

func methodNotAllowed(allow string) *refusal {
	return invalid(http.StatusMethodNotAllowed, hook.RejectMethod, "method not allowed").with("Allow", allow)
}

// unavailable asks to come back later; only for requests that stand for no
// state yet (P1).
func unavailable(reason hook.Reason, text string) *refusal {
	return refuse(http.StatusServiceUnavailable, reason, jsonrpc.CodeInternal, text).with("Retry-After", "1")
}

func (q *request) refuse(f *refusal) {
	q.s.Observer.Reject(f.reason)
	h := q.w.Header()
	for _, field := range f.header {
		h.Set(field[0], field[1])
	}
	if f.close {
		h.Set("Connection", "close")
	}
	q.writeJSON(f.status, jsonrpc.EncodeError(f.id, f.err))
}

// writeJSON writes a whole answer.
func (q *request) writeJSON(status int, body []byte) {
	h := q.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	q.finishHead()
	q.w.WriteHeader(status)
	_, _ = q.w.Write(body) // a client that has gone misses nothing more
}

// accepted answers notifications and responses.
func (q *request) accepted() {
	q.finishHead()
	q.w.Header().Set("Content-Length", "0") // or the flush makes it chunked
	q.w.WriteHeader(http.StatusAccepted)
}

// finishHead adds what every answer carries and bounds its first write.
func (q *request) finishHead() {
	q.writeDeadline()
	if q.s.draining.Load() {
		q.w.Header().Set("Connection", "close")
	}
}

func (q *request) authenticate() *refusal {
	if q.s.Authenticate == nil {
		return nil
	}
	identity, err := q.s.Authenticate(q.r)
	if err == nil {
		q.identity, q.principal = identity, identity.Name()
		return nil
	}
	var denied *Denied
	if !errors.As(err, &denied) {
		return invalid(http.StatusUnauthorized, hook.RejectAuth, "not authenticated").closing()
	}
	f := invalid(denied.Status, hook.RejectAuth, denied.Message).closing()
	if denied.Challenge != "" {
		f.with("WWW-Authenticate", denied.Challenge)
	}
	if denied.RetryAfter > 0 {
		f.with("Retry-After", strconv.FormatInt(int64((denied.RetryAfter+time.Second-1)/time.Second), 10))
	}
	return f
}

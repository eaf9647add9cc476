package streamable

import (
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/edge"
)

// refusal is an answer that no operation stands behind: a status and a
// JSON-RPC error, with the request's id where it is known (W14.15).
type refusal struct {
	edge.Denial
	id jsonrpc.ID
}

func refuse(status int, reason hook.Reason, code int64, text string) *refusal {
	return &refusal{Denial: edge.Denial{Status: status, Reason: reason, Code: code, Text: text}}
}

// invalid is a refusal with -32600, the code of everything that is wrong about
// a request outside its params.
func invalid(status int, reason hook.Reason, text string) *refusal {
	return refuse(status, reason, jsonrpc.CodeInvalidRequest, text)
}

func (f *refusal) with(name, value string) *refusal {
	f.Header = append(f.Header, [2]string{name, value})
	return f
}

func (f *refusal) about(id jsonrpc.ID) *refusal {
	f.id = id
	return f
}

func (f *refusal) closing() *refusal {
	f.Close = true
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
	q.s.Observer.Reject(f.Reason)
	q.Refuse(&f.Denial, f.id)
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
	return denied(edge.Stranger(err))
}

package httpsse

import (
	"encoding/hex"
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/edge"
)

const (
	methods       = "GET, POST, OPTIONS"
	headerVersion = "Mcp-Protocol-Version"
)

// single are the fields that decide something and may come only once (P33.6).
var single = []string{headerVersion, "Content-Type", "Content-Encoding", "Authorization"}

// request is one HTTP request on its way through the checks.
type request struct {
	edge.Answer
	s        *Server
	r        *http.Request
	settings Settings
	identity *auth.Identity
}

// serve runs the checks in the order of W16: edge, method, who, and then what
// the method does.
func (q *request) serve() *edge.Denial {
	if denial := edge.Admit(q.W.Header(), q.r, q.settings.AllowedOrigins); denial != nil {
		return denial
	}
	if name, twice := edge.Repeated(q.r.Header, single, ""); twice {
		return invalid(http.StatusBadRequest, hook.RejectHeader, "header "+name+" is there twice")
	}
	switch q.r.Method {
	case http.MethodOptions:
		edge.Preflight(q.W.Header(), q.r, methods)
		q.NoContent()
		return nil
	case http.MethodGet, http.MethodPost:
	default:
		d := invalid(http.StatusMethodNotAllowed, hook.RejectMethod, "method not allowed")
		d.Header = [][2]string{{"Allow", methods}}
		return d
	}
	if denial := q.authenticate(); denial != nil {
		return denial
	}
	if q.r.Method == http.MethodGet {
		return q.get()
	}
	return q.post()
}

func (q *request) authenticate() *edge.Denial {
	if q.s.Authenticate == nil {
		return nil
	}
	identity, err := q.s.Authenticate(q.r)
	if err == nil {
		q.identity = identity
		return nil
	}
	return edge.Stranger(err)
}

// post takes one message for the session that the query names. The answer to a
// request comes on the session's stream (W13.3).
func (q *request) post() *edge.Denial {
	token := q.r.URL.Query().Get(querySession)
	if token == "" {
		return q.noSuchPost()
	}
	c := q.find(token)
	if c == nil {
		return invalid(http.StatusNotFound, hook.RejectSession, "session not found") // W13.6
	}
	if header := q.r.Header.Get(headerVersion); header != "" {
		if p, known := mcp.Lookup(header); !known || !p.On(mcp.HTTPSSE).Served {
			return invalid(http.StatusBadRequest, hook.RejectRevision, "protocol version is not supported") // W11.3
		}
	}
	if denial := edge.MediaType(q.r.Header); denial != nil {
		return denial
	}
	body := new(edge.Body)
	if denial := body.Read(q.W, q.r, edge.Limits{Bytes: q.settings.MaxBodyBytes, Time: q.settings.BodyTimeout, Budget: q.s.Budget}); denial != nil {
		return denial
	}
	if err := c.talk.ReceiveFrom(q.identity, body.Data, body.Release); err != nil {
		q.JSON(http.StatusBadRequest, c.talk.Unreadable(err))
		return nil
	}
	q.Accepted()
	return nil
}

// noSuchPost answers a client that tries streamable HTTP here: a status and no
// JSON-RPC message, which tells it to look for the older transport (W13.7).
func (q *request) noSuchPost() *edge.Denial {
	q.s.Observer.Reject(hook.RejectMethod)
	q.FinishHead()
	q.W.Header().Set("Allow", "GET")
	http.Error(q.W, "POST goes where the endpoint event of a GET says", http.StatusMethodNotAllowed)
	return nil
}

// find is the connection that a session id names. Everything that keeps it from
// being found looks the same (B0.6).
func (q *request) find(token string) *connection {
	handle, err := q.s.Keys.OpenSession(token, q.identity.Name())
	if err != nil {
		return nil
	}
	c := q.s.table.get(hex.EncodeToString(handle.Random[:]))
	if c == nil || c.principal != q.identity.Name() {
		q.s.Keys.ForgetSession(handle.Random) // opening the id has made it remembered again
		return nil
	}
	return c
}

func invalid(status int, reason hook.Reason, text string) *edge.Denial {
	return &edge.Denial{Status: status, Reason: reason, Code: jsonrpc.CodeInvalidRequest, Text: text}
}

// unavailable asks to come back later; nothing has begun yet (P1).
func unavailable(reason hook.Reason, text string) *edge.Denial {
	return &edge.Denial{Status: http.StatusServiceUnavailable, Reason: reason, Code: jsonrpc.CodeInternal, Text: text, Header: [][2]string{{"Retry-After", "1"}}}
}

func (q *request) refuse(d *edge.Denial) {
	q.s.Observer.Reject(d.Reason)
	q.Refuse(d, jsonrpc.ID{})
}

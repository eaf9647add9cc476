package httpsse

import (
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"time"

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
	s        *Server
	w        http.ResponseWriter
	r        *http.Request
	rc       *http.ResponseController
	settings Settings
	identity *auth.Identity
}

// serve runs the checks in the order of W16: edge, method, who, and then what
// the method does.
func (q *request) serve() *edge.Denial {
	if denial := edge.Admit(q.w.Header(), q.r, q.settings.AllowedOrigins); denial != nil {
		return denial
	}
	if name, twice := edge.Repeated(q.r.Header, single, ""); twice {
		return invalid(http.StatusBadRequest, hook.RejectHeader, "header "+name+" is there twice")
	}
	switch q.r.Method {
	case http.MethodOptions:
		edge.Preflight(q.w.Header(), q.r, methods)
		q.finishHead()
		q.w.WriteHeader(http.StatusNoContent)
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
	var denied *auth.Denied
	if !errors.As(err, &denied) {
		denied = &auth.Denied{Status: http.StatusUnauthorized, Message: "not authenticated"}
	}
	d := invalid(denied.Status, hook.RejectAuth, denied.Message)
	d.Close = true
	if denied.Challenge != "" {
		d.Header = append(d.Header, [2]string{"WWW-Authenticate", denied.Challenge})
	}
	if denied.RetryAfter > 0 {
		d.Header = append(d.Header, [2]string{"Retry-After", strconv.FormatInt(int64((denied.RetryAfter+time.Second-1)/time.Second), 10)})
	}
	return d
}

// bucket is whom a limit per principal counts together: the anonymous by their
// address (P22).
func (q *request) bucket() string {
	client := q.s.Client
	if client == nil {
		client = auth.Proxies(nil).Client
	}
	return auth.Bucket(q.identity, client(q.r))
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
	body, denial := edge.Read(q.rc, q.r, edge.Limits{Bytes: q.settings.MaxBodyBytes, Time: q.settings.BodyTimeout, Budget: q.s.Budget})
	if denial != nil {
		return denial
	}
	if err := c.talk.ReceiveFrom(q.identity, body.Data, body.Release); err != nil {
		q.writeJSON(http.StatusBadRequest, c.talk.Unreadable(err))
		return nil
	}
	q.finishHead()
	q.w.Header().Set("Content-Length", "0")
	q.w.WriteHeader(http.StatusAccepted)
	return nil
}

// noSuchPost answers a client that tries streamable HTTP here: a status and no
// JSON-RPC message, which tells it to look for the older transport (W13.7).
func (q *request) noSuchPost() *edge.Denial {
	q.s.Observer.Reject(hook.RejectMethod)
	q.finishHead()
	q.w.Header().Set("Allow", "GET")
	http.Error(q.w, "POST goes where the endpoint event of a GET says", http.StatusMethodNotAllowed)
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
	h := q.w.Header()
	for _, field := range d.Header {
		h.Set(field[0], field[1])
	}
	if d.Close {
		h.Set("Connection", "close")
	}
	q.writeJSON(d.Status, jsonrpc.EncodeError(jsonrpc.ID{}, &jsonrpc.Error{Code: d.Code, Message: d.Text}))
}

func (q *request) writeJSON(status int, body []byte) {
	h := q.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	q.finishHead()
	q.w.WriteHeader(status)
	_, _ = q.w.Write(body) // a client that has gone misses nothing more
}

// finishHead adds what every answer carries and bounds its first write.
func (q *request) finishHead() {
	q.writeDeadline()
	if q.s.draining.Load() {
		q.w.Header().Set("Connection", "close")
	}
}

// writeDeadline renews the deadline of the connection for the next write
// (P33.10).
func (q *request) writeDeadline() {
	_ = q.rc.SetWriteDeadline(time.Now().Add(q.settings.WriteTimeout))
}

func (q *request) endWrites() {
	_ = q.rc.Flush()
	_ = q.rc.SetWriteDeadline(time.Time{})
}

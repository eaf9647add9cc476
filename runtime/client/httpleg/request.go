package httpleg

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/paramheader"
)

const (
	acceptBoth   = "application/json, text/event-stream"
	acceptStream = "text/event-stream"
	userAgent    = "fairlead"
)

// Header names in the canonical spelling of net/http.
const (
	headerSession  = "Mcp-Session-Id"
	headerVersion  = "Mcp-Protocol-Version"
	headerMethod   = "Mcp-Method"
	headerName     = "Mcp-Name"
	headerLastID   = "Last-Event-Id"
	headerEncoding = "Accept-Encoding"
	// headerReplay, without a value, is not sent: it tells net/http that the
	// request may be made again when the connection it met was closed.
	headerReplay = "Idempotency-Key"
)

// build makes one HTTP request. out is nil for GET and DELETE.
func (l *Leg) build(ctx context.Context, method string, target *url.URL, out *peer.Outgoing) *http.Request {
	l.mu.Lock()
	host, session, revision := l.host, l.session, l.revision
	l.mu.Unlock()
	r := (&http.Request{Method: method, URL: target, Host: host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	h := make(http.Header, 8+len(l.cfg.Header))
	for name, values := range l.cfg.Header {
		h[name] = values
	}
	fields := fields{header: h, values: make([]string, 0, usualFields)}
	fields.set("User-Agent", userAgent)
	fields.set(headerEncoding, "identity") // R18, P33.1
	switch {
	case out != nil && out.Revision != "":
		fields.mirror(out)
	case out != nil && out.Method == mcp.MethodInitialize:
		// W10.7: no session id, and the version is in the body (W11.5).
	default:
		if session != "" {
			fields.set(headerSession, session)
		}
		if p, ok := mcp.Lookup(revision); ok && p.On(mcp.Streamable).VersionHeader {
			fields.set(headerVersion, revision)
		}
	}
	r.Header = h
	if u := target.User; u != nil && h["Authorization"] == nil {
		password, _ := u.Password()
		r.SetBasicAuth(u.Username(), password)
	}
	if out == nil || out.Kind != jsonrpc.KindRequest || mcp.Repeatable(out.Method) {
		h[headerReplay] = []string{}
	}
	if out == nil {
		return r
	}
	fields.set("Accept", acceptBoth)
	fields.set("Content-Type", "application/json")
	r.ContentLength = int64(len(out.Raw))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Raw)), nil }
	r.Body, _ = r.GetBody()
	return r
}

// usualFields is how many a request has that is no longer than most.
const usualFields = 8

// fields fills in a header whose values lie in one piece.
type fields struct {
	header http.Header
	values []string
}

// set takes a name in its canonical spelling.
func (f *fields) set(name, value string) {
	f.values = append(f.values, value)
	n := len(f.values)
	f.header[name] = f.values[n-1 : n : n]
}

// mirror repeats the envelope in headers (W15).
func (f *fields) mirror(out *peer.Outgoing) {
	f.set(headerVersion, out.Revision)
	f.set(headerMethod, out.Method)
	if out.Name != "" {
		f.set(headerName, paramheader.Encode(out.Name))
	}
	for _, one := range out.Fields {
		f.header.Set(one.Name, paramheader.Encode(one.Value))
	}
}

// failed classes an error of the HTTP client before a response head came.
func failed(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return &peer.Failure{Reason: peer.Unreachable, NotDelivered: true, Err: err}
	}
	return &peer.Failure{Reason: peer.Ended, Err: err}
}

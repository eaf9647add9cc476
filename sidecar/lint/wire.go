package lint

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 1 << 20

// wire asks over plain HTTP what a client library never would.
func (k *checker) wire(ctx context.Context) {
	if k.c.Binding() != mcp.Streamable {
		return
	}
	k.verbs(ctx)
	if !k.profile.Handshake {
		k.modern(ctx)
	}
	if u, err := url.Parse(k.target.URL); err == nil && (u.Hostname() == "localhost" || strings.HasPrefix(u.Hostname(), "127.") || u.Hostname() == "::1") {
		a, err := k.ask(ctx, http.MethodPost, discover(k.revision(), mcp.MethodDiscover), func(h http.Header) {
			h.Set("Origin", "http://fairlead-lint.example")
		})
		if err == nil && a.status != http.StatusForbidden {
			k.report(httpOrigin, "POST", "an Origin of elsewhere gets status %d, not 403", a.status)
		}
	}
}

// verbs asks with GET and DELETE, without a session.
func (k *checker) verbs(ctx context.Context) {
	a, err := k.ask(ctx, http.MethodGet, "", func(h http.Header) { h.Set("Accept", "text/event-stream") })
	switch {
	case err != nil:
		k.report(httpGet, "GET", "%v", err)
	case a.status == http.StatusOK && strings.HasPrefix(a.mediaType, "text/event-stream"):
	case a.status != http.StatusBadRequest && a.status != http.StatusNotFound && a.status != http.StatusMethodNotAllowed:
		k.report(httpGet, "GET", "status %d", a.status)
	}
	a, err = k.ask(ctx, http.MethodDelete, "", nil)
	switch {
	case err != nil:
		k.report(httpDelete, "DELETE", "%v", err)
	case a.status != http.StatusBadRequest && a.status != http.StatusNotFound && a.status != http.StatusMethodNotAllowed:
		k.report(httpDelete, "DELETE", "status %d", a.status)
	}
}

// modern asks what only 2026-07-28 has answers for (W15, W5.16).
func (k *checker) modern(ctx context.Context) {
	revision := k.revision()
	a, err := k.ask(ctx, http.MethodPost, discover(revision, "fairlead-lint/"+nowhere), nil)
	if err == nil && a.status != http.StatusNotFound {
		k.report(methodUnknown, "POST", "status %d, not 404", a.status)
	}
	a, err = k.ask(ctx, http.MethodPost, discover(revision, mcp.MethodDiscover), func(h http.Header) { h.Set("Mcp-Method", mcp.MethodToolsList) })
	if err == nil && (a.status != http.StatusBadRequest || a.code() != "-32020") {
		k.report(headerMismatch, "Mcp-Method", "another method than in the body: status %d, code %s", a.status, a.code())
	}
	a, err = k.ask(ctx, http.MethodPost, discover(revision, mcp.MethodDiscover), func(h http.Header) { h.Del("Mcp-Method") })
	if err == nil && (a.status != http.StatusBadRequest || a.code() != "-32020") {
		k.report(headerMismatch, "Mcp-Method", "left out: status %d, code %s", a.status, a.code())
	}
	const future = "2099-01-01"
	a, err = k.ask(ctx, http.MethodPost, discover(future, mcp.MethodDiscover), nil)
	if err == nil && (a.status != http.StatusBadRequest || a.code() != "-32022" || len(elements(a.body, "error", "data", "supported")) == 0) {
		k.report(revisionUnknown, "revision "+future, "status %d, code %s, and %d supported revisions in its data", a.status, a.code(), len(elements(a.body, "error", "data", "supported")))
	}
}

func (k *checker) revision() string {
	if k.profile.Handshake {
		return mcp.Modern()[0]
	}
	return k.profile.Revision
}

// answer is what came back.
type answer struct {
	status    int
	mediaType string
	body      []byte
}

func (a *answer) code() string {
	if c := member(a.body, "error", "code"); c != nil {
		return string(c)
	}
	return "none"
}

// discover is a request of the modern era, without params of its own.
func discover(revision, method string) string {
	return `{"jsonrpc":"2.0","id":"lint","method":"` + method + `","params":{"_meta":{"` + mcp.MetaProtocolVersion + `":"` + revision +
		`","` + mcp.MetaClientInfo + `":{"name":"mcp-sidecar","version":"1"},"` + mcp.MetaClientCapabilities + `":{}}}}`
}

// ask makes one HTTP request. change may alter the headers, which are right
// for the body.
func (k *checker) ask(ctx context.Context, verb, body string, change func(http.Header)) (*answer, error) {
	timeout := k.target.Timeout
	if timeout <= 0 {
		timeout = 10 * time.Second
	}
	ctx, stop := context.WithTimeout(ctx, min(timeout, 10*time.Second))
	defer stop()
	r, err := http.NewRequestWithContext(ctx, verb, k.target.URL, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range k.target.Header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Protocol-Version", text([]byte(body), "params", "_meta", mcp.MetaProtocolVersion))
		r.Header.Set("Mcp-Method", text([]byte(body), "method"))
	}
	if change != nil {
		change(r.Header)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	a := &answer{status: res.StatusCode, mediaType: res.Header.Get("Content-Type")}
	if verb == http.MethodGet && a.status == http.StatusOK {
		return a, nil // a stream: it would not end
	}
	a.body, _ = io.ReadAll(io.LimitReader(res.Body, maxAnswer)) // what came is judged
	if _, data, ok := bytes.Cut(a.body, []byte("data:")); ok && strings.HasPrefix(a.mediaType, "text/event-stream") {
		a.body, _, _ = bytes.Cut(data, []byte("\n"))
	}
	return a, nil
}

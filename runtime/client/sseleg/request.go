package sseleg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

const (
	maxRedirects  = 3
	maxChallenges = 2
	// bodyBytes is how much of the answer to a POST is looked at.
	bodyBytes = 64 << 10
	userAgent = "fairlead"
	// headerReplay, without a value, is not sent: it tells net/http that the
	// request may be made again when the connection it met was closed.
	headerReplay = "Idempotency-Key"
)

// deliver POSTs one message. answered tells that a request has its answer: some
// servers put it, or an error, into the body (R10).
func (l *Leg) deliver(ctx context.Context, out *peer.Outgoing) (answered bool, err error) {
	l.mu.Lock()
	target := l.endpoint
	l.mu.Unlock()
	resp, err := l.do(ctx, http.MethodPost, target, out)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, bodyBytes))
	if out.Kind == jsonrpc.KindRequest && answers(body, out.ID) {
		l.recv.Deliver(body)
		return true, nil
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return false, nil
	}
	return false, statusFailure(resp.StatusCode, body)
}

func idOf(out *peer.Outgoing) jsonrpc.ID { return jsonrpc.RawID(strconv.FormatInt(out.ID, 10)) }

func answers(body []byte, id int64) bool {
	m, err := jsonrpc.Parse(body, strictjson.FromWorkload)
	return err == nil && m.Kind == jsonrpc.KindResponse && m.ID.String() == strconv.FormatInt(id, 10)
}

// statusFailure classes a status that is no success.
func statusFailure(status int, body []byte) error {
	f := &peer.Failure{Reason: peer.Status, Status: status}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		f.Reason = peer.Auth
	case http.StatusNotFound, http.StatusGone:
		f.Reason, f.NotDelivered = peer.SessionGone, true // W13.6
	case http.StatusMisdirectedRequest:
		f.Reason = peer.HostRefused
	}
	if m, err := jsonrpc.Parse(body, strictjson.FromWorkload); err == nil && m.Err != nil {
		f.Err = m.Err
	}
	return f
}

// do makes a request, answers challenges, and follows up to three redirects on
// the same server, the method kept (R17). The error is a *peer.Failure or ctx's
// cause.
func (l *Leg) do(ctx context.Context, method string, target *url.URL, out *peer.Outgoing) (*http.Response, error) {
	hops, challenges := 0, 0
	for {
		req := l.build(ctx, method, target, out)
		if l.cfg.Auth != nil {
			if err := l.cfg.Auth.Authorize(req); err != nil {
				return nil, orCause(ctx, &peer.Failure{Reason: peer.Auth, NotDelivered: true, Err: err})
			}
		}
		resp, err := l.client.Do(req)
		if err != nil {
			return nil, failed(ctx, err)
		}
		switch resp.StatusCode {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
			next, why := redirected(target, resp)
			discard(resp)
			if hops++; hops > maxRedirects {
				why = errors.New("too many redirects")
			}
			if why != nil {
				return nil, &peer.Failure{Reason: peer.Redirected, Status: resp.StatusCode, NotDelivered: true, Err: why}
			}
			target = next
			continue
		case http.StatusSwitchingProtocols:
			// The connection is ours from here on, and ends with nobody's context.
			_ = resp.Body.Close()
			return nil, statusFailure(resp.StatusCode, nil)
		case http.StatusUnauthorized, http.StatusForbidden:
			if challenges >= maxChallenges || l.cfg.Auth == nil {
				break
			}
			again, err := l.cfg.Auth.Challenged(ctx, resp)
			if err != nil {
				discard(resp)
				return nil, &peer.Failure{Reason: peer.Auth, Status: resp.StatusCode, NotDelivered: true, Err: err}
			}
			if again {
				challenges++
				discard(resp)
				continue
			}
		}
		return resp, nil
	}
}

// build makes one HTTP request; out is nil for GET.
func (l *Leg) build(ctx context.Context, method string, target *url.URL, out *peer.Outgoing) *http.Request {
	r := (&http.Request{Method: method, URL: target, Host: target.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	h := make(http.Header, 6+len(l.cfg.Header))
	for name, values := range l.cfg.Header {
		h[name] = append([]string(nil), values...)
	}
	h["User-Agent"] = []string{userAgent}
	h["Accept-Encoding"] = []string{"identity"} // R18
	l.versionHeader(h)
	r.Header = h
	if out == nil {
		h["Accept"] = []string{"text/event-stream"}
		return r
	}
	h["Accept"] = []string{"application/json, text/event-stream"}
	h["Content-Type"] = []string{"application/json"}
	if out.Kind != jsonrpc.KindRequest || mcp.Repeatable(out.Method) {
		h[headerReplay] = []string{}
	}
	r.ContentLength = int64(len(out.Raw))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Raw)), nil }
	r.Body, _ = r.GetBody()
	return r
}

func redirected(from *url.URL, resp *http.Response) (*url.URL, error) {
	to, err := resp.Location()
	if err != nil {
		return nil, errors.New("redirect without a usable Location")
	}
	if !sameOrigin(from, to) {
		return nil, errors.New("redirect to another server")
	}
	return to, nil
}

// Endpoint resolves what an endpoint event says against the URL that the stream
// came from. Only an address on the same server is good: a server must not be
// able to send a client, with its credentials, elsewhere.
func Endpoint(stream *url.URL, data string) (*url.URL, error) {
	to, err := stream.Parse(strings.TrimSpace(data))
	if err != nil {
		return nil, errors.New("the endpoint is no URI")
	}
	if !sameOrigin(stream, to) || to.User != nil || to.Opaque != "" {
		return nil, fmt.Errorf("the endpoint %.100q is on another server", data)
	}
	to.Fragment, to.RawFragment = "", ""
	return to, nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// failed classes an error of the HTTP client before a response head came.
func failed(ctx context.Context, err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return orCause(ctx, &peer.Failure{Reason: peer.Unreachable, NotDelivered: true, Err: err})
	}
	return orCause(ctx, &peer.Failure{Reason: peer.Ended, Err: err})
}

func orCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// discard reads a little of a body and closes it.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, bodyBytes)
	_ = resp.Body.Close()
}

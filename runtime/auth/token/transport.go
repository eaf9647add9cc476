package token

import (
	"io"
	"net/http"
)

// maxAgain bounds how often one request is made again.
const maxAgain = 2

// drainBytes is how much of a refusal's body is read for the connection's sake.
const drainBytes = 64 << 10

// Transport is an http.RoundTripper that authorizes requests, for HTTP clients
// of any kind. Redirects are their business: it sees each request by itself and
// gives tokens to the server's origin only.
type Transport struct {
	Auth *Auth
	// Base makes the requests; nil means http.DefaultTransport.
	Base http.RoundTripper
}

// RoundTrip implements http.RoundTripper. A request whose body cannot be had
// twice is made once.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	original, brought := r, r.Header.Get("Authorization")
	for n := 0; ; n++ {
		r = original.Clone(original.Context()) // a RoundTripper may not change what it got
		if n > 0 && original.Body != nil {
			body, err := original.GetBody()
			if err != nil {
				return nil, err
			}
			r.Body = body
		}
		if err := t.Auth.Authorize(r); err != nil {
			closeBody(r)
			return nil, err
		}
		resp, err := base.RoundTrip(r)
		if err != nil || brought != "" || n == maxAgain || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return resp, err
		}
		resp.Request = r
		// Without a better token the refusal is the answer; Observe hears why.
		again, _ := t.Auth.Challenged(original.Context(), resp)
		repeatable := original.Body == nil || original.Body == http.NoBody || original.GetBody != nil
		if !again || !repeatable {
			return resp, nil
		}
		_, _ = io.CopyN(io.Discard, resp.Body, drainBytes)
		_ = resp.Body.Close()
	}
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

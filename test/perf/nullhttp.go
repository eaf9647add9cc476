package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync/atomic"
)

// The null pass-through is what forwarding costs on net/http when nothing is
// read and nothing is decided: the body in, the same body out, and the answer
// back, with the fields that MCP needs.

// passed are the fields that travel, in either direction.
var passed = []string{"Accept", "Content-Type", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"}

// hop is where a pass-through forwards to; it is told after its start.
type hop struct {
	target atomic.Pointer[url.URL]
	client http.Client
}

func newHop() *hop { return &hop{client: http.Client{Transport: hopTransport()}} }

// hopTransport keeps as many connections as any row has.
func hopTransport() *http.Transport {
	return &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 128}
}

// tell takes the URL to forward to.
func (h *hop) tell(target string) error {
	u, err := url.Parse(target)
	h.target.Store(u)
	return err
}

// nullPass serves the null pass-through.
func (h *hop) nullPass(w http.ResponseWriter, r *http.Request) {
	if err := h.forward(w, r); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func (h *hop) forward(w http.ResponseWriter, r *http.Request) (err error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, h.target.Load().String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	pass(out.Header, r.Header)
	resp, err := h.client.Do(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	pass(w.Header(), resp.Header)
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.WriteHeader(resp.StatusCode)
	_, err = w.Write(answer)
	return err
}

func pass(to, from http.Header) {
	for _, name := range passed {
		if v := from[name]; v != nil {
			to[name] = v
		}
	}
}

// reverseProxy serves the standard library's.
func (h *hop) reverseProxy() http.Handler {
	return &httputil.ReverseProxy{
		Transport: hopTransport(),
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(h.target.Load()) },
	}
}

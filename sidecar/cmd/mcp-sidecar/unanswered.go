package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// endpoint reports whether a URL is one that can be asked.
func endpoint(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	port, err := strconv.Atoi(u.Port())
	return u.Port() == "" || err == nil && port > 0 && port <= 65535
}

// unanswered words why the server could not be asked, for the person who gave
// its URL. Other errors, its own answers included, stay as they are.
func (t *target) unanswered(err error) error {
	if _, refused := errors.AsType[*jsonrpc.Error](err); refused || err == nil {
		return err
	}
	f, ok := errors.AsType[*peer.Failure](err)
	if !ok {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("%s did not answer within %v: --timeout gives it longer", t.URL, t.Timeout)
		}
		return err
	}
	why := func(format string, args ...any) error { return fmt.Errorf(t.URL+" "+format, args...) }
	switch {
	case f.Status == http.StatusUnauthorized:
		return why(`wants to know who asks (status 401): --header "Authorization: …" tells it`)
	case f.Reason == peer.Auth && f.Status != 0:
		return why("does not let us in (status %d)", f.Status)
	case f.Reason == peer.Redirected:
		return why("sends us elsewhere: is that its MCP endpoint?")
	case f.Reason == peer.Status:
		return why("answers with status %d: is that its MCP endpoint?", f.Status)
	case f.Reason == peer.BadResponse:
		return why("answers, but not as an MCP server does: %v", f.Err)
	case f.Reason == peer.TooLarge:
		return why("answers with too much")
	case f.Reason == peer.Unreachable:
		return t.unreachable(f)
	case f.Reason == peer.Ended, f.Reason == peer.Cut, f.Reason == peer.StreamLost:
		return t.broken(f)
	}
	return err
}

func (t *target) unreachable(f *peer.Failure) error {
	if unknown, ok := errors.AsType[*net.DNSError](f); ok {
		return fmt.Errorf("%s: there is no host %q", t.URL, unknown.Name)
	}
	return fmt.Errorf("nobody answers at %s: is `mcp-sidecar run` running, or is it another --url?", t.URL)
}

func (t *target) broken(f *peer.Failure) error {
	if _, ok := errors.AsType[tls.RecordHeaderError](f); ok {
		return fmt.Errorf("%s does not speak TLS: is it http, not https?", t.URL)
	}
	if wrong, ok := errors.AsType[*tls.CertificateVerificationError](f); ok {
		return fmt.Errorf("the certificate of %s cannot be trusted: %w", t.URL, wrong.Err)
	}
	return fmt.Errorf("%s closed the connection without a whole answer", t.URL)
}

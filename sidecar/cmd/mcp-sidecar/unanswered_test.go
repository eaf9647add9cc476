package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/sidecar/inspect"
)

func TestAnErrorIsToldToAPerson(t *testing.T) {
	to := target{Target: inspect.Target{URL: "http://x/mcp", Timeout: 3 * time.Second}}
	refused := &jsonrpc.Error{Code: -32602, Message: "no"}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"nobody there":         {&peer.Failure{Reason: peer.Unreachable}, "nobody answers at http://x/mcp: is `mcp-sidecar run` running"},
		"no such host":         {&peer.Failure{Reason: peer.Unreachable, Err: &net.DNSError{Name: "x"}}, `there is no host "x"`},
		"a wrong path":         {errors.Join(&peer.Failure{Reason: peer.Status, Status: 404}, &peer.Failure{Reason: peer.Status, Status: 405}), "answers with status 404: is that"},
		"somebody else wanted": {&peer.Failure{Reason: peer.Auth, Status: 401}, `--header "Authorization: …"`},
		"nobody wanted":        {&peer.Failure{Reason: peer.Auth, Status: 403}, "does not let us in (status 403)"},
		"a login page":         {&peer.Failure{Reason: peer.Redirected, Status: 302}, "sends us elsewhere"},
		"a web page":           {&peer.Failure{Reason: peer.BadResponse, Status: 200, Err: errors.New("no JSON")}, "not as an MCP server does: no JSON"},
		"a flood":              {&peer.Failure{Reason: peer.TooLarge}, "too much"},
		"silence":              {fmt.Errorf("client: %w", context.DeadlineExceeded), "did not answer within 3s: --timeout"},
		"an end":               {&peer.Failure{Reason: peer.Ended, Err: errors.New("EOF")}, "closed the connection"},
		"its own answer":       {fmt.Errorf("%w: %w", &peer.Failure{Reason: peer.Status, Status: 404}, refused), "no"},
		"a usage error":        {usageError("a mistake"), "a mistake"},
	} {
		t.Run(name, func(t *testing.T) {
			got := to.unanswered(test.err)
			if !strings.Contains(got.Error(), test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
			if rpc, ok := errors.AsType[*jsonrpc.Error](test.err); ok && !errors.Is(got, rpc) {
				t.Error("the answer is lost")
			}
		})
	}
	if to.unanswered(nil) != nil {
		t.Error("an error of nothing")
	}
}

func TestTheWrongSchemeIsToldToAPerson(t *testing.T) {
	plain, secure := httptest.NewServer(http.NotFoundHandler()), httptest.NewTLSServer(http.NotFoundHandler())
	defer plain.Close()
	defer secure.Close()
	for url, want := range map[string]string{
		"https" + strings.TrimPrefix(plain.URL, "http"): "does not speak TLS",
		secure.URL: "cannot be trusted",
	} {
		to := target{Target: inspect.Target{URL: url, Timeout: time.Minute}}
		_, err := to.Connect(t.Context())
		if err := to.unanswered(err); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
}

func TestWhatIsAnEndpoint(t *testing.T) {
	for url, want := range map[string]bool{
		"http://127.0.0.1:17080/mcp":      true,
		"https://example.com/mcp?x=1":     true,
		"http://[::1]/":                   true,
		"http://":                         false,
		"http://127.0.0.1:99999/mcp":      false,
		"http://127.0.0.1:x/mcp":          false,
		"ftp://127.0.0.1/":                false,
		"127.0.0.1:17080":                 false,
		"http://127.0.0.1:17080/\x00/mcp": false,
	} {
		if got := endpoint(url); got != want {
			t.Errorf("%q: %v", url, got)
		}
	}
}

package proxy

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/repair"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Workload is what stands behind the proxy.
type Workload interface {
	// OpenSession opens a leg for one client session.
	OpenSession(ctx context.Context, r upstream.SessionRequest) (upstream.Leg, error)
	// Instance returns the leg that requests of a key share.
	Instance(ctx context.Context, key upstream.Key) (upstream.Lease, error)
}

// Config describes a Proxy. Workload is required.
type Config struct {
	Workload Workload
	// Name and Version stand in for a workload that does not say who it is;
	// both are required members of what clients get.
	Name, Version string
	Hooks         Hooks
}

// Hooks observe a Proxy. Nil members are skipped; they must not block.
type Hooks struct {
	// Called tells how a request to the workload went: failure is empty, the
	// JSON-RPC code as text, or a peer.Reason.
	Called func(method string, took time.Duration, failure string)
	// Tools names the tools of one page of tools/list as clients see it;
	// first says that it is the first page.
	Tools func(names []string, first bool)
	// Repaired counts what had to be made valid (R4, R8); item is a name of
	// the workload's, for logs and not for labels.
	Repaired func(method string, kind repair.Kind, item string)
	// Lossy counts what the workload sent and no client could be given, by a
	// closed set of reasons (B0.8).
	Lossy func(reason string)
}

// Reasons of Hooks.Lossy.
const (
	LossyReverse      = "reverse_refused"      // a request that no client can be asked
	LossyLog          = "log_not_wanted"       // a log message without logLevel (W23.5)
	LossyNotification = "notification_dropped" // nobody to tell
	LossyCursor       = "cursor_ended"         // a cursor that never ends (R2)
)

// Proxy is the dispatch.Server; see New. All methods may be called
// concurrently.
type Proxy struct {
	cfg   Config
	inits sync.Map // fingerprint of upstream.Key → *peer.Init
}

var _ dispatch.Server = (*Proxy)(nil)

// New makes a Proxy.
func New(cfg Config) *Proxy {
	if cfg.Name == "" {
		cfg.Name = "mcp-server"
	}
	if cfg.Version == "" {
		cfg.Version = "0"
	}
	return &Proxy{cfg: cfg}
}

// Serve implements dispatch.Server.
func (p *Proxy) Serve(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	switch {
	case !offered(x):
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found"))
	case x.Session() != nil:
		return p.legacy(ctx, x)
	case x.Profile().Handshake:
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "a session is required: send initialize first"))
	case x.Msg.Method == mcp.MethodDiscover:
		return p.discover(ctx, x)
	}
	return p.modern(ctx, x)
}

// offered reports whether a request is for something that is advertised.
// Subscriptions and tasks are not, and methods behind a capability that is not
// advertised are unknown (W5.6).
func offered(x *dispatch.Exchange) bool {
	m, _ := x.Profile().Method(x.Msg.Method)
	return !m.Listening && m.Extension == "" && m.Needs != mcp.CapTasks
}

// call makes one request on a leg and reports how it went.
func (p *Proxy) call(ctx context.Context, leg upstream.Leg, r peer.Request) (peer.Answer, error) {
	if p.cfg.Hooks.Called == nil {
		return leg.Call(ctx, r)
	}
	began := time.Now()
	answer, err := leg.Call(ctx, r)
	p.cfg.Hooks.Called(label(r.Method), time.Since(began), outcomeOf(answer, err))
	return answer, err
}

// label bounds the methods that become labels.
func label(method string) string {
	if mcp.KnownMethod(method) {
		return method
	}
	return "_OTHER"
}

func outcomeOf(answer peer.Answer, err error) string {
	switch {
	case answer.Err != nil:
		return codeText(answer.Err.Code)
	case err == nil:
		return ""
	}
	if reason := peer.ReasonOf(err); reason != "" {
		return string(reason)
	}
	switch {
	case errors.Is(err, dispatch.ErrDeadline), errors.Is(err, context.DeadlineExceeded):
		return mcp.ReasonTimeout
	}
	return mcp.ReasonCancelled
}

func (p *Proxy) lossy(reason string) {
	if p.cfg.Hooks.Lossy != nil {
		p.cfg.Hooks.Lossy(reason)
	}
}

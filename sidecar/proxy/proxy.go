package proxy

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/park"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/repair"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// Workload is what stands behind the proxy.
type Workload interface {
	// Era says how the workload can be spoken to. Until that is known it finds
	// out, which is bounded; the errors are OpenSession's.
	Era(ctx context.Context) (upstream.Era, error)
	// OpenSession opens a leg for one client session.
	OpenSession(ctx context.Context, r upstream.SessionRequest) (upstream.Leg, error)
	// Instance returns the leg that requests of a key share.
	Instance(ctx context.Context, key upstream.Key) (upstream.Lease, error)
	// Conversation is the one with a workload of the modern era, which serves
	// everybody (B3.5). Errors are OpenSession's.
	Conversation(ctx context.Context) (upstream.Conversation, error)
}

// Config describes a Proxy. Workload is required.
type Config struct {
	Workload Workload
	// Name and Version stand in for a workload that does not say who it is;
	// both are required members of what clients get.
	Name, Version string
	// Keys seal what is given to clients to bring back (requestState, task
	// ids, cursors).
	Keys *seal.Keyring
	// Pod is written into what is sealed, so that any pod knows whose it is.
	Pod string
	// Tasks runs the calls that become tasks (B12); nil offers none. Whoever
	// made it closes it, before the workload is shut down.
	Tasks *task.Engine
	// Promote is after how long a tools/call of a legacy workload becomes a task
	// where the client has the tasks extension (B12.15); 0 means never, and the
	// extension is not offered.
	Promote time.Duration
	// Roots: clients' roots are offered to legacy workloads (B6.5, P7).
	Roots bool
	// Leasing says when a call of a modern client has a leg of a legacy
	// workload to itself; "" means LeaseAuto.
	Leasing Leasing
	// Parking bounds the calls that wait for their clients' answers.
	Parking park.Limits
	Hooks   Hooks
}

// DefaultPromote is a good Config.Promote (B18).
const DefaultPromote = 10 * time.Second

// Hooks observe a Proxy. Nil members are skipped; they must not block.
type Hooks struct {
	// Called tells how a request to the workload went: method is whatever it
	// was, failure is empty, the JSON-RPC code as text, or a peer.Reason.
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
	// Attributed tells what it took to find out whose a request of a legacy
	// workload was (P5).
	Attributed func(how Attribution)
	// Parking observes the calls that wait for their clients' answers.
	Parking park.Hooks
}

// Reasons of Hooks.Lossy.
const (
	LossyReverse      = "reverse_refused"        // a request that no client can be asked
	LossyLog          = "log_not_wanted"         // a log message without logLevel (W23.5)
	LossyNotification = "notification_dropped"   // nobody to tell
	LossyAnswer       = "answer_not_in_revision" // a client's answer that the workload's revision cannot say
	LossyCursor       = "cursor_ended"           // a cursor that never ends (R2)
	LossyElsewhere    = "changed_elsewhere"      // a list changed in a process that lists are not read from
)

// Proxy is the dispatch.Server; see New. All methods may be called
// concurrently.
type Proxy struct {
	cfg     Config
	parking mlState
	tools   toolbox
	found   discovery
	lingers atomic.Bool // see mayLinger
	hubs    hubs
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
	p := &Proxy{cfg: cfg}
	p.parking.begin(cfg)
	return p
}

// Serve implements dispatch.Server: by the era of client and workload to one
// of four pairings, each in files of its own (ll, ml, lm, mm). A session keeps
// the one it was opened with.
func (p *Proxy) Serve(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	if s := x.Session(); s != nil {
		switch state := s.Value().(type) {
		case *session:
			return p.ll(ctx, x, state)
		case *lmSession:
			return p.lm(ctx, x, state)
		}
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the session is not open"))
	}
	if x.Profile().Handshake {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "a session is required: send initialize first"))
	}
	era, err := p.cfg.Workload.Era(ctx)
	switch {
	case err != nil:
		return dispatch.Fail(notOpened(ctx, err))
	case era.Modern():
		return p.mm(ctx, x)
	}
	return p.ml(ctx, x)
}

// Open implements dispatch.Server. A workload that speaks to sessions gets the
// client's own (B1.7, P19).
func (p *Proxy) Open(ctx context.Context, x *dispatch.Exchange, s dispatch.Session) dispatch.Outcome {
	era, err := p.cfg.Workload.Era(ctx)
	switch {
	case err != nil:
		return dispatch.Fail(notOpened(ctx, err))
	case era.Legacy():
		return p.llOpen(ctx, x, s)
	}
	return p.lmOpen(ctx, x, s)
}

// Closed implements dispatch.Server.
func (p *Proxy) Closed(s dispatch.Session, cause error) {
	switch state := s.Value().(type) {
	case *session:
		state.leg.Close(cause)
	case *lmSession:
		state.close(cause)
	}
}

// Notify implements dispatch.Server.
func (p *Proxy) Notify(ctx context.Context, s dispatch.Session, n *jsonrpc.Message) {
	if state, ok := s.Value().(*session); ok {
		p.llNotify(ctx, state, n)
	}
	// A modern workload has no use for what a session tells (B11.8, section 13).
}

// call makes one request on a leg and reports how it went.
func (p *Proxy) call(ctx context.Context, leg upstream.Caller, r peer.Request) (peer.Answer, error) {
	if p.cfg.Hooks.Called == nil {
		return leg.Call(ctx, r)
	}
	began := time.Now()
	answer, err := leg.Call(ctx, r)
	p.cfg.Hooks.Called(r.Method, time.Since(began), outcomeOf(answer, err))
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

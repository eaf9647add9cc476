package streamable

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/internal/lapse"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// answer is the answer to one POSTed request, from the moment it is started.
// It begins undecided: the head is not written until it is known whether one
// JSON body will do (W14.18, B2.4).
//
//	undecided ── Notify, Call, time ──► stream ── outcome ──► ended
//	    └────────── outcome ──► JSON, or a status of its own ──► ended
//
// The HTTP goroutine runs serve; everything else comes from the dispatcher. A
// legacy request outlives its connection (W8.10), so serve may be gone while
// the rest goes on. Of a prompt request (dispatch.Prompt) it runs the handler
// too, see work.
type answer struct {
	*posted
	profile mcp.Profile
	wire    mcp.Wire
	legacy  *dispatch.Legacy // nil for modern requests
	method  mcp.Method
	running dispatch.Run

	early lapse.Alarm // of a prompt request: when it becomes a stream

	mu      sync.Mutex
	prompt  bool
	writer  chan struct{} // of a prompt request: closed when its stream is written
	st      *stream.Stream
	plain   bool // the client takes only JSON, or there is no stream left
	gone    bool // the connection ended while undecided
	polling bool // the first connection ends early (SEP-1699)
	done    bool
	outcome dispatch.Outcome
	silence error
	changed chan struct{} // nil: prompt
}

var (
	_ dispatch.Channel   = (*answer)(nil)
	_ dispatch.Recipient = (*answer)(nil)
)

// run starts a request and serves its answer. kept is true once it has
// started.
func (p *posted) run(req dispatch.Request, method mcp.Method, h dispatch.Handler) (kept bool, refusal *refusal) {
	a := &answer{posted: p, profile: req.Profile, wire: req.Profile.On(mcp.Streamable), method: method}
	a.plain = !p.accepts.stream
	if method.Listening && a.plain {
		return false, invalid(http.StatusNotAcceptable, hook.RejectAccept, "accept text/event-stream").about(p.msg.ID)
	}
	parent := p.s.base
	if l, ok := req.Session.(*dispatch.Legacy); ok {
		a.legacy = l
		if !l.Enter() {
			return false, sessionUnknown(p.msg.ID)
		}
		parent = l.Context()
	}
	if p.msg.Method != mcp.MethodInitialize {
		req.Channel = a
	}
	if method.Listening {
		var stop context.CancelFunc
		parent, stop = auth.UntilExpiry(parent, req.Identity) // B10.8
		defer stop()
	}
	if err := a.running.Begin(p.s.dispatcher, parent, req, h, a); err != nil {
		a.legacy.Leave()
		return false, refuse(http.StatusBadRequest, hook.RejectMessage, err.Code, err.Message).about(p.msg.ID)
	}
	if a.mayWork() {
		a.work()
		return true, nil
	}
	a.changed = make(chan struct{}, 1)
	a.running.Go()
	if method.Listening {
		a.listen()
	} else {
		a.serve()
	}
	return true, nil
}

// open runs initialize on a new session; without a session to show for it, the
// id is not sent.
func (p *posted) open(l *dispatch.Legacy) (kept bool, refusal *refusal) {
	return p.run(p.request.legacyRequest(l, p.msg), mcp.Method{Name: mcp.MethodInitialize}, l.Open)
}

// serve writes the answer on the HTTP goroutine.
func (a *answer) serve() {
	timer := time.NewTimer(a.patience())
	defer timer.Stop()
	for {
		select {
		case <-a.changed:
			a.mu.Lock()
			st, done := a.st, a.done
			a.mu.Unlock()
			switch {
			case st != nil:
				a.follow(st)
				return
			case done:
				a.finish()
				return
			case a.method.Listening:
				a.running.Cancel(errNoStream())
			}
		case <-timer.C:
			a.commit()
		case <-a.r.Context().Done():
			a.abandon()
			return
		}
	}
}

// patience is how long the answer stays undecided (B2.4, P4).
func (a *answer) patience() time.Duration {
	switch {
	case !a.accepts.stream:
		return 1<<63 - 1 // until it is known
	case a.method.Listening, a.legacy != nil && a.method.Attributable && asksClient(a.legacy.ClientCapabilities()):
		return listenPatience // what is refused at once keeps its status (W38.9)
	case a.wire.EarlyStream && a.method.Name == mcp.MethodToolsCall:
		return min(earlyStream, a.settings.KeepAlive)
	case a.method.Name == mcp.MethodInitialize, a.method.Name == mcp.MethodDiscover:
		return max(openPatience, a.settings.KeepAlive)
	}
	return a.settings.KeepAlive
}

// asksClient reports whether the client can be asked something.
func asksClient(capabilities []byte) bool {
	return mcp.CapSampling.Declared(capabilities) || mcp.CapElicitation.Declared(capabilities) || mcp.CapRoots.Declared(capabilities)
}

// commit decides for a stream. Without one to be had the answer stays plain.
func (a *answer) commit() *stream.Stream {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.commitLocked()
}

func (a *answer) commitLocked() *stream.Stream {
	if a.prompt && a.r.Context().Err() != nil {
		a.gone = a.st == nil
	}
	if a.st != nil || a.plain || a.gone || a.done {
		return a.st
	}
	a.st = a.openStream()
	a.plain = a.st == nil
	if a.prompt && a.st != nil {
		a.writer = make(chan struct{})
		go a.write(a.st)
	}
	a.signal()
	return a.st
}

func (a *answer) openStream() *stream.Stream {
	if a.legacy == nil || !a.wire.EventIDs {
		st, _ := a.s.streams.New("", nil) // nil when full
		return st
	}
	handle := a.s.streamHandle(a.legacy, a.msg.ID.String(), false)
	st, _ := a.legacy.OpenAnswer(handle)
	return st
}

// Notify implements dispatch.Channel.
func (a *answer) Notify(raw []byte) error { return a.send(raw, (*stream.Stream).Send) }

// NotifyWait implements dispatch.Waiter.
func (a *answer) NotifyWait(ctx context.Context, raw []byte) error {
	return a.send(raw, func(st *stream.Stream, data []byte) error { return st.SendWait(ctx, data) })
}

func (a *answer) send(raw []byte, send func(*stream.Stream, []byte) error) error {
	a.mu.Lock()
	st, done := a.commitLocked(), a.done
	a.mu.Unlock()
	switch {
	case done:
		a.s.Observer.Drop(hook.DropLate)
		return stream.ErrEnded
	case st == nil:
		a.s.Observer.Drop(hook.DropNoChannel)
		return dispatch.ErrNoChannel
	}
	return send(st, strictjson.OneLine(raw))
}

// Call implements dispatch.Channel. A client that takes only JSON cannot be
// asked (R1).
func (a *answer) Call(ctx context.Context, method string, params []byte) dispatch.Outcome {
	if a.legacy == nil || a.commit() == nil {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "the client takes no event stream").WithReason(mcp.ReasonNoCapability))
	}
	return a.legacy.CallOn(ctx, method, params, a.Notify)
}

// Deliver implements dispatch.Recipient.
func (a *answer) Deliver(o dispatch.Outcome, silence error) {
	if a.msg.Method == mcp.MethodInitialize && (silence != nil || o.Err != nil) {
		a.legacy.Close(errors.New("initialize failed")) // before anybody learns of it
	}
	a.mu.Lock()
	a.done, a.outcome, a.silence = true, o, silence
	st := a.st
	a.signal()
	a.mu.Unlock()
	if st != nil {
		a.conclude(st)
	}
	a.body.Release()
	if a.legacy != nil {
		a.legacy.Leave()
	}
}

// conclude sends the outcome on the stream and ends it. After a cancel nothing
// more reaches the connection; a client that resumes the stream is told that
// its request is over (P16).
func (a *answer) conclude(st *stream.Stream) {
	switch {
	case a.silence == nil:
		_ = st.SendLast(strictjson.OneLine(encode(a.msg.ID, a.outcome))) // a reader that is gone can resume
	case a.wire.EventIDs:
		st.Cut(a.silence)
		_ = st.SendLast(jsonrpc.EncodeError(a.msg.ID, jsonrpc.Errorf(jsonrpc.CodeInternal, "the request was cancelled").WithReason(mcp.ReasonCancelled)))
	default:
		st.DropWith(a.silence)
	}
}

func (a *answer) signal() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// abandon is the end of the connection while the answer is undecided: a modern
// request is cancelled by it (W14.10), a legacy one goes on, but without an
// event id its client cannot come back for the answer. A session that nobody
// learns the id of is ended.
func (a *answer) abandon() {
	a.mu.Lock()
	a.gone = a.st == nil
	st := a.st
	a.mu.Unlock()
	if st != nil && st.Handle() == "" {
		st.DropWith(dispatch.ErrDisconnected) // nobody will ever read it
	}
	switch {
	case a.wire.DisconnectCancels:
		a.running.Cancel(dispatch.ErrDisconnected)
	case a.msg.Method == mcp.MethodInitialize:
		a.legacy.Close(dispatch.ErrDisconnected)
	}
}

// streamHandle seals the handle of a stream; without a key it has none and
// cannot be resumed.
func (s *Server) streamHandle(l *dispatch.Legacy, request string, standalone bool) string {
	handle, _ := s.Keys.SealStream(seal.Stream{
		Session: sessionRandom(l), Pod: s.Pod, Standalone: standalone, Request: request, Random: seal.NewRandom(),
	})
	return handle
}

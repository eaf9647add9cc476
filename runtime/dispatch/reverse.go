package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// MaxPending bounds the reverse requests of one session that wait for an
// answer.
const MaxPending = 256

// CarrierWait is how long a reverse request that belongs to no request waits
// for a stream that can carry it (B6.3).
const CarrierWait = 30 * time.Second

// pending is a reverse request that waits for its answer.
type pending struct {
	method string
	parent jsonrpc.ID
	answer chan<- Outcome // one place
}

// callerKey carries the *Request of the exchange that makes a reverse request.
type callerKey struct{}

// Call implements Session: a reverse request that belongs to no request of the
// client goes on a standalone stream, or on that of a running request (B6.3).
func (l *Legacy) Call(ctx context.Context, method string, params []byte) Outcome {
	if err := MayCall(l.Profile(), l.ClientCapabilities(), method, params); err != nil {
		return Fail(err)
	}
	wait, cancel := context.WithTimeout(ctx, CarrierWait)
	defer cancel()
	var carrier session.Sender
	err := ErrNoChannel
	if method == mcp.MethodPing || l.awaitReady(wait) {
		carrier, err = l.Carrier(wait)
	}
	if err != nil {
		if ctx.Err() != nil {
			return Fail(Explain(context.Cause(ctx)))
		}
		return Fail(noChannel())
	}
	return l.CallOn(ctx, method, params, carrier.Send)
}

func noChannel() *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInternal, "no stream to the client").WithReason(mcp.ReasonNoChannel)
}

// CallOn makes a reverse request with send and waits for the client's answer,
// for ctx or for the end of the session. When it stops waiting it sends
// notifications/cancelled the same way. It is how transports implement
// Channel.Call.
func (l *Legacy) CallOn(ctx context.Context, method string, params []byte, send func(raw []byte) error) Outcome {
	req, ok := ctx.Value(callerKey{}).(*Request)
	if !ok {
		own := l.request(nil)
		req = &own
	}
	id := l.d.mint()
	return l.d.ask(ctx, req, id, method, params, func(ctx context.Context, params []byte) Outcome {
		return l.callOn(ctx, req, id, method, params, send)
	})
}

func (l *Legacy) callOn(ctx context.Context, req *Request, id jsonrpc.ID, method string, params []byte, send func(raw []byte) error) Outcome {
	answer := make(chan Outcome, 1)
	if err := l.expect(id, pending{method: method, parent: req.id(), answer: answer}); err != nil {
		return Fail(err)
	}
	defer l.forget(id)
	if err := send(jsonrpc.EncodeRequest(id, method, oneLine(params))); err != nil {
		return Fail(noChannel())
	}
	select {
	case o := <-answer:
		return o
	case <-ctx.Done():
		// The stream of a request that was cancelled is ending: on any other
		// then (B8.8).
		if errors.Is(context.Cause(ctx), ErrCancelled) || l.d.notify(ctx, req, req.id(), cancelled(id), send) != nil {
			_ = l.Notify(cancelled(id))
		}
		return Fail(Explain(context.Cause(ctx)))
	case <-l.Context().Done():
		return Fail(Explain(errors.Join(ErrSessionEnded, context.Cause(l.Context()))))
	}
}

func oneLine(params []byte) []byte {
	if params == nil {
		return nil
	}
	return strictjson.OneLine(params)
}

func cancelled(id jsonrpc.ID) []byte {
	return jsonrpc.EncodeNotification(mcp.NotifyCancelled, []byte(`{"requestId":`+id.String()+`}`))
}

func (l *Legacy) expect(id jsonrpc.ID, p pending) *jsonrpc.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) >= MaxPending {
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "too many requests to the client").WithReason(mcp.ReasonBusy)
	}
	if l.pending == nil {
		l.pending = map[string]pending{}
	}
	l.pending[id.String()] = p
	return nil
}

// waiting tells which reverse request an answer is for; the zero value when it
// is for none.
func (l *Legacy) waiting(id jsonrpc.ID) pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[id.String()]
}

func (l *Legacy) forget(id jsonrpc.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pending, id.String())
	if len(l.pending) == 0 {
		l.pending = nil
	}
}

// resolve gives a response to whoever waits for it; an unknown id is dropped
// (B9.2).
func (l *Legacy) resolve(m *jsonrpc.Message) {
	l.mu.Lock()
	p := l.pending[m.ID.String()]
	delete(l.pending, m.ID.String())
	l.mu.Unlock()
	if p.answer != nil {
		p.answer <- Outcome{Result: m.Result, Err: m.Err} // one answer per id
	}
}

package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// MaxPending bounds the reverse requests of one session that wait for an
// answer.
const MaxPending = 256

// CarrierWait is how long a reverse request that belongs to no request waits
// for a stream that can carry it (B6.3).
const CarrierWait = 30 * time.Second

type reply struct{ m *jsonrpc.Message }

// Call implements Session: a reverse request that belongs to no request of the
// client goes on a standalone stream, or on that of a running request (B6.3).
func (l *Legacy) Call(ctx context.Context, method string, params []byte) Outcome {
	if err := MayCall(l.Profile(), l.ClientCapabilities(), method, params); err != nil {
		return Fail(err)
	}
	wait, cancel := context.WithTimeout(ctx, CarrierWait)
	defer cancel()
	carrier, err := l.Carrier(wait)
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
	id := l.d.mint()
	answer := make(chan reply, 1)
	if err := l.expect(id, answer); err != nil {
		return Fail(err)
	}
	defer l.forget(id)
	if err := send(jsonrpc.EncodeRequest(id, method, oneLine(params))); err != nil {
		return Fail(noChannel())
	}
	select {
	case r := <-answer:
		return Outcome{Result: r.m.Result, Err: r.m.Err}
	case <-ctx.Done():
		_ = send(cancelled(id)) // the stream may be gone as well
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

func (l *Legacy) expect(id jsonrpc.ID, answer chan<- reply) *jsonrpc.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) >= MaxPending {
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "too many requests to the client").WithReason(mcp.ReasonBusy)
	}
	if l.pending == nil {
		l.pending = map[string]chan<- reply{}
	}
	l.pending[id.String()] = answer
	return nil
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
	answer := l.pending[m.ID.String()]
	delete(l.pending, m.ID.String())
	l.mu.Unlock()
	if answer != nil {
		answer <- reply{m: m} // one place in the channel, one answer per id
	}
}

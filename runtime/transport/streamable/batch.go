package streamable

import (
	"net/http"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/internal/envelope"
)

// batch serves a JSON array, which only sessions of 2025-03-26 may send
// (W12.1, W12.4, B11.10): its members run in parallel, and the answers come on
// one event stream, one message per event.
func (p *posted) batch() *refusal {
	l, refusal := p.session(jsonrpc.ID{})
	if refusal != nil {
		return refusal
	}
	if !l.Profile().Batches {
		return invalid(http.StatusBadRequest, hook.RejectMessage, "this revision has no batches")
	}
	msgs, err := jsonrpc.ParseBatch(p.body.Data, strictjson.FromClient)
	if err != nil {
		return p.unreadable(err)
	}
	var requests []*jsonrpc.Message
	for i, m := range msgs {
		if msgs[i], err = envelope.Clean(m); err != nil {
			return p.unreadable(err)
		}
		if m.Kind != jsonrpc.KindRequest {
			continue
		}
		if m.Method == mcp.MethodInitialize {
			return invalid(http.StatusBadRequest, hook.RejectMessage, "initialize may not be in a batch").about(m.ID) // W4.9
		}
		requests = append(requests, msgs[i])
	}
	if len(requests) > 0 && !p.accepts.stream {
		return invalid(http.StatusNotAcceptable, hook.RejectAccept, "batches are answered by an event stream")
	}
	if !l.Enter() {
		return sessionUnknown(jsonrpc.ID{})
	}
	for _, m := range msgs {
		if m.Kind != jsonrpc.KindRequest {
			l.Receive(m, p.identity)
		}
	}
	if len(requests) == 0 {
		l.Leave()
		p.Accepted() // W12.2
		return nil
	}
	refusal = p.batched(l, requests)
	if refusal != nil {
		l.Leave()
	}
	return refusal
}

// batched runs the requests of a batch on one stream. Once they run, it is
// their end that leaves the session.
func (p *posted) batched(l *dispatch.Legacy, requests []*jsonrpc.Message) *refusal {
	wire := l.Profile().On(mcp.Streamable)
	// A batch has no single id that a lost stream could be answered with.
	st, err := l.OpenAnswer(p.s.streamHandle(l, "", false))
	if err != nil {
		return unavailable(hook.RejectStreamLimit, "too many streams")
	}
	reader, err := st.Attach(0)
	if err != nil {
		return sessionUnknown(jsonrpc.ID{})
	}
	var running sync.WaitGroup
	for _, m := range requests {
		member := &member{posted: p, legacy: l, st: st, msg: m, done: running.Done}
		running.Add(1)
		member.start()
	}
	// Budget and session are held until the last of them is over, connection or not.
	holds := p.body.Hand()
	go func() {
		running.Wait()
		st.End()
		holds.Release()
		l.Leave()
	}()
	l.Arrived()
	c := p.connect()
	c.handle, c.wire = st.Handle(), wire
	_ = c.watch(hook.StreamPost, reader, st)
	return nil
}

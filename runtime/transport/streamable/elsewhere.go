package streamable

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// missed takes what followed on a standalone stream of another process: once,
// because it goes on as a stream of this one.
func (q *request) missed(handle string, after uint64) (data [][]byte) {
	for _, e := range q.kept(handle, after) {
		data = append(data, e.Data)
	}
	if len(data) > 0 {
		q.ask(func(ctx context.Context) error { return q.s.Events.Drop(ctx, handle) })
	}
	return data
}

// replay buffers what followed on the stream of a request at another process,
// and reports whether that has its answer.
func (c *connection) replay(handle lastEvent, after uint64) (answered bool) {
	for _, e := range c.kept(handle.token, after) {
		c.event(c.id(e.Seq), e.Data)
		m, err := jsonrpc.Parse(e.Data, strictjson.FromWorkload)
		answered = err == nil && m.Kind == jsonrpc.KindResponse
	}
	return answered
}

// kept asks Events; what cannot be had is nothing.
func (q *request) kept(handle string, after uint64) (events []stream.Event) {
	if q.s.Events == nil {
		return nil
	}
	q.ask(func(ctx context.Context) (err error) {
		events, _, err = q.s.Events.After(ctx, handle, after)
		return err
	})
	return events
}

// ask bounds a question to Events and tells when it failed.
func (q *request) ask(f func(context.Context) error) {
	ctx, stop := context.WithTimeout(q.r.Context(), storeTime)
	defer stop()
	var err error
	fence.Call(nil, func() { err = f(ctx) })
	if err != nil && q.s.StoreFailed != nil && q.r.Context().Err() == nil {
		q.s.StoreFailed(err)
	}
}

package streamable

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// member is one request of a batch; its channel is the stream of the batch.
type member struct {
	*posted
	legacy *dispatch.Legacy
	st     *stream.Stream
	msg    *jsonrpc.Message
	done   func() // called once, at the end
}

var _ dispatch.Channel = (*member)(nil)

func (m *member) start() {
	req := m.request.legacyRequest(m.legacy, m.msg)
	req.Channel = m
	if o, answered := m.s.dispatcher.Answer(m.legacy.Context(), req); answered {
		m.deliver(o, nil)
		return
	}
	if _, err := m.s.dispatcher.Start(m.legacy.Context(), req, m.s.serve, m.deliver); err != nil {
		m.deliver(dispatch.Fail(err), nil)
	}
}

// deliver implements dispatch.Deliver. A member that was cancelled gets no
// answer; the batch goes on.
func (m *member) deliver(o dispatch.Outcome, silence error) {
	defer m.done()
	if silence == nil {
		_ = m.Notify(encode(m.msg.ID, o))
	}
}

// Notify implements dispatch.Channel.
func (m *member) Notify(raw []byte) error { return m.st.Send(strictjson.OneLine(raw)) }

// Call implements dispatch.Channel.
func (m *member) Call(ctx context.Context, method string, params []byte) dispatch.Outcome {
	return m.legacy.CallOn(ctx, method, params, m.Notify)
}

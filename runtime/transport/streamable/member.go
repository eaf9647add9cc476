package streamable

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
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
	switch {
	case m.msg.Method == mcp.MethodPing:
		m.deliver(dispatch.Result([]byte(`{}`)), nil)
		return
	case !m.legacy.Profile().Serves(m.msg.Method):
		m.deliver(dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found")), nil)
		return
	}
	_, err := m.s.dispatcher.Start(m.legacy.Context(), dispatch.Request{
		Msg: m.msg, Profile: m.legacy.Profile(), Session: m.legacy, Principal: m.principal,
		ClientCapabilities: m.legacy.ClientCapabilities(), ClientInfo: m.legacy.ClientInfo(), Channel: m,
	}, m.s.Handler.Serve, m.deliver)
	if err != nil {
		m.deliver(dispatch.Fail(err), nil)
	}
}

// deliver implements dispatch.Deliver. A member that was cancelled gets no
// answer; the batch goes on.
func (m *member) deliver(o dispatch.Outcome, silence error) {
	defer m.done()
	switch {
	case silence != nil:
	case o.Err != nil:
		_ = m.Notify(jsonrpc.EncodeError(m.msg.ID, o.Err))
	default:
		_ = m.Notify(jsonrpc.EncodeResult(m.msg.ID, o.Result))
	}
}

// Notify implements dispatch.Channel.
func (m *member) Notify(raw []byte) error { return m.st.Send(strictjson.OneLine(raw)) }

// Call implements dispatch.Channel.
func (m *member) Call(ctx context.Context, method string, params []byte) dispatch.Outcome {
	return m.legacy.CallOn(ctx, method, params, m.Notify)
}

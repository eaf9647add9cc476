package dispatch

import (
	"context"
	"errors"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// stacks are a Dispatcher's Receive and Send put together, once.
type stacks struct {
	once          sync.Once
	receive, send *middleware.Stack
}

func (d *Dispatcher) receiving() *middleware.Stack {
	d.stacks.once.Do(d.stack)
	return d.stacks.receive
}

func (d *Dispatcher) sending() *middleware.Stack {
	if d == nil {
		return nil // an Exchange of a test
	}
	d.stacks.once.Do(d.stack)
	return d.stacks.send
}

func (d *Dispatcher) stack() {
	d.stacks.receive, d.stacks.send = middleware.NewStack(d.Receive), middleware.NewStack(d.Send)
}

// id is that of the client's request; zero when there is none.
func (r *Request) id() jsonrpc.ID {
	if r.Msg == nil {
		return jsonrpc.ID{}
	}
	return r.Msg.ID
}

// envelope is a Message that says who is at the other end.
func (r *Request) envelope(kind jsonrpc.Kind, method string) *middleware.Message {
	m := &middleware.Message{
		Kind: kind, Method: method,
		Revision: r.Profile.Revision, Principal: r.Principal, Identity: r.Identity, Bucket: r.bucket(),
	}
	if r.Session != nil {
		m.Session = r.Session.Key()
	}
	return m
}

// received takes a request through the receive stack to end.
func (d *Dispatcher) received(ctx context.Context, r *Request, stack *middleware.Stack, end middleware.Handler) (o Outcome) {
	defer d.guard(&o)
	m := r.envelope(jsonrpc.KindRequest, r.Msg.Method)
	m.ID, m.Params = r.Msg.ID, r.Msg.Params
	return certain(stack.Run(ctx, m, end))
}

// respond takes the answer to a request through the send stack, if there is one,
// and returns what is to be sent.
func (d *Dispatcher) respond(ctx context.Context, r *Request, o Outcome) Outcome {
	if stack := d.sending(); stack != nil {
		return d.responded(ctx, r, stack, o)
	}
	return o
}

func (d *Dispatcher) responded(ctx context.Context, r *Request, stack *middleware.Stack, o Outcome) (sent Outcome) {
	defer d.guard(&sent)
	m := r.envelope(jsonrpc.KindResponse, r.Msg.Method)
	m.ID, m.Result, m.Err = r.Msg.ID, o.Result, o.Err
	// The answer goes out although the request is over.
	stack.Run(context.WithoutCancel(ctx), m, func(_ context.Context, m *middleware.Message) Outcome {
		sent = Outcome{Result: m.Result, Err: m.Err}
		return Outcome{}
	})
	return certain(sent)
}

// certain makes an outcome of none.
func certain(o Outcome) Outcome {
	switch {
	case o.Err != nil:
		o.Result = nil
	case o.Result == nil:
		return Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "no answer"))
	}
	return o
}

// notify takes a notification to the client through the send stack, if there is
// one, to send.
func (d *Dispatcher) notify(ctx context.Context, r *Request, parent jsonrpc.ID, raw []byte, send func(raw []byte) error) error {
	if stack := d.sending(); stack != nil {
		return d.notified(ctx, r, stack, parent, raw, send)
	}
	return send(raw)
}

func (d *Dispatcher) notified(ctx context.Context, r *Request, stack *middleware.Stack, parent jsonrpc.ID, raw []byte, send func(raw []byte) error) (err error) {
	method, _ := strictjson.Get(raw, "method")
	name, _ := strictjson.String(method)
	m := r.envelope(jsonrpc.KindNotification, name)
	m.Params, _ = strictjson.Get(raw, "params")
	m.Parent = parent
	before := m.Params
	sent := false
	fine := fence.Call(d.Observer.Panic, func() {
		stack.Run(ctx, m, func(_ context.Context, m *middleware.Message) Outcome {
			if !same(before, m.Params) {
				raw = jsonrpc.EncodeNotification(name, m.Params)
			}
			err = send(raw)
			sent = true
			return Outcome{}
		})
	})
	if !fine && !sent {
		return errPanicked
	}
	return err
}

// errPanicked is a notification that a link of the send stack panicked on.
var errPanicked = errors.New("a panic kept the notification from being sent")

// ask takes a request to the client through the send stack to call.
func (d *Dispatcher) ask(ctx context.Context, r *Request, id jsonrpc.ID, method string, params []byte, call func(context.Context, []byte) Outcome) (o Outcome) {
	stack := d.sending()
	if stack == nil {
		return call(ctx, params)
	}
	defer d.guard(&o)
	m := r.envelope(jsonrpc.KindRequest, method)
	m.ID, m.Params, m.Parent = id, params, r.id()
	return certain(stack.Run(ctx, m, func(ctx context.Context, m *middleware.Message) Outcome {
		return call(ctx, m.Params)
	}))
}

// inbound takes a notification or a response of the client through the receive
// stack to take.
func (d *Dispatcher) inbound(ctx context.Context, r *Request, method string, parent jsonrpc.ID, take func(*jsonrpc.Message)) {
	stack := d.receiving()
	if stack == nil {
		take(r.Msg)
		return
	}
	var o Outcome
	defer d.guard(&o)
	msg := r.Msg
	m := r.envelope(msg.Kind, method)
	m.ID, m.Params, m.Result, m.Err, m.Parent = msg.ID, msg.Params, msg.Result, msg.Err, parent
	stack.Run(ctx, m, func(_ context.Context, m *middleware.Message) Outcome {
		if msg.Kind == jsonrpc.KindResponse {
			o := certain(Outcome{Result: m.Result, Err: m.Err})
			take(&jsonrpc.Message{Raw: msg.Raw, Kind: msg.Kind, ID: msg.ID, Result: o.Result, Err: o.Err, Meta: msg.Meta})
			return Outcome{}
		}
		if msg, err := edited(msg, m.Params); err == nil {
			take(msg)
		}
		return Outcome{}
	})
}

// edited is msg with other params, if they are other ones.
func edited(msg *jsonrpc.Message, params []byte) (*jsonrpc.Message, *jsonrpc.Error) {
	if same(msg.Params, params) {
		return msg, nil
	}
	raw := jsonrpc.EncodeNotification(msg.Method, params)
	if msg.Kind == jsonrpc.KindRequest {
		raw = jsonrpc.EncodeRequest(msg.ID, msg.Method, params)
	}
	out, err := jsonrpc.Parse(raw, strictjson.FromClient)
	if err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "a link made params that are no object")
	}
	return out, nil
}

// same reports whether two slices are the same bytes in the same place.
func same(a, b []byte) bool {
	return len(a) == len(b) && (a == nil) == (b == nil) && (len(a) == 0 || &a[0] == &b[0])
}

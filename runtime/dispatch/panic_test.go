package dispatch_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// departing is a Server that panics when a session has ended.
type departing struct{ retiring }

func (*departing) Closed(dispatch.Session, error) { panic("closed") }

// A Server that panics when a session ends by its clock ends nothing else.
func TestAPanicInClosedEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var panics []any
		d := &dispatch.Dispatcher{Server: &departing{}, Observer: &hook.Observer{Panicked: func(v any, _ []byte) { panics = append(panics, v) }}}
		registry := &session.Registry{Streams: &stream.Store{}, Idle: func() time.Duration { return time.Minute }}
		inner, err := registry.New(session.Params{Key: "s", Profile: profile("2025-11-25")})
		if err != nil {
			t.Fatal(err)
		}
		l := d.Adopt(inner)
		l.Enter()
		x := dispatch.NewExchange(t.Context(), dispatch.Request{Msg: message(t, `{"jsonrpc":"2.0","id":0,"method":"initialize"}`), Profile: l.Profile(), Session: l})
		if o := l.Open(t.Context(), x); o.Err != nil {
			t.Fatal(o.Err)
		}
		l.Leave()
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(panics) != 1 || panics[0] != "closed" || registry.Len() != 0 {
			t.Errorf("%v, %d sessions", panics, registry.Len())
		}
	})
}

// noted is a Channel that counts what is sent on it.
type noted struct{ n int }

func (c *noted) Notify([]byte) error { c.n++; return nil }
func (c *noted) Call(context.Context, string, []byte) dispatch.Outcome {
	return dispatch.Result([]byte(`{}`))
}

// A link that panics on a notification has not sent it, unless it had.
func TestAPanicWhileANotificationIsSent(t *testing.T) {
	for name, tt := range map[string]struct {
		link func(next middleware.Handler) middleware.Handler
		sent int
	}{
		"before": {func(middleware.Handler) middleware.Handler {
			return func(context.Context, *middleware.Message) dispatch.Outcome { panic("link") }
		}, 0},
		"after": {func(next middleware.Handler) middleware.Handler {
			return func(ctx context.Context, m *middleware.Message) dispatch.Outcome {
				next(ctx, m)
				panic("link")
			}
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			panics := 0
			d := &dispatch.Dispatcher{
				Observer: &hook.Observer{Panicked: func(any, []byte) { panics++ }},
				Send: func(next middleware.Handler) middleware.Handler {
					link := tt.link(next)
					return func(ctx context.Context, m *middleware.Message) dispatch.Outcome {
						if m.Method != "notifications/x" {
							return next(ctx, m)
						}
						return link(ctx, m)
					}
				},
			}
			channel := &noted{}
			deliver, ends := collect(t)
			var err error
			_, bad := d.Start(t.Context(), dispatch.Request{Msg: message(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`), Profile: profile("2026-07-28"), Channel: channel},
				func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
					err = x.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/x"}`))
					return dispatch.Result([]byte(`{}`))
				}, deliver)
			if bad != nil {
				t.Fatal(bad)
			}
			if end := <-ends; end.o.Err != nil {
				t.Errorf("the request: %v", end.o.Err)
			}
			if channel.n != tt.sent || (err == nil) != (tt.sent == 1) || panics != 1 {
				t.Errorf("%d sent, the sender got %v, %d panics", channel.n, err, panics)
			}
		})
	}
}

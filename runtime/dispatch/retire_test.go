package dispatch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// retiring is a Server that hears of the ends of its sessions.
type retiring struct{ closed []error }

func (*retiring) Open(context.Context, *dispatch.Exchange, dispatch.Session) dispatch.Outcome {
	return dispatch.Result([]byte(`{"protocolVersion":"2025-11-25"}`))
}
func (*retiring) Serve(context.Context, *dispatch.Exchange) dispatch.Outcome { panic("unused") }
func (*retiring) Notify(context.Context, dispatch.Session, *jsonrpc.Message) { panic("unused") }
func (s *retiring) Closed(_ dispatch.Session, cause error)                   { s.closed = append(s.closed, cause) }

// A session whose workload has ended: what has been answered is delivered,
// nothing new begins, and what nobody ends is cut off (B3.8).
func TestRetire(t *testing.T) {
	over := errors.New("over")
	for name, tt := range map[string]struct {
		takes time.Duration // of the request in flight; 0: there is none
		ends  time.Duration
		code  int64
	}{
		"with nothing in flight":       {},
		"an answer on its way":         {takes: time.Second, ends: time.Second},
		"a request that nobody serves": {takes: time.Hour, ends: 5 * time.Second, code: -32603},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &retiring{}
				d := &dispatch.Dispatcher{Server: server}
				registry := &session.Registry{Streams: &stream.Store{}}
				inner, err := registry.New(session.Params{Key: "s", Profile: profile("2025-11-25")})
				if err != nil {
					t.Fatal(err)
				}
				l := d.Adopt(inner)
				x := dispatch.NewExchange(t.Context(), dispatch.Request{Msg: message(t, `{"jsonrpc":"2.0","id":0,"method":"initialize"}`), Profile: l.Profile(), Session: l})
				if o := l.Open(t.Context(), x); o.Err != nil {
					t.Fatal(o.Err)
				}
				deliver, ends := collect(t)
				if tt.takes > 0 {
					_, bad := d.Start(l.Context(), dispatch.Request{Msg: message(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`), Profile: l.Profile(), Session: l},
						func(context.Context, *dispatch.Exchange) dispatch.Outcome {
							time.Sleep(tt.takes)
							return dispatch.Result([]byte(`{}`))
						}, deliver)
					if bad != nil {
						t.Fatal(bad)
					}
					synctest.Wait()
				}
				began := time.Now()
				l.Retire(over)
				l.Retire(errors.New("again"))
				if _, found := registry.Find("s", ""); found || l.Enter() {
					t.Error("it is still in use")
				}
				if done := l.Context().Err() != nil; done != (tt.takes == 0) {
					t.Errorf("ended: %v", done)
				}
				<-l.Context().Done()
				if d := time.Since(began); d != tt.ends {
					t.Errorf("ended after %v", d)
				}
				if tt.takes > 0 {
					if e := <-ends; e.silence != nil || (e.o.Err == nil) != (tt.code == 0) {
						t.Errorf("got %+v", e)
					}
				}
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				if len(server.closed) != 1 || !errors.Is(server.closed[0], over) {
					t.Errorf("told %v", server.closed)
				}
			})
		})
	}
}

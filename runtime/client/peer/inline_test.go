package peer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// exchange is a Link like HTTP: a request's Send is a script that delivers on
// the caller's goroutine.
type exchange struct {
	Receiver
	script func(ctx context.Context, out *Outgoing) error

	mu   sync.Mutex
	said []string
}

func (e *exchange) Start(r Receiver) { e.Receiver = r }
func (e *exchange) Inline() bool     { return true }
func (e *exchange) Close(error)      {}

func (e *exchange) Send(ctx context.Context, out *Outgoing) error {
	if out.Kind == jsonrpc.KindRequest {
		return e.script(ctx, out)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.said = append(e.said, string(out.Raw))
	return ctx.Err()
}

func inline(t *testing.T, script func(ctx context.Context, out *Outgoing) error, f func(t *testing.T, p *Peer, e *exchange, log *recorder)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e, log := &exchange{script: script}, &recorder{}
		p := New(e, Config{Handler: log, Hooks: log.hooks()})
		f(t, p, e, log)
		p.Close(nil)
		p.Wait()
	})
}

func TestInlineDeliversOnTheCallersStream(t *testing.T) {
	inline(t, func(_ context.Context, out *Outgoing) error {
		for _, raw := range []string{
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
			`{"jsonrpc":"2.0","id":"r","method":"sampling/createMessage"}`,
			`ping`,
		} {
			if out.Deliver([]byte(raw)) {
				return errors.New("taken for the answer")
			}
		}
		if !out.Deliver([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)) {
			return errors.New("not taken for the answer")
		}
		return nil
	}, func(t *testing.T, p *Peer, e *exchange, log *recorder) {
		var of *Call
		log.serve = func(_ context.Context, in Incoming) ([]byte, *jsonrpc.Error) {
			of = in.Call
			return []byte("{}"), nil
		}
		a, err := p.Call(t.Context(), req("tools/call", `{"_meta":{"progressToken":"t"}}`))
		if err != nil || string(a.Result) != "{}" {
			t.Fatal(a, err)
		}
		synctest.Wait()
		log.wantNotes(t,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}} of tools/call`,
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"} of tools/call`)
		if of == nil || of.Method() != "tools/call" {
			t.Error("the reverse request lost its call") // B6.1 (2)
		}
		if len(e.said) != 1 || e.said[0] != `{"jsonrpc":"2.0","id":"r","result":{}}` {
			t.Error(e.said)
		}
		log.wantDrops(t, DropNoise)
	})
}

func TestInlineAnswerOnAnotherStreamEndsTheExchange(t *testing.T) {
	var e *exchange
	inline(t, func(ctx context.Context, _ *Outgoing) error {
		e.Receiver.Deliver([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`))
		synctest.Wait()
		e.Receiver.Deliver([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
		<-ctx.Done()
		return context.Cause(ctx)
	}, func(t *testing.T, p *Peer, link *exchange, log *recorder) {
		e = link
		a, err := p.Call(t.Context(), req("tools/call", `{"_meta":{"progressToken":"t"}}`))
		if err != nil || string(a.Result) != "{}" {
			t.Fatal(a, err)
		}
		log.wantNotes(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}} of tools/call`)
		if len(e.said) != 0 {
			t.Error(e.said)
		}
	})
}

func TestInlineCancel(t *testing.T) {
	for name, tc := range map[string]struct {
		revision string
		want     int
	}{
		"of a session: the server is told":                          {"", 1},           // W8.10
		"of a stateless revision: the closed stream is the message": {"2026-07-28", 0}, // W19.8
	} {
		t.Run(name, func(t *testing.T) {
			inline(t, func(ctx context.Context, _ *Outgoing) error {
				<-ctx.Done()
				return context.Cause(ctx)
			}, func(t *testing.T, p *Peer, e *exchange, _ *recorder) {
				ctx, cancel := context.WithCancel(t.Context())
				go cancel()
				r := req("tools/call", "")
				r.Revision = tc.revision
				if _, err := p.Call(ctx, r); !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				synctest.Wait()
				if len(e.said) != tc.want {
					t.Error(e.said)
				}
			})
		})
	}
}

func TestInlineFailures(t *testing.T) {
	lost := &Failure{Reason: StreamLost}
	for name, tc := range map[string]struct {
		err  error
		want Reason
	}{
		"the exchange says why":           {lost, StreamLost},
		"it ends without saying anything": {nil, StreamLost},
	} {
		t.Run(name, func(t *testing.T) {
			inline(t, func(context.Context, *Outgoing) error { return tc.err }, func(t *testing.T, p *Peer, _ *exchange, _ *recorder) {
				if _, err := p.Call(t.Context(), req("tools/call", "")); ReasonOf(err) != tc.want {
					t.Error(err)
				}
			})
		})
	}
}

// A server that asks and asks, and takes no answer, holds no more than it may
// have in flight.
func TestAnswersThatAreNotTakenAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &recorder{serve: func(context.Context, Incoming) ([]byte, *jsonrpc.Error) { return []byte("{}"), nil }}
		e := &full{}
		p := New(e, Config{Handler: log, Hooks: log.hooks(), MaxReverse: 3})
		const asked = 500
		for i := range asked {
			e.Deliver([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","method":"roots/list"}`, i)))
			synctest.Wait()
		}
		if n, most := e.waiting.Load(), int64(3+cap(p.slots)); n > most {
			t.Errorf("%d answers are on their way, want at most %d", n, most)
		}
		time.Sleep(replyTimeout)
		synctest.Wait()
		if n := e.waiting.Load(); n != 0 {
			t.Errorf("%d answers are on their way for good", n)
		}
		e.Deliver([]byte(`{"jsonrpc":"2.0","id":"again","method":"roots/list"}`))
		synctest.Wait()
		if n := e.waiting.Load(); n != 1 {
			t.Error("nothing is answered any more")
		}
		p.Close(nil)
		p.Wait()
	})
}

// full is a Link that takes nothing.
type full struct {
	exchange
	waiting atomic.Int64
}

func (f *full) Send(ctx context.Context, _ *Outgoing) error {
	f.waiting.Add(1)
	defer f.waiting.Add(-1)
	<-ctx.Done()
	return ctx.Err()
}

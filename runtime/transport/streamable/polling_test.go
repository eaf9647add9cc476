package streamable_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
)

// A server closes the connection of an answer early; the client comes back for
// the rest (SEP-1699). W8.8, W9.2, W9.3, W9.5, W8.14
func TestClosePolling(t *testing.T) {
	for name, early := range map[string]bool{"before anything was sent": true, "after a notification": false} {
		t.Run(name, func(t *testing.T) {
			b := &backend{serve: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
				if !early {
					_ = x.Notify(note(1))
				}
				if err := x.ClosePolling(); err != nil {
					t.Error(err)
				}
				time.Sleep(5 * time.Second)
				_ = x.Notify(note(2))
				return dispatch.Result([]byte(`{"late":true}`))
			}}
			inLab(t, b, func(l *lab) {
				id := l.connect("2025-11-25", "{}")
				began := time.Now()
				r := l.stream(call{body: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a"}}`, header: on(id)})
				first := r.next() // priming
				if !first.HasID || len(first.Data) != 0 {
					t.Errorf("%+v", first)
				}
				if !early {
					if got := string(r.next().Data); got != string(note(1)) {
						t.Error(got)
					}
				}
				last := r.next()
				if last.RetryMS != 1000 || !last.HasID || len(last.Data) != 0 || last.ID == first.ID {
					t.Errorf("ended with %+v", last)
				}
				r.ended()
				if took := time.Since(began); took != 0 {
					t.Errorf("closed after %s", took)
				}
				time.Sleep(time.Second)
				r = l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", last.ID)})
				if got := string(r.message().Data); got != string(note(2)) {
					t.Error(got)
				}
				if got := string(r.message().Data); got != `{"jsonrpc":"2.0","id":7,"result":{"late":true}}` {
					t.Error(got)
				}
				r.ended()
			})
		})
	}
}

// Where the client could not come back nothing is closed.
func TestClosePollingIsNotForEverybody(t *testing.T) {
	got := make(chan error, 4)
	b := &backend{serve: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
		got <- x.ClosePolling()
		return dispatch.Result([]byte(`{}`))
	}}
	inLab(t, b, func(l *lab) {
		const body = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a"}}`
		l.ask(call{body: body, header: on(l.connect("2025-06-18", "{}"))})
		l.ask(call{body: body, header: with(on(l.connect("2025-11-25", "{}")), "Accept", "application/json")})
		for range 2 {
			if err := <-got; !errors.Is(err, dispatch.ErrNoPolling) {
				t.Error(err)
			}
		}
	})
}

package streamable_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/sse"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// Everything at once: calls of both eras with notifications and reverse calls,
// cancels, connections that break, resumes, DELETEs, and a drain in the middle.
// Each answer that comes is the right one (B3: nothing crosses between
// clients), and in the end nothing is left.
func TestStorm(t *testing.T) {
	steps := 60
	if testing.Short() {
		steps = 10
	}
	b := &backend{serve: func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
		for i := range rand.N(4) {
			_ = x.Notify(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/x","params":{"of":%s,"n":%d}}`, x.Msg.ID, i))
			select {
			case <-time.After(rand.N(3 * time.Second)):
			case <-ctx.Done():
				return dispatch.Fail(nil)
			}
		}
		if s := x.Session(); s != nil && rand.N(3) == 0 {
			_ = s.Notify(note(1))
			callCtx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			x.Call(callCtx, "roots/list", nil)
		}
		return dispatch.Result(fmt.Appendf(nil, `{"of":%s}`, x.Msg.ID))
	}}
	inLab(t, b, func(l *lab) {
		l.settings(func(s *streamable.Settings) { s.RequestTimeout, s.MaxConcurrent = 8*time.Second, 10 })
		var clients sync.WaitGroup
		for n := range 30 {
			clients.Go(func() { storm(l, n, steps) })
		}
		clients.Go(func() {
			time.Sleep(time.Duration(steps) * time.Second)
			l.server.Drain(5 * time.Second)
		})
		clients.Wait()
	})
}

// storm is one client.
func storm(l *lab, n, steps int) {
	id, last := "", ""
	for step := range steps {
		ctx, hangUp := context.WithTimeout(l.t.Context(), time.Duration(rand.N(10))*time.Second+time.Millisecond)
		rid := fmt.Sprintf(`"%d-%d"`, n, step)
		call_ := func(body string, header map[string]string) {
			if res, err := l.try(call{body: body, header: header, ctx: ctx}); err == nil {
				last = drink(l, res.Body, res.Header.Get("Content-Type"), rid, last)
			}
		}
		switch kind := rand.N(10); {
		case id == "" || kind == 0:
			res, err := l.try(call{body: initialize("2025-11-25", `{"roots":{}}`), ctx: ctx})
			if err == nil {
				id = res.Header.Get("Mcp-Session-Id")
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		case kind == 1:
			if res, err := l.try(call{method: "DELETE", header: on(id), ctx: ctx}); err == nil {
				_ = res.Body.Close()
			}
			id, last = "", ""
		case kind == 2:
			if res, err := l.try(call{method: "GET", header: with(on(id), "Last-Event-ID", last), ctx: ctx}); err == nil {
				last = drink(l, res.Body, "", fmt.Sprintf(`"%d-`, n), last)
			}
		case kind == 3:
			call_(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"%d-%d"}}`, n, step-1), on(id))
		case kind < 7:
			call_(`{"jsonrpc":"2.0","id":`+rid+`,"method":"tools/call","params":{"name":"slow"}}`, on(id))
		default:
			call_(`{"jsonrpc":"2.0","id":`+rid+`,"method":"tools/call","params":{"name":"slow",`+envelope+`}}`, modern("tools/call", "Mcp-Name", "slow"))
		}
		hangUp()
	}
}

// drink reads a response to its end and checks that all of it is for the client
// whose id it begins with. It returns the last event id.
func drink(l *lab, body io.ReadCloser, media, rid, last string) string {
	defer func() { _ = body.Close() }()
	check := func(data string) {
		if i := strings.Index(data, `"of":"`); i >= 0 && !strings.HasPrefix(data[i+len(`"of":`):], rid) {
			l.t.Errorf("%s got %s", rid, data)
		}
	}
	if media == "application/json" {
		data, _ := io.ReadAll(body)
		check(string(data))
		return last
	}
	r := &sse.Reader{R: body}
	for {
		ev, err := r.Next()
		if err != nil {
			return last
		}
		if ev.HasID {
			last = ev.ID
		}
		check(string(ev.Data))
	}
}

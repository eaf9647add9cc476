package streamable_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// asked is a stream.Events that can be down.
type asked struct {
	stream.Memory
	down bool
}

func (a *asked) After(ctx context.Context, handle string, seq uint64) ([]stream.Event, bool, error) {
	if a.down {
		return nil, false, errors.New("the store is down")
	}
	return a.Memory.After(ctx, handle, seq)
}

// W9.9, P2, D10: a stream whose process has gone is resumed at another one; a
// request that ended with its process fails there.
func TestAStreamIsResumedElsewhere(t *testing.T) {
	events := &asked{}
	b := &adopting{}
	pods(t, b, func(first, other *lab, _ *shaky, _ string) {
		for _, l := range []*lab{first, other} {
			l.server.Events = events
		}
	}, func(first, other *lab, _ *shaky, _ string) {
		var failed []error
		other.server.StoreFailed = func(err error) { failed = append(failed, err) }
		var replays []hook.Replay
		other.server.Observer.Replayed = func(r hook.Replay) { replays = append(replays, r) }
		id := first.ask(call{body: initialize("2025-11-25", `{}`), header: map[string]string{"X-User": "alice"}}).header.Get("Mcp-Session-Id")
		alice := with(on(id), "X-User", "alice")
		from := func(last string) map[string]string { return with(alice, "Last-Event-ID", last) }

		get := first.stream(call{method: "GET", header: alice})
		standalone := get.next().ID
		get.close()
		synctest.Wait()
		s := first.backend.session(len(first.backend.sessions) - 1)
		first.backend.mu.Lock()
		first.backend.serve = progressThenDone
		first.backend.mu.Unlock()
		post := first.stream(call{body: callTool, header: alice})
		answered := post.next().ID
		_, _ = io.ReadAll(post.res.Body)

		first.backend.mu.Lock()
		first.backend.serve = func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
			_ = x.Notify(progress(1))
			<-ctx.Done()
			return dispatch.Outcome{}
		}
		first.backend.mu.Unlock()
		cut := first.stream(call{body: strings.Replace(callTool, `"c1"`, `"c2"`, 1), header: alice})
		unanswered := cut.next().ID
		cut.message()
		again := first.stream(call{method: "GET", header: from(standalone)})
		live := again.next().ID
		_ = s.Notify(note(1))
		again.message()
		_ = s.Notify(note(2))
		again.message()
		if err := first.server.Shutdown(context.Background(), errors.New("the process ends")); err != nil {
			t.Fatal(err)
		}

		r := other.stream(call{method: "GET", header: from(answered)})
		if got := string(r.message().Data); got != string(progress(1)) {
			t.Error(got)
		}
		end := r.message()
		if got := string(end.Data); !strings.Contains(got, `"id":"c1","result"`) {
			t.Error(got)
		}
		r.ended()
		// A client that has all of it and asks for more comes to an end, too.
		r = other.stream(call{method: "GET", header: from(end.ID)})
		lost := r.message()
		r.ended()
		if a := other.ask(call{method: "GET", header: from(lost.ID)}); a.status != 405 {
			t.Errorf("%d", a.status)
		}

		r = other.stream(call{method: "GET", header: from(unanswered)})
		if got := string(r.message().Data); got != string(progress(1)) {
			t.Error(got)
		}
		if got := string(r.message().Data); !strings.Contains(got, `"id":"c2","error"`) {
			t.Error(got)
		}
		r.ended()

		// The standalone stream goes on as one of this process, once.
		r = other.stream(call{method: "GET", header: from(live)})
		r.next()
		for n := 1; n <= 2; n++ {
			if got := string(r.message().Data); got != string(note(n)) {
				t.Error(got)
			}
		}
		_ = b.taken[len(b.taken)-1].Notify(note(3))
		if got := string(r.message().Data); got != string(note(3)) {
			t.Error(got)
		}
		r.close()
		synctest.Wait()
		if _, ok, _ := events.Memory.After(context.Background(), live[:strings.LastIndexByte(live, '.')], 0); ok {
			t.Error("what was taken over is still there")
		}

		events.down = true
		r = other.stream(call{method: "GET", header: from(answered)})
		if got := string(r.message().Data); !strings.Contains(got, "stream_lost") {
			t.Error(got)
		}
		r.ended()
		if len(failed) != 1 {
			t.Error(failed)
		}
		if n := len(replays); n < 4 || replays[0] != hook.ReplayResumed || replays[n-1] != hook.ReplayLost {
			t.Error(replays)
		}
	})
}

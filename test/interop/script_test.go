//go:build peers

package interop

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// actors are the clients of the scripts (P33.15), one of each SDK and era.
func actors() map[string]foreignClient {
	out := map[string]foreignClient{}
	for _, name := range []string{"TypeScript v1", "TypeScript v2, legacy", "TypeScript v2, auto", "go-sdk", "go-sdk, 2025-11-25", "mcp-go"} {
		out[name] = clients()[name]
	}
	return out
}

// sessions tells whether it has sessions, and so GET, DELETE and event ids.
func (f foreignClient) sessions() bool { return f.revision < mcp.Revision20260728 }

// act plays a script at every place with every client; those without sessions
// only where there is something for them.
func act(t *testing.T, stateless bool, script func(t *testing.T, p place, f foreignClient)) {
	t.Parallel()
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for name, f := range actors() {
				if !f.sessions() && !stateless {
					continue
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					script(t, p, f)
				})
			}
		})
	}
}

// P33.15, P10: the stream is opened, and calls are made, before `initialized`
// has arrived; what the server has to say waits for it and then goes there.
func TestGetBeforeInitialized(t *testing.T) {
	act(t, false, func(t *testing.T, p place, f foreignClient) {
		late := &held{}
		s := stages(t, p, tune{}, late.pipe)
		c := f.talks(t, s.url)
		ctx := bounded(t)
		eventually(ctx, t, "the stream is open", func() bool { return s.seen.gets.Load() == 1 })
		c.plain()
		if got := late.letGo(); !slices.Equal(got, []int{http.StatusAccepted}) {
			t.Errorf("initialized was answered with %v", got)
		}
		c.calls("test_trigger_tool_change", nil, "Added")
		eventually(ctx, t, "the change is told on the stream", func() bool { return s.seen.pushed.Load() > 0 })
		f.answers(c)
		c.bye()
		if n := s.seen.opened.Load(); n != 1 {
			t.Errorf("%d streams", n)
		}
	})
}

// P33.15: a client without a stream of its own can do everything that belongs
// to its requests; changes that it cannot hear of do no harm.
func TestGetNever(t *testing.T) {
	act(t, true, func(t *testing.T, p place, f foreignClient) {
		arrived := &watch{}
		s := stages(t, p, tune{}, func(next http.Handler) http.Handler {
			arrived.Handler = next
			return refuse(http.MethodGet, http.StatusMethodNotAllowed)(arrived)
		})
		c := f.talks(t, s.url)
		for _, said := range []string{"Added", "Took", "Added", "Took"} {
			c.calls("test_trigger_tool_change", nil, said)
		}
		if e := c.calls("test_tool_with_progress", nil, ""); e.Progress < f.progress {
			t.Errorf("progress: %d notifications, %s", e.Progress, e.Result)
		}
		f.answers(c)
		c.bye()
		if n := arrived.opened.Load(); n != 0 {
			t.Errorf("%d streams", n)
		}
		given, used := s.seen.ids()
		if !f.sessions() && (s.seen.opened.Load()+s.seen.deletes.Load() != 0 || len(given)+len(used) != 0) {
			t.Errorf("%d GET, %d DELETE, sessions %v %v of a client that has none", s.seen.opened.Load(), s.seen.deletes.Load(), given, used)
		}
	})
}

// P33.15, P3: a GET that is closed again and again, without traffic, leaves a
// client usable.
func TestGetClosedTwentyTimes(t *testing.T) {
	act(t, false, func(t *testing.T, p place, f foreignClient) {
		s := stages(t, p, tune{}, nil)
		c := f.talks(t, s.url)
		ctx := bounded(t)
		for range 20 {
			eventually(ctx, t, "the stream is open and breaks", func() bool { return s.seen.breaks() == 1 })
			eventually(ctx, t, "the stream is closed", func() bool { return s.seen.gets.Load() == 0 })
		}
		c.goesOn("test_simple_text", nil, "This is a simple text response")
		c.bye()
		if n := s.seen.opened.Load(); n < 20 {
			t.Errorf("%d streams", n)
		}
	})
}

// P33.15, P2: a call whose stream broke and cannot be replayed fails as soon as
// the client comes back for it, with the reason, and the session lives. Clients
// that do not come back see their call fail at once, and go on.
func TestLostStream(t *testing.T) {
	act(t, true, func(t *testing.T, p place, f foreignClient) {
		back := gate{make(chan struct{})}
		s := stages(t, p, tune{ring: smallRing}, back.pipe)
		c := f.talks(t, s.url)
		file := filepath.Join(t.TempDir(), "go")
		c.say(order{Do: "call", Name: "flood", Args: map[string]any{"file": file, "n": p.more.n, "size": p.more.size}, Tell: true, TimeoutMs: f.deadlineMs})
		c.next("progress")
		if s.cut.cut() == 0 {
			t.Error("nothing was cut")
		}
		ctx := bounded(t)
		eventually(ctx, t, "the connection is gone", func() bool { return s.seen.posts.Load() == 0 })
		if f.resumes {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			eventually(ctx, t, "more has come than is kept", func() bool {
				_, err := os.Stat(file + ".done")
				return err == nil && s.calls() == 0
			})
		}
		close(back.open)
		begun := time.Now()
		e := c.next("failed")
		if f.resumes && (string(e.Code) != "-32603" || e.Data.Reason != mcp.ReasonStreamLost) {
			t.Errorf("failed with %s", c.out.Bytes())
		}
		if took := time.Since(begun); took > patience/3 {
			t.Errorf("failed after %v: that is no answer but a deadline", took)
		}
		c.goesOn("test_simple_text", nil, "This is a simple text response")
		c.bye()
	})
}

// P33.15, P16: calls that are cancelled when their stream was primed leave
// nothing behind: no stream, no request in flight, no session too many.
func TestCancelAThousandTimes(t *testing.T) {
	act(t, true, func(t *testing.T, p place, f foreignClient) {
		count := 1000
		if f.wordless {
			count = 50 // they are all in flight, and 256 may be
		}
		s := stages(t, p, tune{}, nil)
		c := f.talks(t, s.url)
		c.plain()
		if e := c.ask(order{Do: "cancel", Name: "wait", Count: count}); e.Event != "cancelled" || e.Count != count {
			t.Fatalf("%s", c.out.Bytes())
		}
		ctx := bounded(t)
		s.quiet(ctx, t)
		if n := s.seen.gets.Load(); n > 1 {
			t.Errorf("%d streams are open", n)
		}
		if n := s.streams(); n > 1 && !f.wordless {
			t.Errorf("%d streams are kept", n)
		}
		if n := s.sessions(); f.sessions() && n != 1 || !f.sessions() && n != 0 {
			t.Errorf("%d sessions", n)
		}
		c.plain()
		c.bye()
		// What nobody was told of ends with the session.
		eventually(ctx, t, "nothing is left", func() bool { return s.streams() == 0 && s.sessions() == 0 })
	})
}

// quiet waits until a client does not come back any more. TypeScript comes back
// for what it cancelled, after a second and later, and is told then that there
// is nothing: it is over when nothing has come for longer than that.
func (s *stage) quiet(ctx context.Context, t *testing.T) {
	t.Helper()
	for n := int64(-1); n != s.seen.opened.Load(); {
		n = s.seen.opened.Load()
		select {
		case <-ctx.Done():
			t.Fatalf("it comes back for ever: %d GETs", n)
		case <-time.After(2500 * time.Millisecond):
		}
	}
	eventually(ctx, t, "no request is open", func() bool { return s.seen.posts.Load() == 0 })
}

// P33.15, P10: the session that `initialize` began is that of every request and
// answer after it, and ends with the client.
func TestSessionNeverChanges(t *testing.T) {
	act(t, false, func(t *testing.T, p place, f foreignClient) {
		s := stages(t, p, tune{}, nil)
		c := f.talks(t, s.url)
		for _, what := range []string{"tools", "prompts", "resources", "templates"} {
			if e := c.ask(order{Do: what}); e.Event != what || len(e.Names) == 0 {
				t.Errorf("%s: %s", what, c.out.Bytes())
			}
		}
		if e := c.ask(order{Do: "ping"}); e.Event != "pong" {
			t.Errorf("ping: %s", c.out.Bytes())
		}
		if e := c.ask(order{Do: "call", Name: "no such tool"}); !e.failed() {
			t.Errorf("a tool that is not there answered %s", e.Result)
		}
		f.answers(c)
		c.bye()
		given, used := s.seen.ids()
		if len(given) != 1 || len(used) != 1 {
			t.Errorf("sessions %v were begun, %v used", given, used)
		}
		for id, n := range used {
			if !given[id] || n < 10 {
				t.Errorf("%d requests of session %s; begun was %v", n, id, given)
			}
		}
		if s.seen.deletes.Load() == 0 {
			t.Error("the session was not ended by its client")
		}
		eventually(bounded(t), t, "the session has ended", func() bool { return s.sessions() == 0 })
	})
}

// P33.15, W9.6: a client that comes back for a stream that broke gets the rest
// of it.
func TestResume(t *testing.T) {
	act(t, false, func(t *testing.T, p place, f foreignClient) {
		if !f.resumes {
			t.Log("it does not come back for a stream that broke: see TestLostStream")
			return
		}
		s := stages(t, p, tune{}, nil)
		c := f.talks(t, s.url)
		file := filepath.Join(t.TempDir(), "go")
		c.say(order{Do: "call", Name: "flood", Args: map[string]any{"file": file, "n": 3, "size": 10}, Tell: true})
		c.next("progress")
		s.cut.cut()
		eventually(bounded(t), t, "the connection is gone", func() bool { return s.seen.posts.Load() == 0 })
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		progress := 0
		e := c.next("progress", "result")
		for ; e.Event == "progress"; e = c.next("progress", "result") {
			progress++
		}
		// One that hands progress out beside the result may still come to it.
		if e.failed() || !strings.Contains(string(e.Result), "flooded 3") || progress < 3 && f.progress >= 3 {
			t.Errorf("after %d more notifications: %s", progress, c.out.Bytes())
		}
		if s.seen.resumed.Load() == 0 {
			t.Error("nothing was resumed")
		}
		c.goesOn("test_simple_text", nil, "This is a simple text response")
		c.bye()
	})
}

// W9.6, SEP-1699: a client whose stream the server ends before the answer comes
// back for it.
func TestForeignClientsPoll(t *testing.T) {
	t.Parallel()
	for name, f := range actors() {
		if !f.sessions() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := around(t, inProcess(t, tune{}), counts{}, nil)
			c := f.talks(t, s.url)
			c.calls("test_reconnection", nil, "Answered after the connection was let go")
			if s.seen.resumed.Load() == 0 {
				t.Error("nothing was resumed")
			}
			c.bye()
		})
	}
}

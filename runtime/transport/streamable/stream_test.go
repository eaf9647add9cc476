package streamable_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

const callTool = `{"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"name":"slow","_meta":{"progressToken":0}}}`

var modernCall = `{"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"name":"slow",` + envelope + `}}`

func progress(n int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":0,"progress":%d}}`, n)
}

// held is a backend whose calls wait for the test.
type held struct {
	backend
	exchanges chan *dispatch.Exchange
	release   chan dispatch.Outcome
	ended     chan error // causes of contexts that ended
}

func hold() *held {
	h := &held{exchanges: make(chan *dispatch.Exchange, 10), release: make(chan dispatch.Outcome), ended: make(chan error, 10)}
	return h
}

func (h *held) handle(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	h.exchanges <- x
	select {
	case o := <-h.release:
		return o
	case <-ctx.Done():
		h.ended <- context.Cause(ctx)
		return dispatch.Result([]byte(`{"late":true}`))
	}
}

// inHeldLab makes the channels inside the bubble.
func inHeldLab(t *testing.T, f func(l *lab, h *held)) {
	t.Helper()
	b := &backend{}
	inLab(t, b, func(l *lab) {
		h := hold()
		b.serve = h.handle
		f(l, h)
	})
}

func done(text string) dispatch.Outcome { return dispatch.Result([]byte(`{"done":"` + text + `"}`)) }

// R18, W14.8, C17, P34: the head and the ids of event streams. W9.10, W14.7.
func TestStreamHeads(t *testing.T) {
	b := &backend{serve: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
		_ = x.Notify(progress(1))
		return done("x")
	}}
	inLab(t, b, func(l *lab) {
		for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
			c := call{body: callTool}
			if revision == "2026-07-28" {
				c = call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow")}
			} else {
				c.header = on(l.connect(revision, "{}"))
			}
			c.header = with(c.header, "Accept-Encoding", "gzip, br")
			s := l.stream(c)
			h := s.res.Header
			if h.Get("X-Accel-Buffering") != "no" || h.Get("Cache-Control") != "no-cache, no-transform" || h.Get("Content-Encoding") != "" {
				t.Errorf("%s: %v", revision, h)
			}
			text, _ := io.ReadAll(s.res.Body)
			events := parse(string(text))
			ids := map[string]bool{}
			for _, e := range events {
				if e.HasID {
					ids[e.ID] = true
				}
			}
			switch revision {
			case "2026-07-28": // no id and no retry field
				if len(events) != 2 || len(ids) != 0 || strings.Contains(string(text), "retry") || strings.Contains(string(text), "id:") {
					t.Errorf("%s: %q", revision, text)
				}
			case "2025-11-25": // W9.4, W9.5: the connection may break before anybody could say when to come back
				if len(events) != 3 || len(ids) != 3 || len(events[0].Data) != 0 || events[0].Name != "" || events[0].RetryMS != 1000 {
					t.Errorf("%s: %q", revision, text)
				}
			default: // never empty data before 2025-11-25
				if len(events) != 3 || len(ids) != 3 || events[0].Name != "fairlead.prime" || string(events[0].Data) != "{}" || strings.Contains(string(text), "retry") {
					t.Errorf("%s: %q", revision, text)
				}
			}
			s.close()
		}
	})
}

// W14.18, B2.4, P4, W8.4, W14.3: when an answer becomes a stream, which then
// lasts until its response (W8.7).
func TestWhenAnswersBecomeStreams(t *testing.T) {
	tests := map[string]struct {
		revision, capabilities, method string
		after                          time.Duration
	}{
		"tools/call with ids":              {"2025-11-25", "{}", "tools/call", time.Second},
		"tools/call without early streams": {"2025-06-18", "{}", "tools/call", 15 * time.Second},
		"a list":                           {"2025-11-25", "{}", "tools/list", 15 * time.Second},
		"a client that can be asked":       {"2025-06-18", `{"sampling":{}}`, "tools/call", 100 * time.Millisecond}, // W38.9: a refusal comes before
		"a list of a client that can be":   {"2025-06-18", `{"sampling":{}}`, "tools/list", 15 * time.Second},
		"a modern call":                    {"2026-07-28", "", "tools/call", 15 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inHeldLab(t, func(l *lab, h *held) {
				body := `{"jsonrpc":"2.0","id":1,"method":"` + tt.method + `","params":{"name":"n"` + "," + envelope + `}}`
				header := modern(tt.method, "Mcp-Name", "n")
				if tt.revision != "2026-07-28" {
					header = on(l.connect(tt.revision, tt.capabilities))
					body = `{"jsonrpc":"2.0","id":1,"method":"` + tt.method + `","params":{"name":"n"}}`
				}
				began := time.Now()
				s := l.stream(call{body: body, header: header})
				if took := time.Since(began); took != tt.after {
					t.Errorf("a stream after %v, want %v", took, tt.after)
				}
				h.release <- done("x")
				if got := string(s.message().Data); got != `{"jsonrpc":"2.0","id":1,"result":{"done":"x"}}` {
					t.Error(got)
				}
				s.ended()
			})
		})
	}
}

// R1: a client that takes only JSON gets the final message, however long it
// takes, and cannot be asked.
func TestJSONOnly(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		id := l.connect("2025-11-25", `{"sampling":{}}`)
		go func() {
			x := <-h.exchanges
			time.Sleep(time.Minute)
			if err := x.Notify(progress(1)); !errors.Is(err, dispatch.ErrNoChannel) {
				t.Errorf("Notify: %v", err)
			}
			if o := x.Call(x.Context(), "sampling/createMessage", []byte(`{}`)); o.Err == nil || o.Err.Reason() != "no_capability" {
				t.Errorf("Call: %+v", o)
			}
			h.release <- done("x")
		}()
		a := l.ask(call{body: callTool, header: with(on(id), "Accept", "application/json")})
		if a.status != 200 || a.header.Get("Content-Type") != "application/json" || a.body != `{"jsonrpc":"2.0","id":"c1","result":{"done":"x"}}` {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
		if l.drops() != 1 {
			t.Errorf("%d drops", l.drops())
		}
	})
}

// W14.9, P33.10: a stream of 26 hours with nothing but keep-alives. W30.17.
func TestLongStream(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		l.settings(func(s *streamable.Settings) { s.RequestTimeout = 30 * time.Hour })
		s := l.stream(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow")})
		go func() {
			time.Sleep(26 * time.Hour)
			h.release <- done("x")
		}()
		text, err := io.ReadAll(s.res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), ": keep-alive\n\n"); n < 6239 || n > 6240 {
			t.Errorf("%d keep-alives in 26 hours", n)
		}
		if events := parse(string(text)); len(events) != 1 {
			t.Errorf("%d events", len(events))
		}
		// The connection is usable afterwards.
		if a := l.ask(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "nope")}); a.status != 400 {
			t.Errorf("%d", a.status)
		}
	})
}

// P9: a payload of several lines is one event.
func TestPrettyPayloadIsOneEvent(t *testing.T) {
	b := &backend{serve: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
		_ = x.Notify([]byte("{\n  \"jsonrpc\": \"2.0\",\r\n  \"method\": \"notifications/x\"\n}"))
		return dispatch.Result([]byte("{\n  \"a\": [\n 1,\n 2 ]\n}"))
	}}
	inLab(t, b, func(l *lab) {
		s := l.stream(call{body: callTool, header: on(l.connect("2025-11-25", "{}"))})
		if got := string(s.message().Data); got != `{"jsonrpc": "2.0","method": "notifications/x"}` {
			t.Errorf("%q", got)
		}
		if got := string(s.message().Data); got != `{"jsonrpc":"2.0","id":"c1","result":{"a": [1,2 ]}}` {
			t.Errorf("%q", got)
		}
	})
}

// P18: a reader that stalls ends its own stream and delays nobody.
func TestStalledReader(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		id := l.connect("2025-11-25", "{}")
		stalled := l.stream(call{body: callTool, header: on(id)})
		prime := stalled.next()
		x := <-h.exchanges
		for i := range 300 {
			if err := x.Notify(progress(i)); err != nil {
				t.Fatalf("notification %d: %v", i, err) // never an error where ids let the client come back
			}
		}
		h.release <- done("x")
		time.Sleep(11 * time.Second) // the write deadline
		if a := l.ask(call{body: list, header: on(l.connect("2025-11-25", "{}"))}); a.status != 0 && a.status != 200 {
			t.Errorf("others: %d", a.status)
		}
		// 256 events are kept: what came before is lost, and said so.
		a := l.ask(call{method: "GET", header: with(on(id), "Last-Event-ID", prime.ID)})
		if a.status != 200 || a.code() != "-32603" || !strings.Contains(a.body, "stream_lost") || !strings.Contains(a.body, `"id":"c1"`) {
			t.Errorf("%d %s", a.status, a.body)
		}
		stalled.close()
	})
	inHeldLab(t, func(l *lab, h *held) {
		s := l.stream(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow")})
		x := <-h.exchanges
		var err error
		for i := 0; err == nil && i < 1000; i++ {
			err = x.Notify(progress(i))
		}
		if err == nil {
			t.Error("a stream without ids took 1000 messages that nobody reads")
		}
		time.Sleep(11 * time.Second)
		if cause := <-h.ended; !errors.Is(cause, dispatch.ErrDisconnected) {
			t.Errorf("cause %v", cause)
		}
		s.close()
	})
}

// P18: a producer that serves one stream alone may wait for its reader.
func TestNotifyWait(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		s := l.stream(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow")})
		x := <-h.exchanges
		go func() {
			for i := range 1000 {
				if err := x.NotifyWait(x.Context(), progress(i)); err != nil {
					t.Errorf("notification %d: %v", i, err)
					break
				}
			}
			h.release <- done("x")
		}()
		for i := range 1000 {
			if got := string(s.message().Data); got != string(progress(i)) {
				t.Fatalf("message %d: %s", i, got)
			}
		}
		s.message()
		s.ended()
	})
}

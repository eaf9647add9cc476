package streamable_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

func note(n int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`, n)
}

// P4: the head of a GET goes out at once, with a comment; P3: and an event
// with an id. W8.12, W8.11.
func TestGetHead(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		for revision, want := range map[string][2]string{
			"2025-06-18": {"", "event: fairlead.prime\ndata: {}\n\n"},
			"2025-11-25": {"retry: 1000\n", "data: \n\n"},
		} {
			id := l.connect(revision, "{}")
			began := time.Now()
			res := l.do(call{method: "GET", header: on(id)})
			buf := make([]byte, 1024)
			n, err := res.Body.Read(buf)
			text := string(buf[:n])
			if err != nil || time.Since(began) != 0 || !strings.HasPrefix(text, ": ok\n\n"+want[0]+"id: ") || !strings.HasSuffix(text, "\n"+want[1]) {
				t.Errorf("%s: %q after %v, %v", revision, text, time.Since(began), err)
			}
			_ = res.Body.Close()
		}
	})
}

// P3, B15.3: several GETs; the newest live one gets what is unsolicited, and no
// message goes to two (W8.16). W8.13, W8.15.
func TestSeveralGets(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		s := b.session(0)
		first := l.stream(call{method: "GET", header: on(id)})
		first.next()
		_ = s.Notify(note(1))
		second := l.stream(call{method: "GET", header: on(id)})
		second.next()
		_ = s.Notify(note(2))
		if got := string(first.message().Data); got != string(note(1)) {
			t.Error(got)
		}
		if got := string(second.message().Data); got != string(note(2)) {
			t.Error(got)
		}
		second.close()
		synctest.Wait()
		_ = s.Notify(note(3))
		if got := string(first.message().Data); got != string(note(3)) {
			t.Error(got)
		}
		// A fifth ends the oldest one, with a fresh id last.
		var more []*events
		for range 4 {
			e := l.stream(call{method: "GET", header: on(id)})
			e.next()
			more = append(more, e)
		}
		if last := first.next(); last.RetryMS != 1000 || !last.HasID {
			t.Errorf("the oldest ended with %+v", last)
		}
		first.ended()
		_ = s.Notify(note(4))
		if got := string(more[3].message().Data); got != string(note(4)) {
			t.Error(got)
		}
		for _, e := range more {
			e.close()
		}
	})
}

// P3: a client whose GET is closed again and again, with no traffic at all,
// sees a new id each time; that is what keeps go-sdk's session alive.
func TestGetClosedTwentyTimes(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		seen, last := map[string]bool{}, ""
		for range 20 {
			header := on(id)
			if last != "" {
				header = with(header, "Last-Event-ID", last)
			}
			e := l.stream(call{method: "GET", header: header})
			ev := e.next()
			if !ev.HasID || seen[ev.ID] {
				t.Fatalf("no fresh id: %+v", ev)
			}
			seen[ev.ID], last = true, ev.ID
			e.close()
			synctest.Wait()
		}
		if a := l.ask(call{body: list, header: on(id)}); a.status != 200 {
			t.Errorf("%d", a.status)
		}
	})
}

// P3, B10.12: without a GET unsolicited messages wait, within bounds.
func TestUnsolicitedMessagesWait(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		s := b.session(0)
		for i := range 300 {
			if err := s.Notify(note(i)); err != nil {
				t.Fatal(err)
			}
		}
		if l.drops() != 300-256 {
			t.Errorf("%d dropped", l.drops())
		}
		e := l.stream(call{method: "GET", header: on(id)})
		for i := 300 - 256; i < 300; i++ {
			if got := string(e.message().Data); got != string(note(i)) {
				t.Fatalf("got %s, want %d", got, i)
			}
		}
		e.close()
		synctest.Wait()
		for range 3 {
			_ = s.Notify([]byte(`{"x":"` + strings.Repeat("a", 600<<10) + `"}`))
		}
		if l.drops() != 300-256+2 {
			t.Errorf("%d dropped", l.drops())
		}
	})
}

// P2: the table of resumes. W9.1, W9.3, W9.6, W9.7, W9.8, W9.9.
func TestResume(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		b.serve = nil
		id, other := l.connect("2025-11-25", "{}"), l.connect("2025-11-25", "{}")
		s := b.session(0)
		get := l.stream(call{method: "GET", header: on(id)})
		standalone := get.next().ID
		b.mu.Lock()
		b.serve = progressThenDone
		b.mu.Unlock()
		post := l.stream(call{body: callTool, header: on(id)})
		posted := post.next().ID
		_, _ = io.ReadAll(post.res.Body)

		live := func(name, last string) {
			e := l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", last)})
			if ev := e.next(); !ev.HasID || len(ev.Data) != 0 {
				t.Errorf("%s: first event %+v", name, ev)
			}
			_ = s.Notify(note(1))
			if got := string(e.message().Data); got != string(note(1)) {
				t.Errorf("%s: %s", name, got)
			}
			e.close()
			synctest.Wait()
		}
		live("garbage", "not-a-handle")
		live("only a dot", ".")
		live("a number alone", "7")
		live("a broken sequence", standalone+"x")
		live("a flipped handle", "A"+standalone[1:])
		foreign := l.stream(call{method: "GET", header: on(other)})
		live("another session's stream", foreign.next().ID)
		foreign.close()
		// Of the standalone stream: go live, and take over the old connection.
		live("its own standalone stream", standalone)
		get.ended()

		// Of a request's stream: that stream, and nothing of any other (W9.8).
		_ = s.Notify(note(2))
		r := l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", posted)})
		if got := string(r.message().Data); got != string(progress(1)) {
			t.Error(got)
		}
		if got := string(r.message().Data); !strings.Contains(got, "done") {
			t.Error(got)
		}
		r.ended()
		// Beyond its end there is nothing, and no stream to wait on: a client
		// that asks all the same must stop.
		handle := posted[:strings.LastIndexByte(posted, '.')]
		for _, seq := range []string{".3", ".4", ".18446744073709551615"} {
			if a := l.ask(call{method: "GET", header: with(on(id), "Last-Event-ID", handle+seq)}); a.status != 405 {
				t.Errorf("%s: %d", seq, a.status)
			}
		}
		// After it was forgotten: the request fails instead of waiting.
		time.Sleep(5*time.Minute + time.Second)
		r = l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", posted)})
		lost := r.message()
		if got := string(lost.Data); !strings.Contains(got, `"id":"c1","error"`) || !strings.Contains(got, "stream_lost") {
			t.Error(got)
		}
		r.ended()
		if a := l.ask(call{method: "GET", header: with(on(id), "Last-Event-ID", lost.ID)}); a.status != 405 {
			t.Errorf("and once more: %d", a.status)
		}
		// Of an ended session: 404, whatever the handle.
		l.ask(call{method: "DELETE", header: on(id)})
		if a := l.ask(call{method: "GET", header: with(on(id), "Last-Event-ID", posted)}); a.status != 404 {
			t.Errorf("%d", a.status)
		}
	})
}

// P2: a stream that is pushed out by later ones while it is taken up is lost
// like one that was not there. Without a word the TypeScript SDK would come back
// for a standalone stream.
func TestResumeOfAStreamThatGoes(t *testing.T) {
	inLab(t, &backend{serve: progressThenDone}, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		var once sync.Once
		l.server.Observer.Replayed = func(r hook.Replay) {
			if r == hook.ReplayResumed {
				once.Do(func() {
					for range session.MaxRetained + 1 {
						l.ask(call{body: callTool, header: on(id)})
					}
				})
			}
		}
		post := l.stream(call{body: callTool, header: on(id)})
		posted := post.next().ID
		_, _ = io.ReadAll(post.res.Body)
		r := l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", posted)})
		lost := r.message()
		if got := string(lost.Data); !strings.Contains(got, `"id":"c1","error"`) || !strings.Contains(got, "stream_lost") || !lost.HasID {
			t.Errorf("%s, id %q", got, lost.ID)
		}
		r.ended()
	})
}

// P2: of two readers of one stream the newest wins.
func TestResumeTakesOver(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		id := l.connect("2025-11-25", "{}")
		first := l.stream(call{body: callTool, header: on(id)})
		last := first.next()
		x := <-h.exchanges
		second := l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", last.ID)})
		second.next()
		first.ended()
		_ = x.Notify(progress(1))
		if got := string(second.message().Data); got != string(progress(1)) {
			t.Error(got)
		}
		h.release <- done("x")
		second.message()
		second.ended()
	})
}

// P2: a standalone stream's client that comes back gets what it missed.
func TestStandaloneReplay(t *testing.T) {
	b := &backend{}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		s := b.session(0)
		e := l.stream(call{method: "GET", header: on(id)})
		e.next()
		_ = s.Notify(note(1))
		got := e.message()
		_ = s.Notify(note(2)) // written, but say that the client never saw it
		synctest.Wait()
		e.close()
		synctest.Wait()
		_ = s.Notify(note(3)) // waits in the queue
		r := l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", got.ID)})
		for _, want := range []int{2, 3} {
			if got := string(r.message().Data); got != string(note(want)) {
				t.Errorf("got %s, want %d", got, want)
			}
		}
		r.close()
	})
}

// P2: ids of more than 64 bytes do not travel in handles.
func TestResumeWithLongID(t *testing.T) {
	b := &backend{serve: progressThenDone}
	inLab(t, b, func(l *lab) {
		id := l.connect("2025-11-25", "{}")
		long := `"` + strings.Repeat("x", 5000) + `"`
		s := l.stream(call{body: strings.Replace(callTool, `"c1"`, long, 1), header: on(id)})
		prime := s.next()
		if len(prime.ID) > 600 {
			t.Errorf("an event id of %d bytes", len(prime.ID))
		}
		_, _ = io.ReadAll(s.res.Body)
		time.Sleep(6 * time.Minute)
		r := l.stream(call{method: "GET", header: with(on(id), "Last-Event-ID", prime.ID)})
		r.ended()
	})
}

// P24: a drain ends standalone streams spread out, each with the time to come
// back and a fresh id last, and lets requests finish. W9.5.
func TestDrain(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		var gets []*events
		for range 20 {
			e := l.stream(call{method: "GET", header: on(l.connect("2025-11-25", "{}"))})
			e.next()
			gets = append(gets, e)
		}
		old := l.stream(call{method: "GET", header: on(l.connect("2025-06-18", "{}"))})
		old.next()
		id := l.connect("2025-06-18", "{}")
		running := make(chan answerTo)
		go func() { running <- l.ask(call{body: callTool, header: on(id)}) }()
		<-h.exchanges
		began := time.Now()
		l.server.Drain(10 * time.Second)
		l.server.Drain(time.Hour) // only the first counts
		ended := make(chan time.Duration)
		for _, e := range gets {
			go func() {
				if last := e.next(); last.RetryMS != 1000 || !last.HasID || len(last.Data) != 0 {
					t.Errorf("ended with %+v", last)
				}
				e.ended()
				ended <- time.Since(began).Truncate(time.Second)
			}()
		}
		ends := map[time.Duration]int{}
		for range gets {
			ends[<-ended]++
		}
		if took := time.Since(began); took > 10*time.Second || len(ends) < 3 {
			t.Errorf("streams ended at %v, all after %v", ends, took)
		}
		if last := old.next(); !last.HasID || last.Name != "fairlead.prime" || last.RetryMS != -1 { // retry is 2025-11-25's
			t.Errorf("%+v", last)
		}
		old.ended()
		if a := l.ask(call{body: initialize("2025-11-25", "{}")}); a.status != 503 || !a.last {
			t.Errorf("initialize: %d %v", a.status, a.header)
		}
		if a := l.ask(call{body: `{"jsonrpc":"2.0","id":"p","method":"ping"}`, header: on(id)}); a.status != 200 || !a.last {
			t.Errorf("an open session: %d %v", a.status, a.header)
		}
		go func() { h.release <- done("x") }()
		if a := <-running; !strings.Contains(a.body, "done") || !a.last {
			t.Errorf("the running call: %v", a)
		}
		// A client that comes back all the same is served, shortly.
		e := l.stream(call{method: "GET", header: on(id)})
		e.next()
		e.next()
		e.ended()
	})
}

// What is cut gets its last words.
func TestCut(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		id := l.connect("2025-06-18", "{}")
		answers := make(chan answerTo, 2)
		go func() { answers <- l.ask(call{body: callTool, header: on(id)}) }()
		go func() { answers <- l.ask(call{body: modernCall, header: modern("tools/call", "Mcp-Name", "slow")}) }()
		<-h.exchanges
		<-h.exchanges
		get := l.stream(call{method: "GET", header: on(id)})
		ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
		defer cancel()
		if err := l.server.Shutdown(ctx, context.Canceled); err != nil {
			t.Error(err)
		}
		for range 2 {
			if a := <-answers; a.code() != "-32603" || !strings.Contains(a.body, `"reason":"draining"`) {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		get.ended()
		if n := l.server.Sessions(); n != 0 {
			t.Errorf("%d sessions", n)
		}
	})
}

// P33.2: streams are bounded; a POST then stays without one.
func TestStreamLimit(t *testing.T) {
	inHeldLab(t, func(l *lab, h *held) {
		l.server.StreamLimits = stream.Limits{Open: 2}
		id := l.connect("2025-11-25", "{}")
		var open []*events
		for range 2 {
			open = append(open, l.stream(call{method: "GET", header: on(id)}))
		}
		if a := l.ask(call{method: "GET", header: on(id)}); a.status != 503 {
			t.Errorf("%d", a.status)
		}
		go func() {
			x := <-h.exchanges
			time.Sleep(time.Minute)
			_ = x.Notify(progress(1))
			h.release <- done("x")
		}()
		a := l.ask(call{body: callTool, header: on(id)})
		if a.status != 200 || a.header.Get("Content-Type") != "application/json" || !strings.Contains(a.body, "done") {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
		for _, e := range open {
			e.close()
		}
	})
}

// A request that cannot be cut, because its body is still coming, does not hold
// Shutdown longer than it was given.
func TestShutdownIsBounded(t *testing.T) {
	inLab(t, &backend{}, func(l *lab) {
		conn, err := l.memory.Dial(l.t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(l.t.Context(), time.Second)
		defer cancel()
		if err := l.server.Shutdown(ctx, context.Canceled); err != context.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
		_ = conn.Close()
		if err := l.server.Shutdown(l.t.Context(), context.Canceled); err != nil {
			t.Error(err)
		}
	})
}

package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

func params(key, principal string) session.Params {
	p, _ := mcp.Lookup("2025-11-25")
	return session.Params{Key: key, Principal: principal, Profile: p}
}

func start(t *testing.T, r *session.Registry, key, principal string) *session.Session {
	t.Helper()
	s, err := r.New(params(key, principal))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRegistry(t *testing.T) {
	var began, ended, removed []string
	r := &session.Registry{Streams: &stream.Store{}, Removed: func(key string) { removed = append(removed, key) }, Max: func() int { return 3 }, MaxPerPrincipal: func() int { return 2 }, Binding: "streamable",
		Observer: &hook.Observer{
			SessionStarted: func(s hook.Session) { began = append(began, s.Revision+s.Binding) },
			SessionEnded:   func(_ hook.Session, e hook.SessionEnd) { ended = append(ended, string(e.Reason)) },
		}}
	a := start(t, r, "a", "alice")
	start(t, r, "b", "alice")
	for name, tt := range map[string]struct {
		p    session.Params
		want error
	}{"a key twice": {params("a", "bob"), session.ErrExists}, "a third of one principal": {params("c", "alice"), session.ErrPrincipal}} {
		if _, err := r.New(tt.p); err != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	start(t, r, "c", "bob")
	if _, err := r.New(params("d", "bob")); err != session.ErrFull {
		t.Errorf("got %v", err)
	}
	if got, ok := r.Find("a", "alice"); !ok || got != a {
		t.Error("not found")
	}
	for _, who := range []string{"bob", ""} { // B0.6
		if _, ok := r.Find("a", who); ok {
			t.Errorf("found by %q", who)
		}
	}
	told := 0
	a.Own("owner", func(error) { told++ })
	mine := errors.New("mine")
	a.End(hook.EndDeleted, mine)
	a.End(hook.EndServer, nil)
	a.Close(mine)
	if told != 1 || context.Cause(a.Context()) != mine || a.Owner() != "owner" {
		t.Errorf("told %d times, cause %v", told, context.Cause(a.Context()))
	}
	if _, ok := r.Find("a", "alice"); ok || a.Enter() {
		t.Error("still there")
	}
	if err := a.Push([]byte("x")); err != session.ErrClosed {
		t.Errorf("Push: %v", err)
	}
	if _, err := a.OpenStandalone("h", nil, 0); err != session.ErrClosed {
		t.Errorf("OpenStandalone: %v", err)
	}
	if _, err := a.Carrier(t.Context()); err != session.ErrClosed {
		t.Errorf("Carrier: %v", err)
	}
	start(t, r, "d", "alice") // room again
	r.Stop()
	if _, err := r.New(params("e", "x")); err != session.ErrStopped {
		t.Errorf("got %v", err)
	}
	r.CloseAll(hook.EndShutdown, mine)
	slices.Sort(removed)
	if fmt.Sprint(removed) != "[a b c d]" {
		t.Errorf("told of the removal of %v", removed)
	}
	if r.Len() != 0 || len(began) != 4 || fmt.Sprint(ended) != "[deleted shutdown shutdown shutdown]" || began[0] != "2025-11-25streamable" {
		t.Errorf("%d left, %v, %v", r.Len(), began, ended)
	}
}

func TestSessionState(t *testing.T) {
	r := &session.Registry{Streams: &stream.Store{}}
	s := start(t, r, "k", "p")
	defer s.Close(nil)
	if string(s.ClientCapabilities()) != "{}" || s.ClientInfo() != nil || s.Revision() != "2025-11-25" || s.Key() != "k" || s.Principal() != "p" {
		t.Error("params")
	}
	if s.Value() != nil {
		t.Error("a value from nowhere")
	}
	s.SetValue(7)
	if s.Value() != 7 {
		t.Error("value")
	}
}

// The second message counts as use even when it comes before the end of the
// first, which is initialize.
func TestHandshakeTimeEndsWithTheSecondMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &session.Registry{Streams: &stream.Store{}}
		s := start(t, r, "k", "")
		s.Enter() // initialize
		s.Enter() // a quick client
		s.Leave()
		s.Leave()
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		if s.Context().Err() != nil {
			t.Error("ended early")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if context.Cause(s.Context()) != session.ErrIdle {
			t.Errorf("cause %v", context.Cause(s.Context()))
		}
	})
}

// A session that is used now and then while its clock runs out again and again
// ends only after a whole idle time.
func TestIdleClockUnderUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &session.Registry{Streams: &stream.Store{}, Idle: func() time.Duration { return 10 * time.Minute }}
		s := start(t, r, "k", "")
		s.Enter()
		s.Leave()
		for range 50 {
			time.Sleep(7 * time.Minute / 10)
			if !s.Enter() {
				t.Fatal("ended in use")
			}
			s.Leave()
		}
		began := time.Now()
		<-s.Context().Done()
		if took := time.Since(began); took != 10*time.Minute {
			t.Errorf("ended after %v", took)
		}
	})
}

// P3: what is kept for resumes is bounded per session.
// A clock that runs for longer than a session may be idle now does not keep it.
func TestIdleClockThatIsMadeShorter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, idle := time.Now(), time.Hour
		r := &session.Registry{Streams: &stream.Store{}, Idle: func() time.Duration { return idle }}
		s := start(t, r, "k", "")
		for _, want := range []time.Duration{time.Hour, 30 * time.Second, 20 * time.Second, 10 * time.Minute} {
			idle = want
			s.Enter()
			time.Sleep(time.Second)
			s.Leave()
		}
		idle = 5 * time.Second
		s.Enter()
		s.Leave()
		<-s.Context().Done()
		if took := time.Since(began); took != 9*time.Second || context.Cause(s.Context()) != session.ErrIdle {
			t.Errorf("ended after %v by %v", took, context.Cause(s.Context()))
		}
	})
}

func TestRetainedStreamsAreBounded(t *testing.T) {
	r := &session.Registry{Streams: &stream.Store{}}
	s := start(t, r, "k", "")
	first := ""
	for i := range session.MaxRetained + 5 {
		st, err := s.OpenAnswer(fmt.Sprintf("a%d", i))
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = st.Handle()
		}
		_ = st.SendLast([]byte("x"))
		st, err = s.OpenStandalone(fmt.Sprintf("s%d", i), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.CloseStandalone(st)
	}
	if st, _ := s.Lookup(first); st != nil {
		t.Error("the oldest is still there")
	}
	if st, standalone := s.Lookup("s30"); st == nil || !standalone {
		t.Error("a newer one is not")
	}
	if st, standalone := s.Lookup("a30"); st == nil || standalone {
		t.Error("a newer one is not")
	}
	s.Close(nil)
	if used := r.Streams.Budget.Used(); used > 97*session.MaxRetained {
		t.Errorf("%d bytes", used)
	}
	for _, handle := range []string{"s30", "a30"} {
		if st, _ := s.Lookup(handle); st != nil {
			t.Error("an ended session has streams")
		}
	}
}

// P3, P18: what nobody reads is bounded, counted by the budget, and gone with
// the session.
func TestWhatNobodyReadsIsBounded(t *testing.T) {
	var lost int
	r := &session.Registry{
		Streams:  &stream.Store{Budget: &stream.Budget{}},
		Observer: &hook.Observer{Dropped: func(hook.Drop) { lost++ }},
	}
	s := start(t, r, "k", "")
	for i := range session.MaxQueue + 10 {
		if err := s.Push(fmt.Appendf(nil, "%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	used := r.Streams.Budget.Used()
	if lost != 10 || used == 0 {
		t.Errorf("%d lost, %d bytes held", lost, used)
	}
	st, err := s.OpenStandalone("h", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := st.Attach(0)
	if err != nil {
		t.Fatal(err)
	}
	if events, _ := reader.Take(); len(events) != session.MaxQueue || string(events[0].Data) != "10" {
		t.Errorf("%d events", len(events))
	}
	reader.Close()
	s.CloseStandalone(st)
	big := bytes.Repeat([]byte("x"), session.MaxQueueBytes/4)
	for range 10 {
		_ = s.Push(big)
	}
	if held := r.Streams.Budget.Used() - used; held < session.MaxQueueBytes/2 || held > session.MaxQueueBytes+1000 {
		t.Errorf("%d bytes of large messages held", held)
	}
	other := start(t, r, "l", "")
	_ = other.Push(big)
	s.Close(nil)
	other.Close(nil)
	if used := r.Streams.Budget.Used(); used != 0 {
		t.Errorf("%d bytes after the end", used)
	}
}

// Streams come and go while messages are pushed: none is lost, none comes
// twice (W8.16).
func TestPushWhileStreamsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &session.Registry{Streams: &stream.Store{}}
		s := start(t, r, "k", "")
		var (
			mu  sync.Mutex
			got = map[string]int{}
			wg  sync.WaitGroup
		)
		stop := make(chan struct{})
		for i := range 3 {
			wg.Go(func() {
				for n := 0; ; n++ {
					st, err := s.OpenStandalone(fmt.Sprintf("%d-%d", i, n), nil, 0)
					if err != nil {
						return
					}
					reader, err := st.Attach(0)
					if err != nil {
						return
					}
					s.Arrived()
					for read := 0; read < 5; {
						select {
						case <-reader.Ready():
						case <-stop:
						}
						events, end := reader.Take()
						mu.Lock()
						for _, e := range events {
							got[string(e.Data)]++
						}
						mu.Unlock()
						read += len(events)
						if end != nil {
							return
						}
						select {
						case <-stop:
							read = 5
						default:
						}
					}
					// Closed for pushes first: what came in between is read.
					s.CloseStandalone(st)
					events, _ := reader.Take()
					mu.Lock()
					for _, e := range events {
						got[string(e.Data)]++
					}
					mu.Unlock()
					reader.Close()
					select {
					case <-stop:
						return
					default:
					}
				}
			})
		}
		for i := range 200 {
			_ = s.Push(fmt.Appendf(nil, "%d", i))
			if i%10 == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		close(stop)
		wg.Wait()
		last, err := s.OpenStandalone("last", nil, 0) // what waits in the queue
		if err != nil {
			t.Fatal(err)
		}
		reader, _ := last.Attach(0)
		events, _ := reader.Take()
		for _, e := range events {
			got[string(e.Data)]++
		}
		reader.Close()
		for i := range 200 {
			if n := got[fmt.Sprint(i)]; n != 1 {
				t.Errorf("message %d came %d times", i, n)
			}
		}
		s.Close(nil)
	})
}

func TestCarrierWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &session.Registry{Streams: &stream.Store{}}
		s := start(t, r, "k", "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Carrier(ctx); err != context.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
		found := make(chan session.Sender)
		for range 2 {
			go func() {
				st, _ := s.Carrier(t.Context())
				found <- st
			}()
		}
		synctest.Wait()
		post, _ := s.OpenAnswer("post")
		reader, _ := post.Attach(0)
		s.Arrived()
		if a, b := <-found, <-found; a != post || b != post {
			t.Error("another stream")
		}
		get, _ := s.OpenStandalone("get", nil, 0)
		if st, _ := s.Carrier(t.Context()); st != post { // nobody reads the GET yet
			t.Error("a stream that nobody reads")
		}
		getReader, _ := get.Attach(0)
		if st, _ := s.Carrier(t.Context()); st != get {
			t.Error("not the GET stream")
		}
		getReader.Close()
		reader.Close()
		go func() {
			_, err := s.Carrier(t.Context())
			if err != session.ErrClosed {
				t.Errorf("got %v", err)
			}
			found <- nil
		}()
		synctest.Wait()
		s.Close(nil)
		<-found
		post.Drop()
	})
}

func TestListening(t *testing.T) { // P15
	synctest.Test(t, func(t *testing.T) {
		s := start(t, &session.Registry{Streams: &stream.Store{}}, "k", "")
		if s.Listening() {
			t.Error("listens before there is a stream")
		}
		st, err := s.OpenStandalone("h", nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		reader, err := st.Attach(0)
		if err != nil {
			t.Fatal(err)
		}
		if !s.Listening() {
			t.Error("a stream that is read does not count")
		}
		reader.Close()
		if s.Listening() {
			t.Error("a stream that nobody reads counts")
		}
		s.Close(nil)
	})
}

package http

import (
	"context"
	"errors"
	"fmt"
	nethttp "net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

func open(t *testing.T, w *Workload) upstream.Leg {
	t.Helper()
	l, err := w.OpenSession(t.Context(), upstream.SessionRequest{Params: upstream.InitializeParams(upstream.Key{})})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait() // its standalone GET is open
	return l
}

func call(t *testing.T, l upstream.Leg, method, params string) string {
	t.Helper()
	r := peer.Request{Method: method}
	if params != "" {
		r.Params = []byte(params)
	}
	a, err := l.Call(t.Context(), r)
	switch {
	case err != nil:
		return "error " + string(peer.ReasonOf(err))
	case a.Err != nil:
		return "rpc " + a.Err.Message
	}
	return string(a.Result)
}

func TestEachSessionIsOneOfTheWorkloads(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, w *Workload, s *server) { // R23
		a, b := open(t, w), open(t, w)
		if got := call(t, a, "x", "") + call(t, b, "x", ""); got != `{"session":"s1"}{"session":"s2"}` {
			t.Error(got)
		}
		a.Close(nil)
		synctest.Wait()
		if s.count("s1 DELETE") != 1 || s.count("s2 DELETE") != 0 || a.Err() == nil {
			t.Error(s.log)
		}
		if got := call(t, a, "x", ""); got != "error closed" {
			t.Error(got)
		}
		if s.count("s1 GET") != 1 { // P6
			t.Error(s.log)
		}
	})
}

func TestASessionThatTheWorkloadForgotIsOpenedAgain(t *testing.T) { // B3.7
	bubble(t, Config{}, func(t *testing.T, w *Workload, s *server) {
		l := open(t, w)
		for _, r := range [][2]string{
			{"logging/setLevel", `{"level":"info"}`}, {"logging/setLevel", `{"level":"debug"}`},
			{"resources/subscribe", `{"uri":"a:1"}`}, {"resources/subscribe", `{"uri":"b:2"}`}, {"resources/unsubscribe", `{"uri":"a:1"}`},
		} {
			call(t, l, r[0], r[1])
		}
		s.forget()
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if got := call(t, l, "x", ""); got != `{"session":"s2"}` {
					t.Error(got)
				}
			})
		}
		wg.Wait()
		for line, want := range map[string]int{
			"s2 notifications/initialized": 1, "s2 logging/setLevel": 1, "s2 resources/subscribe": 1, "s2 x": 5, "s3 initialize": 0,
		} {
			if got := s.count(line); got != want {
				t.Errorf("%s: %d times, want %d", line, got, want)
			}
		}
		if l.Init().Version != "s1" {
			t.Error("Init changed")
		}
	})
}

func TestASecondLossIsAFailure(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, w *Workload, s *server) {
		l := open(t, w)
		s.forget()
		s.answer(func(w nethttp.ResponseWriter, m *jsonrpc.Message) bool {
			if m.Method == "x" || m.Method == "ping" {
				w.WriteHeader(404)
				return true
			}
			return false
		})
		if got := call(t, l, "x", ""); got != "error session_gone" {
			t.Error(got)
		}
		if s.count("s2 x") != 1 || s.count("s3 initialize") != 0 {
			t.Error(s.log)
		}
	})
}

func TestARestartIsWaitedFor(t *testing.T) { // P1
	bubble(t, Config{}, func(t *testing.T, w *Workload, s *server) {
		l := open(t, w)
		time.Sleep(10 * time.Second) // the connections of the handshake are gone
		s.forget()
		s.set(true)
		go func() { time.Sleep(7*time.Second - time.Millisecond); s.set(false) }()
		begin := time.Now()
		if got := call(t, l, "x", ""); got != `{"session":"s2"}` || time.Since(begin) != 7*time.Second {
			t.Errorf("%s after %v", got, time.Since(begin))
		}
		s.set(true)
		time.Sleep(10 * time.Second)
		begin = time.Now()
		if got := call(t, l, "x", ""); got != "error unreachable" || time.Since(begin) != 30*time.Second {
			t.Errorf("%s after %v", got, time.Since(begin))
		}
		begin = time.Now()
		_, err := w.OpenSession(t.Context(), upstream.SessionRequest{})
		var h *upstream.HandshakeError
		if !errors.As(err, &h) || h.Reason != config.ReasonRefused || time.Since(begin) != 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

func TestSharedInstances(t *testing.T) { // R23, P15
	bubble(t, Config{Idle: time.Minute, MaxInstances: 2}, func(t *testing.T, w *Workload, s *server) {
		get := func(principal string) (upstream.Lease, error) {
			return w.Instance(t.Context(), upstream.Key{Principal: principal})
		}
		a, err := get("a")
		if err != nil {
			t.Fatal(err)
		}
		again, _ := get("a")
		b, _ := get("b")
		if a.Leg != again.Leg || a.Leg == b.Leg {
			t.Error("instances are not kept by key")
		}
		var ends []string
		var mu sync.Mutex
		for name, lease := range map[string]upstream.Lease{"a": a, "b": b} {
			lease.Shared.OnEnded(func() {
				mu.Lock()
				defer mu.Unlock()
				ends = append(ends, name)
			})
		}
		if _, err := get("c"); !errors.Is(err, upstream.ErrBusy) {
			t.Error(err)
		}
		time.Sleep(time.Hour) // both are held
		again.Release()
		a.Release()
		c, err := get("c") // a gives way
		if err != nil {
			t.Error(err)
		}
		c.Release()
		b.Release()
		time.Sleep(61 * time.Second)
		synctest.Wait()
		for _, id := range []string{"s1", "s2", "s3"} {
			if s.count(id+" DELETE") != 1 {
				t.Errorf("%s was not deleted", id)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if fmt.Sprint(ends) != "[a b]" {
			t.Errorf("told of the ends of %v", ends)
		}
	})
}

func TestHandshake(t *testing.T) {
	answer := func(status int, body string) func(nethttp.ResponseWriter, *jsonrpc.Message) bool {
		return func(w nethttp.ResponseWriter, m *jsonrpc.Message) bool {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, body, m.ID.String())
			return true
		}
	}
	for name, tc := range map[string]struct {
		down    bool
		respond func(nethttp.ResponseWriter, *jsonrpc.Message) bool
		want    string
		took    time.Duration
	}{
		"works":              {},
		"nobody listens":     {down: true, want: config.ReasonRefused},
		"404":                {respond: answer(404, "%.0s"), want: config.ReasonHTTPStatus},
		"401":                {respond: answer(401, "%.0s"), want: config.ReasonHTTPStatus},
		"a page":             {respond: answer(200, "<html>%.0s"), want: config.ReasonBadOutput},
		"an error":           {respond: answer(200, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"no"}}`), want: config.ReasonBadHandshake},
		"an unknown version": {respond: answer(200, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"1"}}`), want: config.ReasonBadHandshake},
		"silence": {respond: func(nethttp.ResponseWriter, *jsonrpc.Message) bool {
			time.Sleep(40 * time.Second)
			return true
		}, want: config.ReasonNoAnswer, took: 9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, w *Workload, s *server) {
				s.answer(tc.respond)
				s.set(tc.down)
				ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
				defer stop()
				begin := time.Now()
				info, err := w.Handshake(ctx)
				if tc.want == "" {
					if err != nil || info.Era != "legacy" || info.Name != "fake" || info.Revision != "2025-06-18" {
						t.Errorf("%+v, %v", info, err)
					}
					if err := w.Check(ctx); err != nil {
						t.Error(err)
					}
					return
				}
				var h *upstream.HandshakeError
				if !errors.As(err, &h) || h.Reason != tc.want || time.Since(begin) != tc.took {
					t.Errorf("%v after %v", err, time.Since(begin))
				}
				if err := w.Check(ctx); (err != nil) != tc.down {
					t.Errorf("Check: %v", err)
				}
				time.Sleep(time.Minute)
			})
		})
	}
	t.Run("again, after a restart", func(t *testing.T) {
		bubble(t, Config{}, func(t *testing.T, w *Workload, s *server) {
			for range 2 {
				if _, err := w.Handshake(t.Context()); err != nil {
					t.Error(err)
				}
				s.forget()
			}
			if s.count("s2 ping") != 1 || s.count("s3 initialize") != 0 {
				t.Error(s.log)
			}
			s.set(true)
			time.Sleep(10 * time.Second)
			var h *upstream.HandshakeError
			if _, err := w.Handshake(t.Context()); !errors.As(err, &h) || h.Reason != config.ReasonRefused {
				t.Error(err)
			}
		})
	})
}

func TestShutdownLetsWorkFinish(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, w *Workload, s *server) {
		l := open(t, w)
		got := make(chan string, 1)
		go func() { got <- call(t, l, "slow", "") }()
		synctest.Wait()
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		w.Shutdown(ctx)
		if g := <-got; g != `{"session":"s1"}` {
			t.Error(g)
		}
		if _, err := w.OpenSession(t.Context(), upstream.SessionRequest{}); !errors.Is(err, upstream.ErrClosed) {
			t.Error(err)
		}
		if _, err := w.Instance(t.Context(), upstream.Key{}); !errors.Is(err, upstream.ErrClosed) {
			t.Error(err)
		}
	})
}

// B1.1: a configured revision is the one that is offered, and the only one.
func TestAWorkloadOfAConfiguredRevision(t *testing.T) {
	for revision, good := range map[upstream.Fixed]bool{"2025-06-18": true, "2025-03-26": false} {
		bubble(t, Config{Revision: revision}, func(t *testing.T, w *Workload, s *server) {
			var offered string
			s.answer(func(_ nethttp.ResponseWriter, m *jsonrpc.Message) bool {
				if raw, ok := strictjson.Get(m.Params, "protocolVersion"); ok {
					offered = string(raw)
				}
				return false
			})
			_, err := w.OpenSession(t.Context(), upstream.SessionRequest{Params: []byte(`{"protocolVersion":"2025-11-25"}`)})
			var h *upstream.HandshakeError
			if offered != `"`+string(revision)+`"` || (err == nil) != good || err != nil && (!errors.As(err, &h) || h.Reason != config.ReasonBadHandshake) {
				t.Errorf("%s was offered: %v", offered, err)
			}
		})
	}
}

// A workload that leaves its handshake unanswered does not hold up the end of
// the pod.
func TestShutdownWaitsForNoHandshake(t *testing.T) { // O3
	bubble(t, Config{}, func(t *testing.T, w *Workload, s *server) {
		s.answer(func(_ nethttp.ResponseWriter, m *jsonrpc.Message) bool {
			if m.Method == "initialize" {
				time.Sleep(time.Minute)
			}
			return false
		})
		opened := make(chan error, 1)
		go func() {
			_, err := w.Instance(t.Context(), upstream.Key{})
			opened <- err
		}()
		synctest.Wait()
		began := time.Now()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		w.Shutdown(ctx)
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
		if err := <-opened; !errors.Is(err, upstream.ErrClosed) {
			t.Error(err)
		}
		time.Sleep(time.Minute) // the handler ends by itself
	})
}

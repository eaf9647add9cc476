package stdio

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

func TestEachSessionHasItsOwnProcess(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) { // B3.1, R23
		a, b := r.mustOpen(), r.mustOpen()
		for s, want := range map[*session]string{a: `{"n":1}`, b: `{"n":2}`} {
			answer, err := s.Call(t.Context(), peer.Request{Method: "x"})
			if err != nil || string(answer.Result) != want {
				t.Errorf("%s, %v; want %s", answer.Result, err, want)
			}
		}
		if a.Init().Revision != "2025-06-18" || a.Init().Name != "fake" {
			t.Errorf("%+v", a.Init())
		}
		a.Close(errors.New("deleted"))
		r.wantEnds(EndSession)
		a.wantEnded(t, "") // its owner knows
		if r.Processes() != 1 || b.Err() != nil {
			t.Error("the other session was touched")
		}
	})
}

// B3.8: a crash fails what is in flight at once and ends this session only.
func TestACrash(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		a, b := r.mustOpen(), r.mustOpen()
		begin := time.Now()
		_, err := a.Call(t.Context(), peer.Request{Method: "die"})
		if peer.ReasonOf(err) != peer.Ended || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		a.wantEnded(t, "workload_restarted: ndjson: the peer closed its output")
		r.wantEnds(EndCrashed)
		if b.Err() != nil {
			t.Error("the other session ended")
		}
		if _, err := a.Call(t.Context(), peer.Request{Method: "x"}); peer.ReasonOf(err) != peer.Ended {
			t.Error(err)
		}
	})
}

func TestTheIdleClock(t *testing.T) { // P15
	bubble(t, Config{Idle: 10 * time.Minute}, func(t *testing.T, r *rig) {
		quiet, listening, busy := r.mustOpen(), r.mustOpen(), r.mustOpen()
		listening.listening.Store(true)
		ctx, stop := context.WithCancel(t.Context())
		go func() { _, _ = busy.Call(ctx, peer.Request{Method: "hang"}) }()
		time.Sleep(9 * time.Minute)
		if _, err := quiet.Call(t.Context(), peer.Request{Method: "x"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(9*time.Minute + 59*time.Second)
		r.wantEnds()
		time.Sleep(2 * time.Second)
		r.wantEnds(EndIdle)
		quiet.wantEnded(t, "closed: idle")
		time.Sleep(time.Hour)
		r.wantEnds(EndIdle)
		listening.listening.Store(false)
		stop()
		time.Sleep(21 * time.Minute)
		r.wantEnds(EndIdle, EndIdle, EndIdle)
	})
}

// A process is idle from when its client has stopped listening, not from when
// somebody last looked: clients come back for a stream that was closed.
func TestIdleBeginsWhenListeningEnds(t *testing.T) { // P15, R20
	bubble(t, Config{Idle: 10 * time.Minute}, func(t *testing.T, r *rig) {
		s := r.mustOpen()
		s.listening.Store(true)
		time.Sleep(2*time.Hour - time.Millisecond)
		s.listening.Store(false)
		time.Sleep(10*time.Minute - time.Millisecond)
		s.wantEnded(t, "")
		time.Sleep(2 * lookEvery)
		s.wantEnded(t, "closed: idle")
		r.wantEnds(EndIdle)
	})
	t.Run("also for one that is to give way", func(t *testing.T) {
		bubble(t, Config{MaxProcesses: 1, EvictAfter: time.Minute, Hold: 30 * time.Second}, func(t *testing.T, r *rig) {
			s := r.mustOpen()
			s.listening.Store(true)
			time.Sleep(2*time.Hour - time.Millisecond)
			s.listening.Store(false)
			time.Sleep(time.Second)
			if _, err := r.open(t.Context()); !errors.Is(err, upstream.ErrBusy) {
				t.Errorf("it gave way: %v", err)
			}
			time.Sleep(time.Minute)
			r.mustOpen()
			s.wantEnded(t, "closed: evicted for another session")
		})
	})
}

func TestTheBoundOnProcesses(t *testing.T) { // B3.4, P15
	t.Run("the longest idle one gives way", func(t *testing.T) {
		bubble(t, Config{MaxProcesses: 2}, func(t *testing.T, r *rig) {
			a := r.mustOpen()
			time.Sleep(30 * time.Second)
			b := r.mustOpen()
			time.Sleep(40 * time.Second)
			c := r.mustOpen()
			a.wantEnded(t, "closed: evicted for another session")
			b.wantEnded(t, "")
			if c.Err() != nil || r.Processes() != 2 {
				t.Error("no room was made")
			}
			r.wantEnds(EndEvicted)
		})
	})
	t.Run("one that listens or works does not, and initialize is held", func(t *testing.T) {
		bubble(t, Config{MaxProcesses: 2}, func(t *testing.T, r *rig) {
			r.mustOpen().listening.Store(true)
			busy := r.mustOpen()
			go func() { _, _ = busy.Call(context.Background(), peer.Request{Method: "hang"}) }()
			time.Sleep(time.Hour)
			begin := time.Now()
			_, err := r.open(t.Context())
			if !errors.Is(err, upstream.ErrBusy) || time.Since(begin) != 30*time.Second {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
			if got := strings.Join(r.held, ","); got != "30s false" {
				t.Errorf("held %s", got)
			}
		})
	})
	t.Run("held ones are served in order as others end", func(t *testing.T) {
		bubble(t, Config{MaxProcesses: 1}, func(t *testing.T, r *rig) {
			a := r.mustOpen()
			var order []int
			for i := range 3 {
				go func() {
					s, err := r.open(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					order = append(order, i)
					time.Sleep(time.Second)
					s.Close(nil)
				}()
				synctest.Wait()
			}
			time.Sleep(5 * time.Second)
			a.Close(nil)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
				t.Errorf("served %v", order)
			}
		})
	})
	t.Run("one becomes old enough while somebody waits", func(t *testing.T) {
		bubble(t, Config{MaxProcesses: 1}, func(t *testing.T, r *rig) {
			r.mustOpen()
			time.Sleep(45 * time.Second)
			begin := time.Now()
			r.mustOpen()
			if waited := time.Since(begin); waited != 15*time.Second {
				t.Errorf("waited %v", waited)
			}
		})
	})
	t.Run("the queue is bounded, and who leaves it takes nothing along", func(t *testing.T) {
		bubble(t, Config{MaxProcesses: 1, MaxWaiting: 1}, func(t *testing.T, r *rig) {
			a := r.mustOpen()
			ctx, stop := context.WithCancelCause(t.Context())
			gone := make(chan error)
			go func() { _, err := r.open(ctx); gone <- err }()
			synctest.Wait()
			if _, err := r.open(t.Context()); !errors.Is(err, upstream.ErrBusy) {
				t.Error(err)
			}
			mine := errors.New("mine")
			stop(mine)
			if err := <-gone; !errors.Is(err, mine) {
				t.Error(err)
			}
			a.Close(nil)
			synctest.Wait()
			r.mustOpen()
		})
	})
	t.Run("a slot is free only when the process is gone", func(t *testing.T) {
		bubble(t, Config{MaxProcesses: 1}, func(t *testing.T, r *rig) {
			r.program = func(c *child, m *jsonrpc.Message) {
				polite(c, m)
				if m.Method == "notifications/initialized" && c.number == 1 {
					<-c.done // ignores the end of its input: killed after 5 s
				}
			}
			a := r.mustOpen()
			synctest.Wait()
			a.Close(nil)
			begin := time.Now()
			r.mustOpen()
			if waited := time.Since(begin); waited != 5*time.Second {
				t.Errorf("waited %v", waited)
			}
		})
	})
}

func TestSharedInstances(t *testing.T) { // R23
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		one, err := r.Instance(t.Context(), upstream.Key{})
		if err != nil {
			t.Fatal(err)
		}
		results := make(chan upstream.Lease, 2)
		for range 2 {
			go func() {
				l, err := r.Instance(t.Context(), upstream.Key{Principal: "p"})
				if err != nil {
					t.Error(err)
				}
				results <- l
			}()
		}
		b, c := <-results, <-results
		if one.Leg == b.Leg || b.Leg != c.Leg || r.Processes() != 2 {
			t.Error("instances are not kept by key")
		}
		time.Sleep(2 * time.Hour) // held: not idle
		r.wantEnds()
		one.Release()
		b.Release()
		time.Sleep(11 * time.Minute)
		r.wantEnds(EndIdle)
		c.Release()
		time.Sleep(11 * time.Minute)
		r.wantEnds(EndIdle, EndIdle)
		again, err := r.Instance(t.Context(), upstream.Key{})
		if err != nil || again.Init().Version != "3" {
			t.Error(again, err)
		}
		again.Release()
	})
}

func TestASharedInstanceThatCrashesIsReplacedWithGrowingPauses(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) { // B3.8
		var pauses []time.Duration
		for range 8 {
			begin := time.Now()
			l, err := r.Instance(t.Context(), upstream.Key{})
			if err != nil {
				t.Fatal(err)
			}
			pauses = append(pauses, time.Since(begin))
			if _, err := l.Call(t.Context(), peer.Request{Method: "die"}); peer.ReasonOf(err) != peer.Ended {
				t.Error(err)
			}
			l.Release()
			synctest.Wait()
		}
		if pauses[0] != 0 || pauses[1] > 200*time.Millisecond || pauses[7] < 5*time.Second || pauses[7] > 6*time.Second {
			t.Errorf("pauses %v", pauses)
		}
	})
}

func TestTheHandshakeIsKeptAsTheFirstInstance(t *testing.T) {
	bubble(t, Config{MaxProcesses: 1}, func(t *testing.T, r *rig) {
		for range 2 {
			info, err := r.Handshake(t.Context())
			if err != nil || info.Era != "legacy" || info.Revision != "2025-06-18" || info.Name != "fake" || info.Version != "1" || string(info.Capabilities) != `{"tools":{}}` {
				t.Errorf("%+v, %v", info, err)
			}
		}
		l, err := r.Instance(t.Context(), upstream.Key{})
		if err != nil || l.Init().Version != "1" {
			t.Error(l, err)
		}
		l.Release()
		// Nobody has used it: a session gets its room at once.
		begin := time.Now()
		s := r.mustOpen()
		if time.Since(begin) != 0 || s.Init().Version != "2" {
			t.Errorf("waited %v for %s", time.Since(begin), s.Init().Version)
		}
		r.wantEnds(EndEvicted)
		// No room is made for another handshake: the session's process answers.
		info, err := r.Handshake(t.Context())
		if err != nil || info.Version != "2" || r.Processes() != 1 {
			t.Error(info, err)
		}
		if _, err := s.Call(t.Context(), peer.Request{Method: "die"}); err == nil {
			t.Error("it lives")
		}
	})
}

func TestAHandshakeThatFailsIsExplained(t *testing.T) { // B1.3, W4.4
	answer := func(body string) program {
		return func(c *child, m *jsonrpc.Message) {
			if m.Method == "initialize" {
				c.say(strings.ReplaceAll(body, "$ID", m.ID.String()))
			}
		}
	}
	code := func(n int) *int { return &n }
	for name, tc := range map[string]struct {
		program program
		start   error
		reason  string
		code    *int
		stderr  string
		took    time.Duration
	}{
		"nobody on the socket":           {start: &agent.Error{Code: agent.CodeUnreachable}, reason: config.ReasonAgentUnreachable},
		"no such command":                {start: &agent.Error{Code: agent.CodeNotFound}, reason: config.ReasonExited, code: code(127)},
		"a command that may not run":     {start: &agent.Error{Code: agent.CodePermission}, reason: config.ReasonExited, code: code(126)},
		"it exits":                       {program: func(c *child, _ *jsonrpc.Message) { c.end(agent.Exit{Code: 3, StderrTail: []string{"no key"}}) }, reason: config.ReasonExited, code: code(3), stderr: "no key"},
		"it says nothing":                {program: func(*child, *jsonrpc.Message) {}, reason: config.ReasonNoAnswer, took: 27 * time.Second},
		"it talks and says nothing":      {program: answer("hello\nthere"), reason: config.ReasonBadOutput, took: 27 * time.Second},
		"it answers something broken":    {program: answer(`{"jsonrpc":"2.0","id":$ID,"result":{]}`), reason: config.ReasonBadOutput},
		"it refuses":                     {program: answer(`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32600,"message":"no"}}`), reason: config.ReasonBadHandshake},
		"a revision that nobody knows":   {program: answer(`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2020-01-01"}}`), reason: config.ReasonBadHandshake},
		"the modern revision, by a fool": {program: answer(`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2026-07-28"}}`), reason: config.ReasonBadHandshake},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{Startup: time.Minute}, func(t *testing.T, r *rig) {
				r.always, r.program = tc.start, tc.program
				ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
				defer stop()
				begin := time.Now()
				_, err := r.Handshake(ctx)
				var h *upstream.HandshakeError
				if !errors.As(err, &h) {
					t.Fatal(err)
				}
				if h.Reason != tc.reason || time.Since(begin) != tc.took || strings.Join(h.StderrTail, "") != tc.stderr {
					t.Errorf("%s after %v, stderr %v", h.Reason, time.Since(begin), h.StderrTail)
				}
				if tc.start == nil {
					r.wantEnds(EndStartup)
				}
				if (h.ExitCode == nil) != (tc.code == nil) || h.ExitCode != nil && *h.ExitCode != *tc.code {
					t.Errorf("exit code %v", h.ExitCode)
				}
			})
		})
	}
}

func TestTalkBeforeTheProtocol(t *testing.T) { // C07
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		r.program = func(c *child, m *jsonrpc.Message) {
			if m.Method == "initialize" {
				c.say("🚀 demo\n\n\x1b[32mlistening\x1b[0m")
			}
			polite(c, m)
		}
		if _, err := r.Handshake(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestAWorkloadThatIsNotThereYetIsWaitedFor(t *testing.T) { // P1
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		gone := &agent.Error{Code: agent.CodeUnreachable}
		r.errs = []error{gone, gone, gone, gone, gone, gone, gone, gone}
		begin := time.Now()
		r.mustOpen()
		if waited := time.Since(begin); waited != 2*time.Second {
			t.Errorf("waited %v", waited)
		}
		r.always = gone
		begin = time.Now()
		_, err := r.open(t.Context())
		var h *upstream.HandshakeError
		if !errors.As(err, &h) || h.Reason != config.ReasonAgentUnreachable || time.Since(begin) != 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if r.Pool.Check(t.Context()) == nil {
			t.Error("Check sees nothing wrong")
		}
		r.always = nil
		if err := r.Pool.Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestFailedStartsAreSpaced(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		r.program = func(c *child, _ *jsonrpc.Message) { c.end(agent.Exit{Code: 1}) }
		var took []time.Duration
		for range 10 {
			begin := time.Now()
			if _, err := r.open(t.Context()); err == nil {
				t.Fatal("opened")
			}
			took = append(took, time.Since(begin))
		}
		if took[0] != 0 || took[9] < 15*time.Second || took[9] > 18*time.Second {
			t.Errorf("%v", took)
		}
		r.program = polite
		r.mustOpen()
		begin := time.Now()
		r.mustOpen()
		if time.Since(begin) != 0 {
			t.Error("the backoff is not forgotten")
		}
	})
}

func TestShutdownLetsWorkFinish(t *testing.T) { // C11
	bubble(t, Config{MaxProcesses: 2}, func(t *testing.T, r *rig) {
		r.program = func(c *child, m *jsonrpc.Message) {
			if m.Method == "slow" {
				time.Sleep(5 * time.Second)
			}
			polite(c, m)
		}
		slow, hanging := r.mustOpen(), r.mustOpen()
		errs := make(chan error, 3)
		go func() { _, err := slow.Call(context.Background(), peer.Request{Method: "slow"}); errs <- err }()
		synctest.Wait()
		go func() {
			time.Sleep(6 * time.Second)
			_, err := hanging.Call(context.Background(), peer.Request{Method: "hang"})
			errs <- err
		}()
		go func() { _, err := hanging.Call(context.Background(), peer.Request{Method: "hang"}); errs <- err }()
		waiting := make(chan error, 1)
		go func() { _, err := r.open(t.Context()); waiting <- err }()
		synctest.Wait()
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		begin := time.Now()
		r.Shutdown(ctx)
		if d := time.Since(begin); d < 10*time.Second || d > 16*time.Second {
			t.Errorf("took %v", d)
		}
		if err := <-errs; err != nil {
			t.Errorf("the slow call ended with %v", err)
		}
		for range 2 {
			if err := <-errs; peer.ReasonOf(err) != peer.Closed {
				t.Errorf("the hanging call ended with %v", err)
			}
		}
		if err := <-waiting; !errors.Is(err, upstream.ErrClosed) {
			t.Error(err)
		}
		if _, err := r.open(t.Context()); !errors.Is(err, upstream.ErrClosed) {
			t.Error(err)
		}
		if _, err := r.Instance(t.Context(), upstream.Key{}); !errors.Is(err, upstream.ErrClosed) {
			t.Error(err)
		}
	})
}

package stdio

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

const theirs = `initialize {"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"1"}}`

// P15, onIdle: Recreate.
func TestASessionThatOutlivesItsProcess(t *testing.T) {
	var recreated []error
	cfg := Config{Recreate: true, Idle: time.Minute, Era: upstream.EraLegacy}
	cfg.Hooks.Recreated = func(err error) { recreated = append(recreated, err) }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		c := &chatty{}
		r.program = c.program
		a := r.sit()
		a.call(t, "logging/setLevel", `{"level":"debug"}`)
		a.call(t, "resources/subscribe", `{"uri":"x:1"}`)
		a.call(t, "resources/subscribe", `{"uri":"x:2"}`)
		a.call(t, "resources/unsubscribe", `{"uri":"x:2"}`)
		synctest.Wait()
		c.told = nil
		time.Sleep(2 * time.Minute)
		r.wantEnds(EndIdle)
		if len(a.ends) > 0 || a.Err() != nil {
			t.Fatalf("the session ended: %v", a.ends)
		}
		if got := a.call(t, "x", ""); got != `{"n":2}` {
			t.Error(got)
		}
		c.wantTold(t, "2 "+theirs, "2 notifications/initialized", `2 logging/setLevel {"level":"debug"}`, `2 resources/subscribe {"uri":"x:1"}`)
		if got := a.take(); got != `notifications/tools/list_changed; notifications/resources/updated {"uri":"x:1"}` { // B10.7
			t.Error(got)
		}
		// A crash fails what is in flight and nothing else (B3.8).
		if got := a.call(t, "die", ""); got != "failed: workload_restarted" {
			t.Error(got)
		}
		if got := a.call(t, "x", ""); got != `{"n":3}` || len(a.ends) > 0 {
			t.Errorf("%s, %v", got, a.ends)
		}
		r.wantEnds(EndIdle, EndCrashed)
		if len(recreated) != 2 || recreated[0] != nil || recreated[1] != nil {
			t.Errorf("%v", recreated)
		}
		a.Close(errors.New("deleted"))
		r.wantEnds(EndIdle, EndCrashed, EndSession)
		if got := a.call(t, "x", ""); got != "failed: closed" {
			t.Error(got)
		}
	})
}

// A process that cannot be started again fails the request and not the session.
func TestASessionWhoseProcessDoesNotComeBack(t *testing.T) {
	bubble(t, Config{Recreate: true, Idle: time.Minute}, func(t *testing.T, r *rig) {
		a := r.sit()
		time.Sleep(2 * time.Minute)
		r.errs = []error{&agent.Error{Code: agent.CodeExec}}
		_, err := a.Call(t.Context(), peer.Request{Method: "x"})
		var h *upstream.HandshakeError
		if !errors.As(err, &h) || h.Reason != config.ReasonExited {
			t.Errorf("%v", err)
		}
		if got := a.call(t, "x", ""); got != `{"n":2}` || a.Err() != nil {
			t.Errorf("%s, %v", got, a.Err())
		}
	})
}

// R23, Pooled: processes are started beforehand, said nothing to, and each can
// become anybody's.
func TestSparesAreTakenAndReplaced(t *testing.T) {
	bubble(t, Config{Model: Pooled, MaxProcesses: 8}, func(t *testing.T, r *rig) {
		c := &chatty{}
		r.program = c.program
		if r.Spares() != 0 || r.begun() != 0 {
			t.Error("a pool that nobody uses starts nothing")
		}
		a := r.sit()
		synctest.Wait()
		if r.Spares() != 2 || r.Processes() != 3 || r.begun() != 3 {
			t.Errorf("%d spares, %d processes, %d started", r.Spares(), r.Processes(), r.begun())
		}
		c.wantTold(t, "1 "+theirs, "1 notifications/initialized")
		began := time.Now()
		b := r.sit()
		if got := b.call(t, "x", ""); got != `{"n":2}` || time.Since(began) != 0 {
			t.Errorf("%s, a spare was not used", got)
		}
		synctest.Wait()
		if r.Spares() != 2 || r.begun() != 4 {
			t.Errorf("%d spares, %d started", r.Spares(), r.begun())
		}
		// One that dies is replaced, after a pause, and counted.
		r.child(2).end(agent.Exit{Code: 1})
		synctest.Wait()
		r.wantEnds(EndSpare)
		if r.Spares() != 1 {
			t.Errorf("%d spares", r.Spares())
		}
		time.Sleep(2 * time.Second)
		if r.Spares() != 2 {
			t.Errorf("%d spares after the pause", r.Spares())
		}
		a.Close(nil)
		b.Close(nil)
	})
}

// Spares never take the room that somebody wants, nor more than there is.
func TestSparesStayWithinTheBound(t *testing.T) {
	bubble(t, Config{Model: Pooled, MaxProcesses: 2}, func(t *testing.T, r *rig) {
		a := r.sit()
		synctest.Wait()
		b := r.sit()
		synctest.Wait()
		if r.Spares() != 0 || r.Processes() != 2 {
			t.Errorf("%d spares, %d processes", r.Spares(), r.Processes())
		}
		a.Close(nil)
		time.Sleep(10 * time.Second)
		if r.Spares() != 1 || r.Processes() != 2 {
			t.Errorf("after one has left: %d spares, %d processes", r.Spares(), r.Processes())
		}
		b.Close(nil)
	})
}

// R23, Pooled: more than one process for a key while it is busy.
func TestABusyKeyGetsAnotherProcess(t *testing.T) {
	bubble(t, Config{Model: Pooled, MaxProcesses: 3}, func(t *testing.T, r *rig) {
		key := upstream.Key{Principal: "p", Any: true}
		use := func(method string) string {
			lease, err := r.Instance(t.Context(), key)
			if err != nil {
				return err.Error()
			}
			defer lease.Release()
			a, err := lease.Call(t.Context(), peer.Request{Method: method})
			if err != nil {
				return err.Error()
			}
			return string(a.Result)
		}
		if first, second := use("x"), use("x"); first != `{"n":1}` || second != first {
			t.Errorf("one after the other: %s, %s", first, second)
		}
		go use("hang")
		synctest.Wait()
		if got := use("x"); got == `{"n":1}` {
			t.Error("a busy process was used although there is room")
		}
		go use("hang")
		synctest.Wait()
		if got := use("x"); got == `{"n":1}` {
			t.Error("the last room was not used")
		}
		go use("hang")
		synctest.Wait()
		if got := use("x"); got != `{"n":1}` || r.Processes() != 3 {
			t.Errorf("with no room left: %s, %d processes", got, r.Processes())
		}
	})
	// B10.5, B11.11: lists and subscriptions have one process, however busy.
	bubble(t, Config{Model: Pooled, MaxProcesses: 3}, func(t *testing.T, r *rig) {
		for _, want := range []int{0, -1} {
			lease, err := r.Instance(t.Context(), upstream.Key{Principal: "p", Any: want != 0})
			if err != nil {
				t.Fatal(err)
			}
			defer lease.Release()
			if lease.Lane != want {
				t.Errorf("lane %d, want %d", lease.Lane, want)
			}
			go func() { _, _ = lease.Call(t.Context(), peer.Request{Method: "hang"}) }()
			synctest.Wait()
		}
		lease, err := r.Instance(t.Context(), upstream.Key{Principal: "p"})
		if err != nil {
			t.Fatal(err)
		}
		lease.Release()
		if lease.Lane != 0 {
			t.Errorf("lane %d", lease.Lane)
		}
	})
}

// O18: what ends by itself again and again is a crash loop, until one lives.
func TestACrashLoop(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		reason := func(err error) string {
			var h *upstream.HandshakeError
			if !errors.As(err, &h) {
				return ""
			}
			return h.Reason
		}
		for n := 1; n <= 4; n++ { // it comes up, and goes by itself
			go func() { time.Sleep(time.Second); r.child(n - 1).end(agent.Exit{Code: 7}) }()
			_, err := r.Handshake(t.Context())
			if got := reason(err); (got == config.ReasonCrashLooping) != (n == 4) {
				t.Errorf("handshake %d: %q", n, got)
			}
			time.Sleep(2 * time.Second)
			if got := reason(r.Pool.Check(t.Context())); (got == config.ReasonCrashLooping) != (n >= 3) {
				t.Errorf("check after %d ends: %q", n, got)
			}
		}
		began := time.Now()
		if _, err := r.Handshake(t.Context()); err != nil || time.Since(began) < young {
			t.Errorf("one that lives: %v after %v", err, time.Since(began))
		}
		if err := r.Pool.Check(t.Context()); err != nil {
			t.Errorf("after it lived: %v", err)
		}
	})
}

// The same for what ends before its handshake.
func TestACrashLoopBeforeTheHandshake(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		r.program = func(c *child, _ *jsonrpc.Message) { c.end(agent.Exit{Code: 3, StderrTail: []string{"no key"}}) }
		for n, want := range []string{config.ReasonExited, config.ReasonExited, config.ReasonCrashLooping, config.ReasonCrashLooping} {
			_, err := r.Handshake(t.Context())
			var h *upstream.HandshakeError
			if !errors.As(err, &h) || h.Reason != want || *h.ExitCode != 3 || len(h.StderrTail) != 1 {
				t.Errorf("start %d: %v, want %s", n, err, want)
			}
			time.Sleep(20 * time.Second)
		}
	})
}

// What a client's request brings down says nothing of the workload.
func TestARequestThatKillsIsNoCrashLoop(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		for range 5 {
			a := r.mustOpen()
			if _, err := a.Call(t.Context(), peer.Request{Method: "die"}); err == nil {
				t.Error("it lived")
			}
		}
		synctest.Wait()
		if err := r.Pool.Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

package park

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a store with what its hooks have seen.
type rig struct {
	*Store
	mu    sync.Mutex
	ends  []End
	again int
}

func newRig(t *testing.T, l Limits) *rig {
	keys := &seal.Keyring{}
	if err := keys.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	r := &rig{}
	r.Store = New(Config{Keys: keys, Pod: "pod", Limits: l, Hooks: Hooks{
		Ended:    func(e End) { r.mu.Lock(); r.ends = append(r.ends, e); r.mu.Unlock() },
		Attached: func() { r.mu.Lock(); r.again++; r.mu.Unlock() },
	}})
	return r
}

func yes(string, []byte) *jsonrpc.Error { return nil }

var name = make([]byte, digestSize)

// call is an exchange with a question asked.
type call struct {
	*Exchange
	cancelled chan error
	answer    chan answered
}

func (r *rig) ask(owner, method string) *call {
	c := &call{cancelled: make(chan error, 1), answer: make(chan answered, 1)}
	c.Exchange = r.Begin(Begin{Owner: owner, Digest: name, May: yes, Cancel: func(cause error) {
		select {
		case c.cancelled <- cause:
		default:
		}
	}})
	go func() {
		result, err := c.Ask(context.Background(), Question{Method: method})
		c.answer <- answered{result, err}
	}()
	return c
}

func (r *rig) turn(t *testing.T, c *Claim) Turn {
	t.Helper()
	turn, err := c.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func answers(t *testing.T, text string) Answers {
	t.Helper()
	a, bad := ReadAnswers([]byte(`{"inputResponses":` + text + `}`))
	if bad != nil {
		t.Fatal(bad)
	}
	return a
}

const accept = `{"elicitation-1":{"action":"accept"}}`

func TestWhatTheWorkloadIsToldWhenNobodyComesBack(t *testing.T) { // B19.2, B7.12, B0.4
	for method, want := range map[string]string{
		mcp.MethodElicit:        `{"action":"cancel"}`,
		mcp.MethodCreateMessage: "-1 no answer",
		mcp.MethodRootsList:     "-32603 no answer",
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Limits{})
			c := r.ask("o", method)
			state := r.turn(t, c.First()).State
			time.Sleep(10*time.Minute - time.Second)
			synctest.Wait()
			if len(c.answer) != 0 {
				t.Fatal("given up too early")
			}
			a := <-c.answer
			got := string(a.result)
			if a.err != nil {
				got = codes[a.err.Code] + " " + a.err.Message
			}
			if got != want {
				t.Errorf("%s: %s", method, got)
			}
			if len(c.cancelled) != 0 {
				t.Error("cancelled before it was answered")
			}
			if err := <-c.cancelled; !errors.Is(err, ErrAbandoned) {
				t.Error(err)
			}
			if _, bad := r.Resume(state, name, answers(t, accept), yes); bad == nil || r.Len() != 0 {
				t.Errorf("%v, %d kept", bad, r.Len())
			}
		})
	}
}

var codes = map[int64]string{-1: "-1", jsonrpc.CodeInternal: "-32603"}

func TestARetryThatIsLostMayComeAgain(t *testing.T) { // P20, B7.5, B7.11
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Limits{})
		c := r.ask("o", mcp.MethodElicit)
		state := r.turn(t, c.First()).State
		lost, hangUp := context.WithCancelCause(t.Context())
		first, bad := r.Resume(state, name, answers(t, accept), yes)
		if bad != nil {
			t.Fatal(bad)
		}
		hangUp(dispatch.ErrDisconnected)
		if _, err := first.Claim.Wait(lost); !errors.Is(err, dispatch.ErrDisconnected) {
			t.Fatal(err)
		}
		time.Sleep(29 * time.Second)
		if _, bad := r.Resume(state, name, answers(t, `{"elicitation-1":{"action":"cancel"}}`), yes); bad == nil {
			t.Error("other answers are taken")
		}
		second, bad := r.Resume(state, name, answers(t, `{ "elicitation-1" : {"action":"accept"}}`), yes)
		if bad != nil || second.Claim != first.Claim || r.again != 1 {
			t.Fatal(bad, r.again)
		}
		done := make(chan Turn)
		go func() { turn, _ := second.Claim.Wait(t.Context()); done <- turn }()
		time.Sleep(time.Minute) // the grace is over for nobody
		c.Finish(Final{Answer: peer.Answer{Result: []byte(`{}`)}})
		if turn := <-done; turn.Final == nil || len(c.cancelled) != 0 {
			t.Errorf("%+v", turn)
		}
		time.Sleep(29 * time.Second)
		if again, bad := r.Resume(state, name, answers(t, accept), yes); bad != nil || r.turn(t, again.Claim).Final == nil {
			t.Error("the result is gone within the grace")
		}
		time.Sleep(2 * time.Second)
		if _, bad := r.Resume(state, name, answers(t, accept), yes); bad == nil || r.Len() != 0 {
			t.Errorf("%v, %d kept", bad, r.Len())
		}
	})
}

func TestAClientThatLeaves(t *testing.T) { // B19.2, B7.11, P20
	for name, tc := range map[string]struct {
		retry bool
		cause error
		after time.Duration
	}{
		"the first request takes the call with it":   {false, dispatch.ErrDisconnected, settle},
		"a retry does so after a while":              {true, dispatch.ErrDisconnected, 30 * time.Second},
		"a retry that took too long does so at once": {true, dispatch.ErrDeadline, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gather := time.Hour
				if tc.retry {
					gather = time.Millisecond
				}
				r := newRig(t, Limits{Gather: gather})
				ctx, leave := context.WithCancelCause(t.Context())
				c := r.ask("o", mcp.MethodElicit)
				claim := c.First()
				if tc.retry {
					resumed, bad := r.Resume(r.turn(t, c.First()).State, make([]byte, digestSize), answers(t, accept), yes)
					if bad != nil {
						t.Fatal(bad)
					}
					claim = resumed.Claim
				}
				synctest.Wait()
				began := time.Now()
				leave(tc.cause)
				if _, err := claim.Wait(ctx); !errors.Is(err, tc.cause) {
					t.Error(err)
				}
				<-c.cancelled
				if took := time.Since(began); took != tc.after {
					t.Errorf("after %v", took)
				}
				r.abandonAll(c)
			})
		})
	}
}

// abandonAll lets go of what a test has left.
func (r *rig) abandonAll(c *call) { c.Finish(Final{Err: errGone}) }

func TestBoundsOfParkedCalls(t *testing.T) { // B7.16, P22
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Limits{PerOwner: 2, Total: 3, Rounds: 2})
		for _, tc := range []struct {
			owner string
			fits  bool
		}{{"a", true}, {"a", true}, {"a", false}, {"b", true}, {"c", false}} {
			c := r.ask(tc.owner, mcp.MethodElicit)
			turn := r.turn(t, c.First())
			if fits := turn.Err == nil; fits != tc.fits {
				t.Errorf("%s: %v", tc.owner, turn.Err)
			}
			if !tc.fits {
				<-c.cancelled // and the workload is told
				if a := <-c.answer; string(a.result) != `{"action":"cancel"}` || turn.Err.Code != jsonrpc.CodeInternal {
					t.Errorf("%s %v", a.result, turn.Err)
				}
			}
		}
		r.Close()
		synctest.Wait()
		if r.Len() != 0 {
			t.Errorf("%d kept", r.Len())
		}
		// Rounds.
		r = newRig(t, Limits{Rounds: 2})
		c := r.ask("o", mcp.MethodElicit)
		turn := r.turn(t, c.First())
		for range 2 {
			to, bad := r.Resume(turn.State, name, Answers{}, yes)
			if bad != nil {
				t.Fatal(bad)
			}
			turn = r.turn(t, to.Claim)
		}
		if turn.Err == nil || <-c.cancelled == nil {
			t.Error("more rounds than allowed")
		}
		<-c.answer
	})
}

// What has been fetched is kept for a while, but waits no more.
func TestFetchedAnswersTakeNoRoom(t *testing.T) { // B7.16, P20
	synctest.Test(t, func(t *testing.T) {
		waits := 0
		r := newRig(t, Limits{PerOwner: 2, Total: 3})
		r.cfg.Hooks.Parked = func(delta int) { waits += delta }
		var states []string
		for _, owner := range []string{"a", "a", "a", "b", "b"} {
			c := r.ask(owner, mcp.MethodElicit)
			state := r.turn(t, c.First()).State
			to, bad := r.Resume(state, name, answers(t, accept), yes)
			if bad != nil {
				t.Fatal(bad)
			}
			<-c.answer
			c.Finish(Final{})
			if turn := r.turn(t, to.Claim); turn.Final == nil || waits != 0 {
				t.Errorf("%s: %+v, %d wait", owner, turn, waits)
			}
			states = append(states, state)
		}
		// One owner's fill no more than their place, and all no more than theirs.
		for i, kept := range []bool{false, false, true, true, true} {
			if _, bad := r.Resume(states[i], name, answers(t, accept), yes); (bad == nil) != kept {
				t.Errorf("the %dth: %v", i+1, bad)
			}
		}
		time.Sleep(time.Minute)
		if r.Len() != 0 || len(r.fetched) != 0 || len(r.by) != 0 || r.waiting != 0 {
			t.Errorf("%d kept, %d fetched, %d wait", r.Len(), len(r.fetched), r.waiting)
		}
		r.Close()
	})
}

func TestACapabilityThatIsWithdrawn(t *testing.T) { // B19.2, B7.9, B7.15
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Limits{})
		c := r.ask("o", mcp.MethodElicit)
		lacking := jsonrpc.Errorf(mcp.CodeMissingCapability, "no")
		to, bad := r.Resume(r.turn(t, c.First()).State, name, Answers{}, func(string, []byte) *jsonrpc.Error { return lacking })
		if bad != nil {
			t.Fatal(bad)
		}
		if turn := r.turn(t, to.Claim); turn.Err != lacking {
			t.Errorf("%+v", turn)
		}
		<-c.cancelled
		<-c.answer
	})
}

func TestAStateOfAnotherLife(t *testing.T) { // B7.17
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Limits{})
		c := r.ask("o", mcp.MethodElicit)
		state := r.turn(t, c.First()).State
		time.Sleep(time.Second)
		for pod, lost := range map[string]bool{"pod": true, "other": false} {
			next := New(Config{Keys: r.cfg.Keys, Pod: pod})
			to, bad := next.Resume(state, name, answers(t, accept), yes)
			if bad != nil || to.Elsewhere != "pod" || to.Lost != lost {
				t.Errorf("%s: %+v %v", pod, to, bad)
			}
		}
		r.Close()
		<-c.answer
		<-c.cancelled
	})
}

func FuzzState(f *testing.F) { // B7.4
	s := state{kind: kindExchange, pod: "pod", round: 3, expiry: time.Unix(1<<31, 0)}
	f.Add(s.encode())
	f.Add([]byte{version})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, ok := decode(b)
		if !ok {
			return
		}
		if back, ok := decode(s.encode()); !ok || back != s {
			t.Errorf("%+v became %+v", s, back)
		}
	})
}

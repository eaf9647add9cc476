package stdio

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// patient is a workload whose tools are silent for as long as their name says.
type patient struct {
	inTurn  func(tool string) bool // nothing else is done beside it
	asks    bool                   // its tools ask something first, and wait
	last    chan struct{}          // closed when what was read last need not be waited for
	stopped atomic.Bool            // it does nothing more
	count   sync.Mutex
	signs   []string // methods of the questions that are no calls
}

func (p *patient) program(c *child, m *jsonrpc.Message) {
	if p.stopped.Load() {
		return
	}
	p.count.Lock()
	defer p.count.Unlock()
	if m.Method == "ping" || m.Method == "server/discover" {
		p.signs = append(p.signs, m.Method)
	}
	raw, _ := strictjson.Get(m.Params, "name")
	tool, _ := strictjson.String(raw)
	before, mine := p.last, make(chan struct{})
	p.last = mine
	go func() {
		if before != nil {
			<-before // in the order in which it reads
		}
		alone := p.inTurn != nil && p.inTurn(tool)
		if !alone {
			close(mine)
		}
		p.work(c, m, tool)
		if alone {
			close(mine)
		}
	}()
}

func (p *patient) work(c *child, m *jsonrpc.Message, tool string) {
	takes, err := time.ParseDuration(tool)
	if err != nil {
		era(discovered, initialized)(c, m)
		return
	}
	if p.asks {
		c.say(`{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}}`)
	}
	t := time.NewTimer(takes)
	defer t.Stop()
	select {
	case <-t.C:
		if !p.stopped.Load() {
			c.say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":{"after":"` + tool + `"}}`)
		}
	case <-c.done:
	}
}

// tool is a call of one.
func tool(name string) peer.Request {
	return peer.Request{Method: "tools/call", Params: []byte(`{"name":"` + name + `"}`)}
}

func (p *patient) asked() string {
	p.count.Lock()
	defer p.count.Unlock()
	all := strings.Join(p.signs, " ")
	p.signs = nil
	return all
}

// pulsing runs f with the leg that everybody has on such a workload.
func pulsing(t *testing.T, p *patient, kind upstream.Era, model Model, f func(t *testing.T, r *rig, call func(tool string) string)) {
	t.Helper()
	virtual(t, Config{Era: kind, Model: model, Idle: time.Hour}, func(t *testing.T, r *rig) {
		p.last = nil
		r.program = p.program
		f(t, r, func(name string) string {
			var leg upstream.Caller
			if kind.Modern() {
				talk, err := r.Conversation(t.Context())
				if err != nil {
					return err.Error()
				}
				leg = talk
			} else {
				lease, err := r.Instance(t.Context(), upstream.Key{})
				if err != nil {
					return err.Error()
				}
				defer lease.Release()
				leg = lease.Leg
			}
			answer, err := leg.Call(t.Context(), tool(name))
			if err != nil {
				return string(peer.ReasonOf(err))
			}
			return string(answer.Result)
		})
	})
}

var everybodys = map[string]struct {
	era   upstream.Era
	model Model
	sign  string
}{
	"model Shared":      {upstream.EraLegacy, Shared, "ping"},
	"a key's process":   {upstream.EraLegacy, PerSession, "ping"},
	"a modern workload": {upstream.EraModern, PerSession, "server/discover"}, // W21.4
}

// B11.7, W21.2, B3.8: a process that answered while it worked and does not any
// more is ended, what waited for it fails, and the next one serves; readiness
// says why until a handshake has worked.
func TestAProcessThatServesEverybodyAndHangs(t *testing.T) {
	for name, tc := range everybodys {
		t.Run(name, func(t *testing.T) {
			p := &patient{}
			pulsing(t, p, tc.era, tc.model, func(t *testing.T, r *rig, call func(string) string) {
				if got := call("3s"); got != `{"after":"3s"}` {
					t.Fatal(got)
				}
				if got := p.asked(); !strings.HasSuffix(got, tc.sign) {
					t.Errorf("asked %q", got)
				}
				p.stopped.Store(true)
				began := time.Now()
				if got := call("3s"); got != string(peer.Ended) {
					t.Errorf("the call that waited: %s", got)
				}
				if took := time.Since(began); took < pulses*pulseEvery || took > (pulses+2)*pulseEvery {
					t.Errorf("after %v", took)
				}
				err := r.Pool.Check(t.Context())
				if h, _ := err.(*upstream.HandshakeError); (h != nil && h.Reason == config.ReasonNoAnswer) != (name != "a key's process") {
					t.Errorf("readiness says %v", err)
				}
				p.stopped.Store(false)
				if _, err := r.Handshake(t.Context()); err != nil {
					t.Error(err)
				}
				if got := call("1s"); got != `{"after":"1s"}` {
					t.Errorf("the next process: %s", got)
				}
				if err := r.Pool.Check(t.Context()); err != nil {
					t.Errorf("after a handshake readiness says %v", err)
				}
				time.Sleep(10 * time.Second) // the agent's clocks
				r.wantEnds(EndHung)
			})
		})
	}
}

// B11.7: a silent call goes on for as long as it takes, whether the workload
// answers beside it or does one thing after the other, all of them or some; so
// does what waits for its turn.
func TestSilentCallsAreLetAlone(t *testing.T) {
	for name, tc := range everybodys {
		for how, inTurn := range map[string]func(tool string) bool{
			"beside each other": nil,
			"one by one":        func(string) bool { return true },
			"some of them":      func(tool string) bool { return tool == "2h" },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				p := &patient{inTurn: inTurn}
				pulsing(t, p, tc.era, tc.model, func(t *testing.T, r *rig, call func(string) string) {
					for _, takes := range []string{"3s", "2h", "3s"} { // alone
						if got := call(takes); got != `{"after":"`+takes+`"}` {
							t.Errorf("%s: %s", takes, got)
						}
					}
					for range 2 { // what is learnt from the first must not harm the second
						var all sync.WaitGroup
						for _, takes := range []string{"2h", "90m", "2s"} {
							all.Go(func() {
								if got := call(takes); got != `{"after":"`+takes+`"}` {
									t.Errorf("%s: %s", takes, got)
								}
							})
						}
						all.Wait()
					}
					if got := p.asked(); got == "" {
						t.Error("never asked")
					}
					r.wantEnds()
				})
			})
		}
	}
}

// B11.7: a process with more in flight than it was ever seen to answer at may
// have no thread left: the deadlines of the calls are all there is.
func TestMoreThanAWorkloadIsKnownToAnswerAt(t *testing.T) {
	p := &patient{}
	pulsing(t, p, upstream.EraLegacy, Shared, func(t *testing.T, r *rig, call func(string) string) {
		call("3s")
		p.stopped.Store(true)
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		lease, err := r.Instance(ctx, upstream.Key{})
		if err != nil {
			t.Fatal(err)
		}
		defer lease.Release()
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if _, err := lease.Call(ctx, tool("3s")); ctx.Err() == nil {
					t.Errorf("before its deadline: %v", err)
				}
			})
		}
		all.Wait()
		r.wantEnds()
	})
}

// B11.7: while it waits for a client itself a process is asked nothing, and may
// be silent.
func TestAProcessThatWaitsForAClient(t *testing.T) {
	p := &patient{asks: true}
	pulsing(t, p, upstream.EraLegacy, PerSession, func(t *testing.T, r *rig, call func(string) string) {
		lease, err := r.Instance(t.Context(), upstream.Key{})
		if err != nil {
			t.Fatal(err)
		}
		defer lease.Release()
		lease.Shared.Use(func() peer.Handler { return waits{} })
		if _, err := lease.Call(t.Context(), tool("1h")); err != nil {
			t.Error(err)
		}
		if got := p.asked(); got != "" {
			t.Errorf("asked %q", got)
		}
	})
}

// waits answers nothing.
type waits struct{ upstream.ByCall }

func (waits) Request(ctx context.Context, _ peer.Incoming) ([]byte, *jsonrpc.Error) {
	<-ctx.Done()
	return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "gone")
}

// W21.3: nobody is asked who has nothing to do, nor a process that is one
// client's, nor for the sake of who only listens.
func TestWhoIsNotAsked(t *testing.T) {
	p := &patient{}
	pulsing(t, p, upstream.EraModern, PerSession, func(t *testing.T, r *rig, call func(string) string) {
		talk, err := r.Conversation(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.asked()
		ctx, stop := context.WithCancel(t.Context())
		go func() { _, _ = talk.Call(ctx, peer.Request{Method: "subscriptions/listen", Params: []byte(`{}`)}) }()
		time.Sleep(time.Hour)
		stop()
		synctest.Wait()
		if got := p.asked(); got != "" {
			t.Errorf("a listener's process was asked %q", got)
		}
	})
	p = &patient{}
	pulsing(t, p, upstream.EraLegacy, PerSession, func(t *testing.T, r *rig, _ func(string) string) {
		s := r.mustOpen()
		defer s.Close(nil)
		if _, err := s.Call(t.Context(), tool("10m")); err != nil {
			t.Error(err)
		}
		if got := p.asked(); got != "" {
			t.Errorf("a session's process was asked %q", got)
		}
	})
}

// What is remembered of a workload is bounded; what is over it was never seen.
func TestWhatIsKnownOfAWorkloadIsBounded(t *testing.T) {
	var l lively
	call := func(name string) []peer.Pending {
		r := tool(name)
		return []peer.Pending{{Method: r.Method, Params: r.Params}}
	}
	for i := range 2 * maxKinds {
		l.saw(call(strconv.Itoa(i)))
	}
	long := call(strings.Repeat("n", maxKindBytes))
	l.saw(long)
	if len(l.kinds) != maxKinds || !l.covers(call("7")) || l.covers(call(strconv.Itoa(maxKinds+1))) || l.covers(long) {
		t.Errorf("%d kinds are remembered", len(l.kinds))
	}
}

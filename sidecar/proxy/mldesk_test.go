package proxy

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// deskWith is a desk with calls in flight, each of a client that takes forms.
func deskWith(t *testing.T, names ...string) (*desk, []*flight) {
	d := &desk{p: New(Config{Workload: nil}), declared: []byte(`{"elicitation":{}}`), flights: map[*flight]struct{}{}, changed: make(chan struct{})}
	var all []*flight
	for _, name := range names {
		f := &flight{p: d.p, habit: name, declared: d.declared}
		if err := d.enter(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return d, all
}

var elicit = peer.Incoming{Msg: &jsonrpc.Message{Method: mcp.MethodElicit}}

func TestAQuestionBelongsToTheOnlyCallThatIsLeft(t *testing.T) { // P5, B3.3, B6.1
	synctest.Test(t, func(t *testing.T) {
		d, all := deskWith(t, "a", "b")
		all[1].declared = []byte(`{}`)
		if f, how := d.owner(t.Context(), elicit); f != all[0] || how != AttributedSole {
			t.Error("a call whose client takes no questions is a candidate", how)
		}
		all[1].declared = d.declared
		began := time.Now()
		go func() {
			time.Sleep(10 * time.Second)
			d.leave(all[0])
		}()
		entered := make(chan time.Duration)
		go func() {
			time.Sleep(time.Second)
			late := &flight{p: d.p, declared: d.declared}
			_ = d.enter(t.Context(), late)
			d.leave(late)
			entered <- time.Since(began)
		}()
		f, how := d.owner(t.Context(), elicit)
		if took := time.Since(began); f != all[1] || how != AttributedWaited || took != 10*time.Second {
			t.Error(f == all[1], how, took)
		}
		// No new call was admitted meanwhile.
		if took := <-entered; took != 10*time.Second {
			t.Errorf("a new call began after %v", took)
		}
		d.leave(all[1])
		if f, how := d.owner(t.Context(), elicit); f != nil || how != AttributedNone { // B6.6
			t.Error("attributed to nothing", how)
		}
	})
}

func TestAQuestionOfACallThatWasGivenUpIsNobodyElses(t *testing.T) { // P5, B6.1, B19.4
	synctest.Test(t, func(t *testing.T) {
		d, all := deskWith(t, "tools/call a", "tools/call b")
		leg := &slowLeg{ended: make(chan struct{})}
		began := time.Now()
		go func() {
			time.Sleep(10 * time.Second)
			d.forsake(all[0], upstream.Lease{Leg: leg}, context.Canceled)
		}()
		if f, how := d.owner(t.Context(), elicit); f != nil || how != AttributedAmbiguous || time.Since(began) != 10*time.Second {
			t.Error(f == all[1], how, time.Since(began))
		}
		// What is asked once the workload knows of it is the other one's.
		if f, how := d.owner(t.Context(), elicit); f != all[1] || how != AttributedWaited {
			t.Error(f == all[1], how)
		}
		close(leg.ended)
	})
}

func TestCallsThatCannotBeToldApartAreLeasedFromThenOn(t *testing.T) { // P5, B3.3
	synctest.Test(t, func(t *testing.T) {
		d, all := deskWith(t, "tools/call a", "tools/call b")
		if d.p.parking.habits.alone("tools/call a", false) {
			t.Fatal("leased before anything has happened")
		}
		began := time.Now()
		if f, how := d.owner(t.Context(), elicit); f != nil || how != AttributedAmbiguous || time.Since(began) != attributionWait {
			t.Error(how, time.Since(began))
		}
		for _, f := range all {
			if !d.p.parking.habits.alone(f.habit, false) {
				t.Errorf("%s is not leased", f.habit)
			}
		}
		// Nobody waits for them a second time.
		began = time.Now()
		if _, how := d.owner(t.Context(), elicit); how != AttributedAmbiguous || time.Since(began) != 0 {
			t.Error(how, time.Since(began))
		}
		if result, err := d.Request(t.Context(), elicit); result != nil || err.Code != jsonrpc.CodeInternal {
			t.Errorf("%s %v", result, err)
		}
	})
}

func TestACallGivesUpWaitingForItsTurn(t *testing.T) { // P5, B3.3, B3.4
	synctest.Test(t, func(t *testing.T) {
		d, _ := deskWith(t, "a", "b")
		d.asking++
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := d.enter(ctx, &flight{}); err == nil {
			t.Error("admitted")
		}
		began := time.Now()
		if err := d.enter(t.Context(), &flight{}); err == nil || time.Since(began) != attributionWait {
			t.Error(err, time.Since(began))
		}
	})
}

func TestWhoIsAlone(t *testing.T) { // P5, B3.3, R24
	const name = "tools/call x"
	for text, tc := range map[string]struct {
		how    Leasing
		before func(*habits)
		shared bool
		want   bool
	}{
		"always":                               {how: LeaseAlways, want: true},
		"never, whatever happened":             {how: LeaseNever, before: func(h *habits) { h.wasMixed(name) }, shared: true},
		"one person's calls are concurrent":    {how: LeaseAuto},
		"but not what was mixed up":            {how: LeaseAuto, before: func(h *habits) { h.wasMixed(name) }, want: true},
		"different people's are apart":         {how: LeaseAuto, shared: true, want: true},
		"unless the tool has proved silent":    {how: LeaseAuto, before: func(h *habits) { h.wasSilent(name) }, shared: true},
		"or each call has a stream of its own": {how: LeaseAuto, before: func(h *habits) { h.apart.Store(true) }, shared: true},
	} {
		t.Run(text, func(t *testing.T) {
			h := &habits{how: tc.how}
			if tc.before != nil {
				tc.before(h)
			}
			if got := h.alone(name, tc.shared); got != tc.want {
				t.Error(got)
			}
		})
	}
	h := &habits{}
	for i := range 2 * maxHabit {
		h.wasSilent(codeText(int64(i)))
	}
	if len(h.silent) != maxHabit {
		t.Errorf("%d names are remembered", len(h.silent))
	}
	h = &habits{}
	h.wasMixed(strings.Repeat("n", maxHabitBytes))
	h.wasMixed(strings.Repeat("n", maxHabitBytes+1))
	if len(h.mixed) != 1 {
		t.Errorf("%d names are remembered, want the one that is not too long", len(h.mixed))
	}
}

func TestFingerprints(t *testing.T) { // B3.2, B11.8
	for declared, want := range map[string]string{
		`{}`:                                ``,
		`{"elicitation":{}}`:                `{"elicitation":{"form":{}}}`,
		`{"elicitation":{"url":{},"x":{}}}`: `{"elicitation":{"url":{}}}`,
		`{"sampling":{"context":{},"tools":{"a":1}},"elicitation":{"url":{},"form":{}}}`:  `{"elicitation":{"form":{},"url":{}},"sampling":{"context":{},"tools":{}}}`,
		`{"roots":{"listChanged":true},"tasks":{},"experimental":{"x":{}}}`:               `{"roots":{}}`,
		`{"extensions":{"b":{"z":1.0, "a":2},"a":{},"io.modelcontextprotocol/tasks":{}}}`: `{"extensions":{"a":{},"b":{"a":2,"z":1.0}}}`,
	} {
		if got := fingerprint([]byte(declared), true); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", declared, got, want)
		}
	}
	if got := fingerprint([]byte(`{"roots":{}}`), false); got != "" {
		t.Error(got)
	}
}

func TestLanes(t *testing.T) { // P5
	var l lanes
	take := func(alone bool) (int, func()) {
		key, give, err := l.take(upstream.Key{}, alone)
		if err != nil {
			t.Fatal(err)
		}
		return key.Lane, give
	}
	a, giveA := take(false)
	b, giveB := take(false)
	c, giveC := take(true)
	d, giveD := take(true)
	e, giveE := take(false)
	if a != 0 || b != 0 || c != 1 || d != 2 || e != 0 {
		t.Error(a, b, c, d, e)
	}
	giveC()
	if again, give := take(true); again != 1 {
		t.Error("a free lane is not taken again", again)
	} else {
		give()
	}
	for _, give := range []func(){giveA, giveB, giveD, giveE} {
		give()
	}
	if len(l.use) != 0 {
		t.Errorf("%v", l.use)
	}
}

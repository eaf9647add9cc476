package podstatus_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fairlead-dev/fairlead/controllers/internal/podstatus"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// fake answers with the pod that lives at the address.
type fake struct {
	mu       sync.Mutex
	pods     map[string]config.Status // by IP
	calls    int
	now, top int
	gate     chan struct{}
}

func (f *fake) Get(_ context.Context, ip string) (config.Status, error) {
	f.mu.Lock()
	f.calls++
	f.now++
	f.top = max(f.top, f.now)
	s, ok := f.pods[ip]
	gate := f.gate
	f.mu.Unlock()
	if gate != nil {
		<-gate
	}
	f.mu.Lock()
	f.now--
	f.mu.Unlock()
	if !ok {
		return config.Status{}, errors.New("no route")
	}
	return s, nil
}

func (f *fake) took() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.calls
	f.calls = 0
	return n
}

func TestReadAsksNoOftenerThanNeeded(t *testing.T) {
	clk := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	f := &fake{pods: map[string]config.Status{"10.0.0.1": {PodUID: "a", LiveDigest: "d"}}}
	r := podstatus.New(f, clk)
	read := func(urgent bool) podstatus.Answer {
		return r.Read(t.Context(), "s", []podstatus.Target{{UID: "a", IP: "10.0.0.1", Urgent: urgent}})["a"]
	}
	step := func(d time.Duration) { clk.SetTime(clk.Now().Add(d)) }

	if got := read(false); got.Status == nil || got.Status.LiveDigest != "d" || f.took() != 1 {
		t.Fatalf("first read: %+v", got)
	}
	if read(false); f.took() != 0 {
		t.Error("an answer of now was asked for again")
	}
	step(3 * time.Second)
	if read(false); f.took() != 0 {
		t.Error("a calm reader asked after 3 s")
	}
	if read(true); f.took() != 1 {
		t.Error("an urgent reader did not ask after 3 s")
	}
	step(61 * time.Second)
	if read(false); f.took() != 1 {
		t.Error("a calm reader did not ask after a minute")
	}
}

func TestSilentPods(t *testing.T) {
	clk := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	f := &fake{pods: map[string]config.Status{"10.0.0.1": {PodUID: "a"}}}
	r := podstatus.New(f, clk)
	read := func() podstatus.Answer {
		return r.Read(t.Context(), "s", []podstatus.Target{{UID: "a", IP: "10.0.0.1", Urgent: true}})["a"]
	}
	read()
	delete(f.pods, "10.0.0.1")
	clk.SetTime(clk.Now().Add(3 * time.Second))
	if got := read(); got.Silent || got.Status == nil {
		t.Errorf("one lost packet makes a pod silent: %+v", got)
	}
	clk.SetTime(clk.Now().Add(3 * time.Second))
	if got := read(); !got.Silent || got.Status != nil {
		t.Errorf("after two failures: %+v", got)
	}
	f.took()
	for range 60 {
		clk.SetTime(clk.Now().Add(time.Second))
		read()
	}
	if n := f.took(); n > 5 || n == 0 {
		t.Errorf("a silent pod was asked %d times in a minute", n)
	}
	f.pods["10.0.0.1"] = config.Status{PodUID: "a"}
	clk.SetTime(clk.Now().Add(61 * time.Second))
	if got := read(); got.Silent || got.Status == nil {
		t.Errorf("it answers again: %+v", got)
	}
}

func TestAnotherPodAtTheAddressDoesNotCount(t *testing.T) {
	f := &fake{pods: map[string]config.Status{"10.0.0.1": {PodUID: "other"}}}
	r := podstatus.New(f, clocktesting.NewFakePassiveClock(time.Unix(1000, 0)))
	if got := r.Read(t.Context(), "s", []podstatus.Target{{UID: "a", IP: "10.0.0.1"}})["a"]; got.Status != nil {
		t.Errorf("got %+v", got.Status)
	}
}

// The bounds: 20 calls at once, and no entry for a pod that is gone.
func TestReadIsBounded(t *testing.T) {
	f := &fake{pods: map[string]config.Status{}, gate: make(chan struct{})}
	r := podstatus.New(f, clocktesting.NewFakePassiveClock(time.Unix(1000, 0)))
	var targets []podstatus.Target
	for i := range 100 {
		ip := fmt.Sprintf("10.0.0.%d", i)
		uid := types.UID(ip)
		targets = append(targets, podstatus.Target{UID: uid, IP: ip})
		f.pods[ip] = config.Status{PodUID: ip}
	}
	done := make(chan map[types.UID]podstatus.Answer)
	go func() { done <- r.Read(t.Context(), "s", targets) }()
	for range 100 {
		f.gate <- struct{}{}
	}
	if got := <-done; len(got) != 100 {
		t.Errorf("%d answers", len(got))
	}
	if f.top > podstatus.Parallel {
		t.Errorf("%d calls at once", f.top)
	}
	f.gate = nil
	f.took()
	r.Read(t.Context(), "s", targets[:1])
	r.Read(t.Context(), "s", targets[:2])
	if n := f.took(); n != 1 {
		t.Errorf("%d calls: a pod that was no target once is still remembered", n)
	}
	r.Forget("s")
	r.Read(t.Context(), "s", targets[:1])
	if n := f.took(); n != 1 {
		t.Errorf("%d calls after Forget", n)
	}
}

// A caller that must stop is no fault of the pods.
func TestACancelledReadBlamesNobody(t *testing.T) {
	f := &fake{pods: map[string]config.Status{"10.0.0.1": {PodUID: "a"}}}
	r := podstatus.New(f, clocktesting.NewFakePassiveClock(time.Unix(1000, 0)))
	target := []podstatus.Target{{UID: "a", IP: "10.0.0.1", Urgent: true}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		if got := r.Read(ctx, "s", target)["a"]; got.Silent || got.Status != nil {
			t.Fatalf("got %+v", got)
		}
	}
	if got := r.Read(t.Context(), "s", target)["a"]; got.Status == nil {
		t.Error("the next read does not ask")
	}
}

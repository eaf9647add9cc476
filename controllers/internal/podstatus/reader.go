package podstatus

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// Getter reads the status of the sidecar at an address.
type Getter interface {
	Get(ctx context.Context, ip string) (config.Status, error)
}

const (
	// Parallel bounds the calls of one Read.
	Parallel = 20
	// urgentAge is how old an answer may be that somebody is waiting for.
	urgentAge = time.Second
	// calmAge is how old any other answer may be.
	calmAge = time.Minute
	// maxBackoff bounds the time between two attempts at a silent pod.
	maxBackoff = time.Minute
	// budget bounds one Read, whatever the number of targets. Who was not
	// reached keeps the answer of before.
	budget = 10 * time.Second
	// silentAfter is how many attempts in a row must fail before a pod counts
	// as silent: one lost packet is no news.
	silentAfter = 2
)

// Target is a pod to read.
type Target struct {
	UID types.UID
	IP  string
	// Urgent: a change is expected, so do not be content with an old answer.
	Urgent bool
}

// Answer is what is known about a pod.
type Answer struct {
	// Status is the last one that was read, nil when there is none.
	Status *config.Status
	// Silent is true when the last attempts failed.
	Silent bool
}

// Reader reads statuses and remembers them per server. It holds one entry per
// pod that was asked for in the last Read of its server. Safe for concurrent
// use; one server is read by one caller at a time.
type Reader struct {
	getter Getter
	clock  clock.PassiveClock

	mu      sync.Mutex
	servers map[types.UID]map[types.UID]entry // server, pod
}

type entry struct {
	status   *config.Status
	failures int
	tried    time.Time
}

// New returns a Reader.
func New(g Getter, c clock.PassiveClock) *Reader {
	return &Reader{getter: g, clock: c, servers: map[types.UID]map[types.UID]entry{}}
}

// Read returns what is known about the targets, after asking those whose
// answer is too old. It takes a few seconds at most, and forgets the
// server's pods that are no targets any more.
func (r *Reader) Read(ctx context.Context, server types.UID, targets []Target) map[types.UID]Answer {
	r.mu.Lock()
	before := r.servers[server]
	r.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	entries := make([]entry, len(targets))
	var g errgroup.Group
	g.SetLimit(Parallel)
	for i, t := range targets {
		entries[i] = before[t.UID]
		if !r.due(entries[i], t.Urgent) {
			continue
		}
		g.Go(func() error {
			if asked := r.ask(ctx, t, entries[i]); ctx.Err() == nil {
				entries[i] = asked
			}
			return nil
		})
	}
	_ = g.Wait() // no goroutine returns an error

	after := make(map[types.UID]entry, len(targets))
	out := make(map[types.UID]Answer, len(targets))
	for i, t := range targets {
		e := entries[i]
		after[t.UID] = e
		out[t.UID] = Answer{Status: e.status, Silent: e.failures >= silentAfter}
	}
	r.mu.Lock()
	r.servers[server] = after
	r.mu.Unlock()
	return out
}

// Forget drops what is known about a server that is gone.
func (r *Reader) Forget(server types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.servers, server)
}

func (r *Reader) due(e entry, urgent bool) bool {
	age := r.clock.Since(e.tried)
	switch {
	case e.tried.IsZero():
		return true
	case e.failures >= silentAfter:
		return age >= min(urgentAge<<min(e.failures, 8), maxBackoff)
	case urgent || e.failures > 0:
		return age >= urgentAge
	}
	return age >= calmAge
}

var errOtherPod = errors.New("another pod answers at this address")

func (r *Reader) ask(ctx context.Context, t Target, e entry) entry {
	e.tried = r.clock.Now()
	s, err := r.getter.Get(ctx, t.IP)
	if err == nil && s.PodUID != string(t.UID) {
		// The address was given to another pod meanwhile.
		err = errOtherPod
	}
	if err != nil {
		e.failures++
		if e.failures >= silentAfter {
			e.status = nil
		}
		return e
	}
	return entry{status: &s, tried: e.tried}
}

// Current reports whether the pod's last answer says that it is ready and
// follows the live contract, as follows judges.
func (r *Reader) Current(server, pod types.UID, follows func(*config.Status) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.servers[server][pod].status
	return s != nil && s.Ready && follows(s)
}

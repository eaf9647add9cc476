package load

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	maxFailures = 50 // kept in words; the rest is only counted
	maxSlowest  = 10
)

// Client is what one client saw.
type Client struct {
	Name     string `json:"name"`
	Revision string `json:"revision"`
	Calls    int    `json:"calls"`  // answered or failed, refused ones excluded
	Failed   int    `json:"failed"` // transport errors included
	// Sessions, and what ended them, for 2025-11-25 only.
	Sessions    int `json:"sessions,omitempty"`
	PostsGone   int `json:"postsGone,omitempty"`   // 404 to a POST: the session was over
	Stillborn   int `json:"stillborn,omitempty"`   // sessions refused at their very first call
	StreamsGone int `json:"streamsGone,omitempty"` // 404 to a GET
	StreamsLost int `json:"streamsLost,omitempty"` // GETs that ended otherwise than by a clean end
}

// Failure is one failed call in words.
type Failure struct {
	Client string        `json:"client"`
	At     time.Duration `json:"atNanos"` // since the start of the run
	Call   string        `json:"call"`
	Error  string        `json:"error"`
}

// Fast is one fast call that was answered.
type Fast struct {
	Client string        `json:"client"`
	At     time.Duration `json:"atNanos"` // when it was issued, since the start of the run
	Took   time.Duration `json:"tookNanos"`
	Pod    string        `json:"pod,omitempty"`
}

// Report is the result of a run.
type Report struct {
	Seconds   float64        `json:"seconds"`
	Calls     int            `json:"calls"`
	Failed    int            `json:"failed"`
	SlowCalls int            `json:"slowCalls"`
	Rate      float64        `json:"callsPerSecond"`
	Skipped   int            `json:"skipped"` // calls not issued: too many in flight
	FastP50   float64        `json:"fastP50Millis"`
	FastP99   float64        `json:"fastP99Millis"`
	Pods      map[string]int `json:"pods,omitempty"` // fast calls by answering pod
	Slowest   []Fast         `json:"slowest"`        // of the fast calls, slowest first
	Clients   []Client       `json:"clients"`
	Failures  []Failure      `json:"failures,omitempty"`
}

// Sum adds up the clients of one revision.
func (r *Report) Sum(revision string) (sum Client) {
	sum.Name, sum.Revision = "all", revision
	for _, c := range r.Clients {
		if c.Revision == revision {
			sum.Calls += c.Calls
			sum.Failed += c.Failed
			sum.Sessions += c.Sessions
			sum.PostsGone += c.PostsGone
			sum.Stillborn += c.Stillborn
			sum.StreamsGone += c.StreamsGone
			sum.StreamsLost += c.StreamsLost
		}
	}
	return sum
}

// String is the one-line summary.
func (r *Report) String() string {
	l := r.Sum(legacyRevision)
	return fmt.Sprintf("%d calls in %.0f s (%.1f/s, %d slow), %d failed; %d sessions, %d ended by a 404, %d GET 404; fast calls p50 %.0f ms, p99 %.0f ms",
		r.Calls, r.Seconds, r.Rate, r.SlowCalls, r.Failed, l.Sessions, l.PostsGone, l.StreamsGone, r.FastP50, r.FastP99)
}

// collector gathers from all clients. Safe for concurrent use.
type collector struct {
	start time.Time

	mu       sync.Mutex
	slow     int
	skipped  int
	fast     []Fast
	pods     map[string]int
	failures []Failure
}

func (c *collector) failed(client, call string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.failures) < maxFailures {
		c.failures = append(c.failures, Failure{Client: client, At: time.Since(c.start), Call: call, Error: err.Error()})
	}
}

func (c *collector) answered(client string, slow bool, begun time.Time, pod string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slow {
		c.slow++
		return
	}
	c.fast = append(c.fast, Fast{Client: client, At: begun.Sub(c.start), Took: time.Since(begun), Pod: pod})
	if pod != "" {
		c.pods[pod]++
	}
}

func (c *collector) skip() {
	c.mu.Lock()
	c.skipped++
	c.mu.Unlock()
}

func (c *collector) report(clients []Client) *Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &Report{
		Seconds: time.Since(c.start).Seconds(), SlowCalls: c.slow, Skipped: c.skipped,
		Pods: c.pods, Clients: clients, Failures: c.failures,
	}
	slices.SortFunc(r.Clients, func(a, b Client) int { return cmp.Compare(a.Name, b.Name) })
	for _, cl := range clients {
		r.Calls += cl.Calls
		r.Failed += cl.Failed
	}
	r.Rate = float64(r.Calls) / r.Seconds
	slices.SortFunc(c.fast, func(a, b Fast) int { return cmp.Compare(b.Took, a.Took) })
	if n := len(c.fast); n > 0 {
		r.FastP50 = float64(c.fast[n/2].Took.Microseconds()) / 1000
		r.FastP99 = float64(c.fast[n/100].Took.Microseconds()) / 1000
		r.Slowest = slices.Clone(c.fast[:min(n, maxSlowest)])
	}
	return r
}
